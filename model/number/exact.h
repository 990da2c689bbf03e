// The value that every verb of model/number passes on: sign x integer x 2^exponent, or infinity, or NaN.
#pragma once
#include <cstdint>

namespace bitwell::number {

__extension__ typedef unsigned __int128 u128;

enum class Kind { finite, infinity, nan };

// Finite: (-1)^negative * significand * 2^exponent; zero has significand 0 and keeps its sign.
// Bit 0 of `significand` may be a sticky bit after add(): set when anything below it was lost, so that one
// rounding to at most 64 significant bits is still the correct rounding of the exact value.
struct Exact {
  Kind kind = Kind::finite;
  bool negative = false;
  u128 significand = 0;
  int exponent = 0;

  bool is_zero() const { return kind == Kind::finite && significand == 0; }
  bool is_nan() const { return kind == Kind::nan; }
  bool is_infinity() const { return kind == Kind::infinity; }
};

inline int bit_width(u128 v) {
  const auto high = static_cast<uint64_t>(v >> 64);
  const auto low = static_cast<uint64_t>(v);
  if (high != 0) return 128 - __builtin_clzll(high);
  return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

// a * b; exact while the significands' widths sum to at most 128 bits. infinity * 0 is NaN.
Exact mul(const Exact& a, const Exact& b);

// a + b with a sticky bit (see Exact); significands up to 106 bits. infinity - infinity is NaN. An exact zero
// sum of opposite signs is +0, or -0 when `toward_negative` (IEEE 754, 6.3).
Exact add(const Exact& a, const Exact& b, bool toward_negative = false);

}  // namespace bitwell::number
