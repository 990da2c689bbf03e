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
  if (gate.is_nan || up.is_nan) return error_ulp(got, std::numeric_limits<long double>::quiet_NaN());
  const long double x = std::ldexp(static_cast<long double>(gate.units), -20);
  return error_ulp(got, x / (1 + std::exp(-x)) * std::ldexp(static_cast<long double>(up.units), -20));
}

}  // namespace bitwell::oracle
