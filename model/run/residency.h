// How much of a launch a device holds at once.
#pragma once
#include <string_view>

#include "model/run/launch.h"

namespace bitwell::isa {

// What lets no more CTAs onto a multiprocessor.
enum class Scarce : uint8_t { threads, shared_memory, ctas };
inline constexpr std::string_view kScarce[] = {"threads", "shared memory", "CTAs"};  // as the enum

struct Residency {
  uint32_t ctas_per_sm = 0;
  uint64_t clusters = 0;  // on the whole device, at most all of the launch's
  uint64_t all = 0;       // clusters of the launch
  Scarce limited_by{};
};
// At most: registers count too, which PTX does not tell, and clusters are not spread over the device's
// processing clusters. The device: machine::Arch, the largest for the target. For a launch that check_launch
// takes.
Residency residency(const Program& program, const Shape& shape);

}  // namespace bitwell::isa
