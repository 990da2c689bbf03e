#include "verify/oracle/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace bitwell::oracle {
namespace {

constexpr int kFractionBits = 25;
constexpr uint32_t kNaN = 0x7FFFFFFFu;

// |value| * 2, by code.
constexpr int kTwice[8] = {0, 1, 2, 3, 4, 6, 8, 12};

HalfWord decode(uint8_t code, uint8_t scale) {
  if (scale % 128 == 127) return {0, -14, true};
  const int field = scale / 8 % 16;
  const int significand =
      scale % 8 + (field > 0 ? 8 : 0);          // value of the scale: this * 2^(max(field, 1) - 10)
  int digits = kTwice[code % 8] * significand;  // value of the product: this * 2^unit
  int unit = std::max(field, 1) - 10 - 1 - 6;
  if (digits == 0) return {0, -14, false};
  const bool minus = (code >= 8) != (scale >= 128);
  // The leading bit to place 10, unless that is below the exponent -14.
  while (digits < 1024 && unit > -24) {
    digits *= 2;
    --unit;
  }
  return {static_cast<int16_t>(minus ? -digits : digits), static_cast<int8_t>(unit + 10), false};
}

struct Sum {
  bool nan = false;
  bool minus = false;
  int64_t digits = 0;  // 24 bits; value = digits * 2^(exponent - 23)
  int exponent = 0;
};

Sum add16(const Sum& c, const HalfWord* a, const HalfWord* b) {
  int64_t products[16];
  int exponents[16];
  int largest = std::numeric_limits<int>::min();
  bool nan = c.nan;
  for (int i = 0; i < 16; ++i) {
    nan = nan || a[i].nan || b[i].nan;
    products[i] = int64_t{a[i].digits} * b[i].digits;
    exponents[i] = a[i].exponent + b[i].exponent;
    largest = std::max(largest, products[i] != 0 ? exponents[i] : std::numeric_limits<int>::min());
  }
  if (nan) return {true};
  if (c.digits != 0) largest = std::max(largest, c.exponent);
  if (largest == std::numeric_limits<int>::min()) return {};
  // Every term in units of 2^(largest - 25), its magnitude cut. A product has 20 digits behind its point.
  int64_t total = 0;
  for (int i = 0; i < 16; ++i) {
    const int below = std::clamp(largest - exponents[i], 0, 63);  // of a zero anything
    const int64_t cut = std::abs(products[i]) << (kFractionBits - 20) >> below;
    total += products[i] < 0 ? -cut : cut;
  }
  if (c.digits != 0) {
    const int left = c.exponent - 23 - (largest - kFractionBits);
    const int64_t cut = left >= 0 ? c.digits << left : left > -63 ? c.digits >> -left : 0;
    total += c.minus ? -cut : cut;
  }
  if (total == 0) return {};
  Sum out;
  out.minus = total < 0;
  const uint64_t size = static_cast<uint64_t>(std::abs(total));
  const int top = std::bit_width(size) - 1;
  out.digits = static_cast<int64_t>(top > 23 ? size >> (top - 23) : size << (23 - top));
  out.exponent = largest - kFractionBits + top;
  return out;
}

float as_float(const Sum& s) {
  if (s.nan) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(static_cast<float>(s.minus ? -s.digits : s.digits), s.exponent - 23);
}

// To nearest even with `fraction` fraction bits, exponents least..greatest.
uint32_t rounded(float v, int fraction, int least, int greatest) {
  const int width = greatest == 15 ? 5 : 8;
  const uint32_t sign = std::signbit(v) ? 1u << (fraction + width) : 0;
  const uint32_t infinite = static_cast<uint32_t>((1 << width) - 1) << fraction;
  if (std::isnan(v)) return (1u << (fraction + width)) - 1;
  if (std::isinf(v)) return sign | infinite;
  if (v == 0) return sign;
  int top = 0;
  const double size = std::fabs(static_cast<double>(v));
  std::frexp(size, &top);
  const int unit = std::max(top - 1, least) - fraction;
  const double scaled = std::ldexp(size, -unit);  // exact
  auto digits = static_cast<uint64_t>(scaled);
  const double rest = scaled - static_cast<double>(digits);
  if (rest > 0.5 || (rest == 0.5 && digits % 2 == 1)) ++digits;
  // A carry out of the fraction runs into the exponent field, up to infinity.
  const uint64_t field = static_cast<uint64_t>(unit + fraction - least) << fraction;
  const uint64_t word = field + digits;
  return sign | static_cast<uint32_t>(std::min<uint64_t>(word, infinite));
}

}  // namespace

std::vector<HalfWord> decoded(std::span<const uint8_t> codes, std::span<const uint8_t> scales) {
  std::vector<HalfWord> out(codes.size());
  for (size_t k = 0; k < out.size(); ++k) out[k] = decode(codes[k], scales[k / 16]);
  return out;
}

uint32_t stored(float value, Output output) {
  if (output == Output::f32) return std::isnan(value) ? kNaN : std::bit_cast<uint32_t>(value);
  return output == Output::f16 ? rounded(value, 10, -14, 15) : rounded(value, 7, -126, 127);
}

uint32_t gemm_element(std::span<const HalfWord> a, std::span<const HalfWord> b, size_t part, size_t parts,
                      Output output) {
  float total = 0;
  for (size_t p = 0; p < parts; ++p) {
    Sum sum;
    for (size_t k = p * part; k < std::min(a.size(), (p + 1) * part); k += 16)
      sum = add16(sum, a.data() + k, b.data() + k);
    total = p == 0 ? as_float(sum) : total + as_float(sum);
  }
  return stored(total * 4096.0f, output);
}

}  // namespace bitwell::oracle
