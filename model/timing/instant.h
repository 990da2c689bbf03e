// Times of a clock are whole numbers of a small part of a cycle: no sum of them hangs on its order, and what
// is the later of two is known at once.
#pragma once
#include <cstdint>

namespace bitwell::timing {

using Time = int64_t;

inline constexpr int kCycleBits = 20;
inline constexpr Time kCycle = Time{1} << kCycleBits;

constexpr Time time_of(double cycles) {
  return static_cast<Time>(cycles * static_cast<double>(kCycle) + (cycles < 0 ? -0.5 : 0.5));
}
constexpr double cycles_of(Time time) { return static_cast<double>(time) / static_cast<double>(kCycle); }

}  // namespace bitwell::timing
