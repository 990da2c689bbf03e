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

double error_ulp(uint32_t got, const ExactDot& exact, int exponent_bits, int fraction_bits) {
  const long double value = exact.is_nan ? std::numeric_limits<long double>::quiet_NaN()
                                         : std::ldexp(static_cast<long double>(exact.units), -20);
  return error_ulp(got, value, exponent_bits, fraction_bits);
}

double error_ulp(uint32_t got, long double value, int exponent_bits, int fraction_bits) {
  const int top = (1 << exponent_bits) - 1;
  const int bias = top / 2;
  const auto exponent = static_cast<int>(got >> fraction_bits) & top;
  const auto fraction = static_cast<int>(got & ((1u << fraction_bits) - 1));
  const bool minus = (got >> (exponent_bits + fraction_bits) & 1) != 0;
  const bool got_nan = exponent == top && fraction != 0;
  if (std::isnan(value) || got_nan) return std::isnan(value) && got_nan ? 0 : kInfinite;
  if (exponent == top) {
    // From half a unit beyond the greatest finite number on, values round to infinity.
    const long double infinite = std::ldexp(2.0L - std::ldexp(1.0L, -fraction_bits - 1), bias);
    return std::fabs(value) >= infinite && (value < 0) == minus ? 0 : kInfinite;
  }
  const long double magnitude =
      std::ldexp(static_cast<long double>(exponent == 0 ? fraction : (1 << fraction_bits) + fraction),
                 (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
  int binade = 0;
  std::frexp(value, &binade);
  const int least = 1 - bias - fraction_bits;
  const int unit = value == 0 ? least : std::clamp(binade - 1 - fraction_bits, least, bias - fraction_bits);
  return static_cast<double>(std::ldexp(std::fabs((minus ? -magnitude : magnitude) - value), -unit));
}

}  // namespace bitwell::oracle
