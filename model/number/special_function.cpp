#include "model/number/special_function.h"

#include <array>
#include <bit>
#include <cstddef>

#include "model/number/quadratic.h"

namespace bitwell::number {
namespace {

constexpr uint32_t kNaN = 0x7FFFFFFF;
constexpr uint32_t kInfinity = 0x7F800000;
constexpr uint32_t kOne = 0x3F800000;
constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kFraction = 0x7FFFFF;

// value * 2^unit cut to 24 significant bits, where that is a normal number.
uint32_t cut(uint64_t value, int unit) {
  if (value == 0) return 0;
  const int top = 63 - std::countl_zero(value);
  const auto significand = static_cast<uint32_t>(top > 23 ? value >> (top - 23) : value << (23 - top));
  return static_cast<uint32_t>(top + unit + 127) << 23 | (significand & kFraction);
}

// The curve where the unit has an argument of 23 fraction bits in segments of 2^-6; `start` is the first's
// place.
uint32_t on_64ths(const Curve& curve, uint32_t fraction, size_t start = 0) {
  return cut(interpolated(curve, start + (fraction >> kPlaceBits), fraction & 0x1FFFF), curve.unit);
}

// A positive number with its exponent moved by `exponent`; tiny ones are zero, huge ones infinite.
uint32_t scaled(uint32_t value, int exponent) {
  const int e = static_cast<int>(value >> 23) + exponent;
  if (e <= 0) return 0;
  if (e >= 255) return kInfinity;
  return static_cast<uint32_t>(e) << 23 | (value & kFraction);
}

int exponent_of(uint32_t x) { return static_cast<int>(x >> 23 & 255) - 127; }

// floor(|x| * 2^bits) modulo 2^41. Subnormal x is zero.
uint64_t fixed_point(uint32_t x, int bits) {
  const int shift = exponent_of(x) + bits - 23;
  if (exponent_of(x) == -127 || shift <= -24 || shift > 40) return 0;
  const uint64_t significand = (x & kFraction) | 0x800000;
  return shift >= 0 ? significand << shift : significand >> -shift;
}

// 1 / x for a significand x. Its segments are 128ths, so a place has 16 bits and stands in the upper ones.
uint32_t reciprocal(uint32_t fraction) {
  return cut(interpolated(kRcp, fraction >> 16, (fraction & 0xFFFF) << 1), kRcp.unit);
}

uint32_t root(const Curve& curve, bool odd, uint32_t fraction) {
  if (!odd && fraction == 0) return kOne;
  return on_64ths(curve, fraction, odd ? 64 : 0);
}

// 2^x: the unit reads |x| as a fixed-point number of 23 fraction bits, the rest cut off. It negates that by
// complementing the fraction and the integer; a fraction of zero stays zero.
uint32_t exp2(uint32_t x) {
  const bool negative = x >> 31 != 0;
  if (exponent_of(x) >= 8) return negative ? 0 : kInfinity;
  const uint64_t fixed = fixed_point(x, 23);
  auto fraction = static_cast<uint32_t>(fixed & kFraction);
  auto integer = static_cast<int>(fixed >> 23);
  if (negative) {
    integer = fraction == 0 ? -integer : ~integer;
    fraction = fraction == 0 ? 0 : kFraction - fraction;
  }
  return scaled(on_64ths(kEx2, fraction), integer);
}

// The exponent and the significand's logarithm, of 36 fraction bits, make one number of fixed point; the
// magnitude of a negative one is its complement. Positive normal x.
uint32_t log2(uint32_t x) {
  if (x == kOne) return 0;
  const uint32_t fraction = x & kFraction;
  const uint64_t part = interpolated(kLg2, fraction >> kPlaceBits, fraction & 0x1FFFF) >> 2;
  const int64_t sum = int64_t{exponent_of(x)} * (int64_t{1} << 36) + static_cast<int64_t>(part);
  return sum < 0 ? kSign | cut(static_cast<uint64_t>(~sum), kLg2.unit + 2)
                 : cut(static_cast<uint64_t>(sum), kLg2.unit + 2);
}

// The sine of |x| revolutions and `ahead` quarters: 25 fraction bits of |x| count, the rest is cut off.
// Quarters that fall are read backwards by complementing the fraction.
uint32_t sine(uint32_t x, uint32_t ahead) {
  const uint64_t fixed = fixed_point(x, 25);
  const auto quarter = (static_cast<uint32_t>(fixed >> 23) + ahead) & 3;
  auto fraction = static_cast<uint32_t>(fixed & kFraction);
  if ((quarter & 1) != 0) fraction = kFraction - fraction;
  return quarter >> 1 << 31 | on_64ths(kSin, fraction);
}

// Below 2^-8 the argument itself, from 8 on 1. Each binade between has 2^bits segments, as many as its
// curvature asks for, of which `first` is the first; what is below a segment's places is cut off.
uint32_t hyperbolic_tangent(uint32_t magnitude) {
  struct Binade {
    int bits;
    size_t first;
  };
  constexpr std::array<Binade, 11> kBinades{
      {{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 5}, {2, 7}, {2, 11}, {2, 15}, {3, 19}, {4, 27}, {3, 43}}};
  const int e = exponent_of(magnitude);
  if (e < -8) return magnitude;
  if (e > 2) return kOne;
  const Binade& binade = kBinades[static_cast<size_t>(e + 8)];
  const uint32_t fraction = magnitude & kFraction;
  const uint32_t place = fraction >> (23 - kPlaceBits - binade.bits) & 0x1FFFF;
  return cut(interpolated(kTanh, binade.first + (fraction >> (23 - binade.bits)), place), kTanh.unit);
}

// rcp, rsqrt and sqrt, which take zero and infinity to one another.
uint32_t power(SpecialFunction function, uint32_t x) {
  using enum SpecialFunction;
  const uint32_t sign = x & kSign;
  const uint32_t fraction = x & kFraction;
  const int e = exponent_of(x);
  if (e == -127) return function == sqrt ? sign : sign | kInfinity;
  if (function == rcp) return e == 128 ? sign : sign | scaled(reciprocal(fraction), -e);
  if (sign != 0) return kNaN;
  if (e == 128) return function == sqrt ? kInfinity : 0;
  const bool odd = (e & 1) != 0;
  const int half = (e - (odd ? 1 : 0)) / 2;
  return scaled(root(function == sqrt ? kSqrt : kRsqrt, odd, fraction), function == sqrt ? half : -half);
}

}  // namespace

uint32_t special_function(SpecialFunction function, uint32_t x) {
  using enum SpecialFunction;
  const uint32_t sign = x & kSign;
  const uint32_t magnitude = x & ~kSign;
  if (magnitude > kInfinity) return kNaN;
  const bool infinite = magnitude == kInfinity;
  switch (function) {
    case rcp:
    case rsqrt:
    case sqrt: return power(function, x);
    case ex2: return exp2(x);
    case lg2:
      if (magnitude < 0x00800000) return kSign | kInfinity;
      if (sign != 0) return kNaN;
      return infinite ? kInfinity : log2(x);
    case sin: return infinite ? kNaN : sign ^ sine(x, 0);
    case cos: return infinite ? kNaN : sine(x, 1);
    case tanh: return sign | hyperbolic_tangent(magnitude);
  }
  return kNaN;
}

}  // namespace bitwell::number
