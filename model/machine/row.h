// An access as it is told without the addresses of its lanes, where these follow from the first.
#pragma once
#include <array>
#include <cstdint>

#include "model/machine/event.h"

namespace bitwell::machine {

// All 32 lanes of a warp reach as many bytes each, a power of two, side by side, the first lane's at
// `address`; else as an Access has it.
struct Row {
  AccessKind kind;
  Order order;
  const std::array<uint32_t, 3>& cta;
  int warp;
  int ptx_line;
  uint64_t address, bytes;
  uint32_t unchanged;
};

}  // namespace bitwell::machine
