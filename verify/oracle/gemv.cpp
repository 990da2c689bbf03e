#include "verify/oracle/gemv.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bitwell::oracle {
namespace {

// OCP FP4 E2M1, doubled, so that all are integers.
constexpr int kTwiceE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// OCP E4M3 in units of 2^-9; the smallest subnormal is one unit.
int64_t e4m3_units(uint8_t code) {
  const int exponent = code / 8 % 16;
  const int fraction = code % 8;
  const int64_t magnitude = exponent == 0 ? fraction : int64_t{8 + fraction} << (exponent - 1);
  return code >= 128 ? -magnitude : magnitude;
}
bool e4m3_is_nan(uint8_t code) { return code % 128 == 127; }

constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

ExactDot dot(std::span<const uint8_t> a, std::span<const uint8_t> b, std::span<const uint8_t> sfa,
             std::span<const uint8_t> sfb) {
  ExactDot out;
  for (size_t g = 0; g < a.size() / 16; ++g) {
    if (e4m3_is_nan(sfa[g]) || e4m3_is_nan(sfb[g])) out.is_nan = true;
    int64_t group = 0;
    for (size_t i = 16 * g; i < 16 * g + 16; ++i) group += kTwiceE2m1[a[i]] * kTwiceE2m1[b[i]];
    out.units += group * e4m3_units(sfa[g]) * e4m3_units(sfb[g]);  // 2^-2 * 2^-18
  }
  return out;
}

double error_ulp(uint16_t got, const ExactDot& exact) {
  const int exponent = got >> 10 & 31;
  const int fraction = got & 1023;
  const bool got_nan = exponent == 31 && fraction != 0;
  if (exact.is_nan || got_nan) return exact.is_nan && got_nan ? 0 : kInfinite;
  const double value = std::ldexp(static_cast<double>(exact.units),
                                  -20);  // exact below 2^53 units; the rest is far beyond fp16
  if (exponent == 31) {
    const bool same_sign = (value < 0) == ((got & 0x8000) != 0);
    return std::fabs(value) >= 65520 && same_sign ? 0 : kInfinite;
  }
  const double magnitude =
      std::ldexp(exponent == 0 ? fraction : 1024 + fraction, (exponent == 0 ? 1 : exponent) - 25);
  int binade = 0;
  std::frexp(value, &binade);
  const int unit = value == 0 ? -24 : std::min(std::max(binade - 11, -24), 5);
  return std::ldexp(std::fabs((got & 0x8000) != 0 ? -magnitude - value : magnitude - value), -unit);
}

}  // namespace bitwell::oracle
