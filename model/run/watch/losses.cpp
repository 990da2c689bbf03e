#include "model/run/watch/losses.h"

#include <algorithm>
#include <cmath>

namespace bitwell::run {

int lost_bits(float one, float other, float result, bool brain) {
  const float smaller = std::fabs(one) < std::fabs(other) ? one : other;
  if (smaller == 0 || !std::isfinite(smaller)) return 0;
  const int fraction = brain ? 7 : 10;
  const int least = brain ? -126 : -14;  // exponent of a normal number
  const int place = std::max(result == 0 ? least : std::ilogb(result), least) - fraction;
  const int highest = std::ilogb(smaller);
  constexpr int kWide = 24;  // bits of an fp32 significand
  const auto significand = static_cast<uint32_t>(std::fabs(std::ldexp(smaller, kWide - 1 - highest)));
  const int lowest = highest - (kWide - 1) + __builtin_ctz(significand);
  return std::max(std::min(place, highest + 1) - lowest, 0);
}

}  // namespace bitwell::run
