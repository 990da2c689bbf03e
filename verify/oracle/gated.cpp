#include "verify/oracle/gated.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bitwell::oracle {

float silu(float x) {
  if (std::isnan(x)) return x;
  const float y = std::clamp(-x, -130.0f, 130.0f);
  const float n = std::nearbyint(y * 0x1.715476p+0f);
  const float near = std::fma(n, -0x1.62e4p-1f, y);
  const float r = std::fma(n, -0x1.7f7d1cp-20f, near);
  float power = 1.0f / 5040.0f;
  for (const float factorial : {720.0f, 120.0f, 24.0f, 6.0f, 2.0f, 1.0f, 1.0f})
    power = std::fma(power, r, 1.0f / factorial);
  const float first = std::floor(n / 2);
  power *= std::ldexp(1.0f, static_cast<int>(first));
  power *= std::ldexp(1.0f, static_cast<int>(n - first));
  return x / (1.0f + power);
}

double gated_error_ulp(uint16_t got, const ExactDot& gate, const ExactDot& up) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const int field = got >> 10 & 31, fraction = got & 1023;
  const bool nan = gate.is_nan || up.is_nan;
  const bool got_nan = field == 31 && fraction != 0;
  if (nan || got_nan) return nan && got_nan ? 0 : kInfinite;
  const long double x = std::ldexp(static_cast<long double>(gate.units), -20);
  const long double value = x / (1 + std::exp(-x)) * std::ldexp(static_cast<long double>(up.units), -20);
  const long double sign = got >= 0x8000 ? -1 : 1;
  if (field == 31) return std::fabs(value) >= 65520 && sign * value > 0 ? 0 : kInfinite;
  const long double rounded =
      std::ldexp(static_cast<long double>(field == 0 ? fraction : 1024 + fraction), std::max(field, 1) - 25);
  int binade = 0;
  std::frexp(value, &binade);
  const int unit = value == 0 ? -24 : std::clamp(binade - 11, -24, 5);
  return static_cast<double>(std::ldexp(std::fabs(sign * rounded - value), -unit));
}

}  // namespace bitwell::oracle
