// Sums of single products to fp32, aligned to the largest exponent and cut off, in integers of 32 bits:
// compiled for every instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/number/format.h"

namespace bitwell::number {

// Rows by at most kTileLanes columns. Exponents are of the elements as encoded, as PlainRow and PlainStep
// have them: bytes of narrow formats, 16 bits of others.
struct AlignedStep {
  const float* a;  // numbers: [row][k]
  const int16_t* a_exponent;
  const int8_t* a_byte_exponent;
  const float* b;  // [k], `stride` apart, of the first column
  const int16_t* b_exponent;
  const int8_t* b_byte_exponent;
  size_t stride;
  size_t k;
  size_t length;  // of a chunk: at most kAlignedLength
  size_t columns;
  int fraction_bits;    // at most kAlignedFraction
  int32_t result_bits;  // of a result's code: those that are kept
};
inline constexpr size_t kAlignedLength = 32;
inline constexpr int kAlignedFraction = 25;

struct AlignedLanes {
  // Exponents of codes, as above: `narrow` into bytes, others into 16 bits.
  void (*exponents)(const Format& format, const uint32_t* codes, size_t count, int16_t* exponent) = nullptr;
  void (*byte_exponents)(const Format& format, const uint32_t* codes, size_t count,
                         int8_t* exponent) = nullptr;
  // d = a b + d for the rows that `rows` has bits of, fp32 codes in `d`, whose rows are `pitch` apart and
  // have room for kTileLanes. Returns a mask of rows that it left as they were: with an addend that is NaN or
  // infinite, a sum that 32 bits might not hold, or exponents near the ends of fp32's.
  uint32_t (*add)(const AlignedStep& step, uint32_t rows, uint32_t* d, size_t pitch) = nullptr;
};

}  // namespace bitwell::number
