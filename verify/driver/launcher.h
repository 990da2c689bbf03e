// A launch of a host program: written as a LAUNCH.json, run by `bitwell run`, its results put back.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "verify/driver/session.h"

namespace bitwell::driver {

struct Wanted {
  Kernel* kernel = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::optional<std::array<uint32_t, 3>> cluster{};
  uint64_t dynamic_shared = 0;
  bool cooperative = false;
};

// How it ended: what a program is told.
enum class Ended { well, refused, failed, asserted };

// `parameters`: where each of them stands. Throws what cannot be launched.
Ended launch(Session& session, const Wanted& wanted, void** parameters);

}  // namespace bitwell::driver
