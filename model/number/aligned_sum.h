// The heart of every tensor-core rule: terms aligned to the largest exponent, cut off, summed, rounded.
#pragma once
#include <cstdint>
#include <vector>

#include "model/number/dot.h"

namespace bitwell::number {

// A finite operand as the unit reads it: significand / 2^fraction * 2^exponent with the encoded exponent, so
// that a subnormal has the least exponent and a significand below 1. UE8M0 has no subnormals: its significand
// is always 1.
struct Operand {
  bool negative;
  uint64_t significand;
  int exponent;
};
inline Operand operand(const Format& format, uint32_t code) {
  const uint64_t bits = code >> format.ignored_low;
  const auto field = static_cast<int>((bits & format.magnitude_mask()) >> format.fraction_bits);
  const uint64_t fraction = bits & format.fraction_mask();
  const bool negative = (bits & format.sign_mask()) != 0;
  if (format.special == Special::scale) return {false, 1, field - format.bias};
  if (field == 0) return {negative, fraction, format.emin()};
  return {negative, fraction | (uint64_t{1} << format.fraction_bits), field - format.bias};
}

// Fills in largest, each term's `kept` and `cut`, the sum, and the result.
void sum_aligned(DotChunk& chunk, int fraction_bits, DotRounding rounding);

}  // namespace bitwell::number
