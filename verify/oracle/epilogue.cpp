#include "verify/oracle/epilogue.h"

#include <cmath>
#include <limits>

namespace bitwell::oracle {
namespace {

// The value of a code below the sign, by its fields.
double magnitude(int code, int fraction_bits, int bias) {
  const int field = code >> fraction_bits;
  const int fraction = code & ((1 << fraction_bits) - 1);
  const int significand = field == 0 ? fraction : fraction + (1 << fraction_bits);
  return std::ldexp(significand, (field == 0 ? 1 : field) - bias - fraction_bits);
}

// The code below the sign that is nearest to `size`, of those up to `largest`: codes are in order of value.
int nearest(double size, int largest, int fraction_bits, int bias) {
  int code = 0;
  while (code < largest && magnitude(code + 1, fraction_bits, bias) <= size) ++code;
  if (code == largest) return largest;
  const double below = size - magnitude(code, fraction_bits, bias);
  const double above = magnitude(code + 1, fraction_bits, bias) - size;
  return above < below || (above == below && code % 2 == 1) ? code + 1 : code;
}

}  // namespace

float half(uint16_t code) {
  const int field = code >> 10 & 31;
  const float sign = (code & 0x8000) != 0 ? -1.0f : 1.0f;
  if (field == 31)
    return (code & 0x3FF) != 0 ? std::numeric_limits<float>::quiet_NaN()
                               : sign * std::numeric_limits<float>::infinity();
  return sign * static_cast<float>(magnitude(code & 0x7FFF, 10, 15));
}

float scaled(float alpha, float sum, float beta, float c) {
  return beta == 0 ? alpha * sum : std::fma(alpha, sum, beta * c);
}

uint8_t to_e4m3(float value) {
  if (std::isnan(value)) return 0x7F;
  return static_cast<uint8_t>((std::signbit(value) ? 0x80 : 0) | nearest(std::fabs(value), 0x7E, 3, 7));
}

uint8_t to_e2m1(float value) {
  if (std::isnan(value)) return 7;
  return static_cast<uint8_t>((std::signbit(value) ? 8 : 0) | nearest(std::fabs(value), 7, 1, 1));
}

Nvfp4Group quantised(std::span<const float, 16> values) {
  float largest = 0;
  for (const float v : values)
    if (std::isnan(v) || std::isnan(largest))
      largest = std::numeric_limits<float>::quiet_NaN();
    else
      largest = std::max(largest, std::fabs(v));
  Nvfp4Group out;
  out.scale = to_e4m3(largest / 6);
  if (out.scale == 0) return out;
  const bool nan = out.scale == 0x7F;
  const auto divisor = static_cast<float>(magnitude(out.scale, 3, 7));
  for (size_t i = 0; i < values.size(); ++i) out.codes[i] = nan ? 7 : to_e2m1(values[i] / divisor);
  return out;
}

}  // namespace bitwell::oracle
