#include "model/number/exact.h"

#include <utility>

namespace bitwell::number {
namespace {

// v / 2^n with every lost bit folded into bit 0.
u128 shift_right_sticky(u128 v, int n) {
  if (n <= 0) return v;
  if (n >= 128) return v != 0 ? 1 : 0;
  const u128 kept = v >> n;
  return kept | ((kept << n) != v ? 1 : 0);
}

}  // namespace

Exact mul(const Exact& a, const Exact& b) {
  const bool negative = a.negative != b.negative;
  if (a.is_nan() || b.is_nan()) return {Kind::nan};
  if (a.is_infinity() || b.is_infinity()) {
    if (a.is_zero() || b.is_zero()) return {Kind::nan};
    return {Kind::infinity, negative};
  }
  return {Kind::finite, negative, a.significand * b.significand, a.exponent + b.exponent};
}

Exact add(const Exact& a, const Exact& b, bool toward_negative) {
  if (a.is_nan() || b.is_nan()) return {Kind::nan};
  if (a.is_infinity() || b.is_infinity()) {
    if (a.is_infinity() && b.is_infinity() && a.negative != b.negative) return {Kind::nan};
    return a.is_infinity() ? a : b;
  }
  if (a.is_zero() && b.is_zero()) {
    const bool negative = a.negative == b.negative ? a.negative : toward_negative;
    return {Kind::finite, negative};
  }
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;

  // Put the larger magnitude's top bit at bit 125: room for one carry, and at least 19 guard bits below a
  // 106-bit product. If the exponents are close enough for cancellation, nothing is lost; otherwise the
  // sticky bit suffices.
  Exact large = a;
  Exact small = b;
  if (large.exponent + bit_width(large.significand) < small.exponent + bit_width(small.significand))
    std::swap(large, small);
  const int up = 126 - bit_width(large.significand);
  large.significand <<= up;
  large.exponent -= up;
  const int shift = large.exponent - small.exponent;
  const u128 aligned =
      shift >= 0 ? shift_right_sticky(small.significand, shift) : small.significand << -shift;
  if (large.negative == small.negative)
    return {Kind::finite, large.negative, large.significand + aligned, large.exponent};
  if (large.significand == aligned) return {Kind::finite, toward_negative};
  if (large.significand > aligned)
    return {Kind::finite, large.negative, large.significand - aligned, large.exponent};
  return {Kind::finite, small.negative, aligned - large.significand, large.exponent};
}

}  // namespace bitwell::number
