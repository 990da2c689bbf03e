// One step of kTileLanes columns, compiled for every instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/number/dot.h"

namespace bitwell::number {

inline constexpr int kRaise = 12;  // makes twice any E2M1 value a number without sign

// A row's part of one group of 16 E2M1 products.
struct RowGroup {
  int32_t occupied = 0;  // bit i: element i is not zero
  int32_t exponent = 0;  // of the scale, times 2^16
  int32_t start = 0;     // takes away what raising B's values adds to the sum of products
  double scale = 0;      // its value over 4
};
// The rows' part of one chunk of 64 products in groups of 16; `k`, of the first row's to the next one's.
struct ScaledRows {
  const int8_t* twice;    // 64
  const RowGroup* group;  // 4
  size_t rows;
  size_t k;
};
// The exponents of the scales of kTileLanes columns' groups that are not zero; where all are, none.
struct Reach {
  int16_t lowest = INT16_MAX, highest = INT16_MIN;
};
// The columns' part: pointers to the first of kTileLanes columns, `stride` columns from one group to the
// next.
struct ScaledStep {
  const uint8_t* raised;  // [k / 4][column][k % 4]
  const int32_t* group;   // the scale's exponent times 2^16, plus `occupied` as of RowGroup
  const double* scale;
  const Reach* reach;  // one a group, `stride` / kTileLanes from one to the next
  size_t stride;
  int fraction_bits;
  int term_fraction;  // fraction bits of a term
  int zero_exponent;
  size_t columns;  // of kTileLanes: those behind may be left out
};
// One chunk of a rule of single products: `length` of them. Narrow formats, whose products fp32 holds: values
// as they are. Others: significands without the point.
inline constexpr int16_t kNoExponent = -10000;  // of an element that is zero
constexpr int8_t kNoByteExponent = -60;         // the same in a byte: two of them are one, too
struct PlainRow {
  const float* value;
  const int16_t* exponent;      // encoded
  const int8_t* byte_exponent;  // narrow formats have these instead
  int scale_exponent;
};
struct PlainStep {
  const float* value;
  const int16_t* exponent;
  const int8_t* byte_exponent;
  const int16_t* scale_exponent;  // one a column
  size_t stride;
  int length;
  bool narrow;
  int product_fraction;  // fraction bits of a product
  int fraction_bits;
  int zero_exponent;
  DotRounding rounding;  // rne_f16: d holds fp16 codes
  size_t columns;        // as in ScaledStep
};

// d: codes of the result; the scaled rows' are `pitch` apart. Gives, of each row, a mask of columns that the
// loop cannot do (an addend that is NaN or infinite, a result that is subnormal or overflows): their d is no
// result, of the scaled it is what it was.
struct TileLanes {
  void (*scaled)(const ScaledRows& rows, const ScaledStep& step, uint32_t* d, size_t pitch,
                 uint32_t* odd) = nullptr;
  uint32_t (*plain)(const PlainRow& row, const PlainStep& step, uint32_t* d) = nullptr;
};

}  // namespace bitwell::number
