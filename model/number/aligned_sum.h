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
Operand operand(const Format& format, uint32_t code);

// Fills in largest, each term's `kept` and `cut`, the sum, and the result.
void sum_aligned(DotChunk& chunk, int fraction_bits, DotRounding rounding);

}  // namespace bitwell::number
