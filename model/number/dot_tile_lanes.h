// One step of kTileLanes columns, compiled for every instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/number/dot.h"

namespace bitwell::number {

// A row's part of one K step of kind::mxf4nvf4.
struct ScaledRow {
  const int16_t* twice;        // 64
  const uint16_t* occupied;    // 4
  const int32_t* significand;  // 4, of the scales
  const int32_t* exponent;     // 4
};
// The columns' part: pointers to the first of kTileLanes columns, `stride` columns from one k (group) to the
// next.
struct ScaledStep {
  const int16_t* twice;
  const uint16_t* occupied;
  const int32_t* significand;
  const int32_t* exponent;
  size_t stride;
  int scale_fraction;  // fraction bits of the scales' product
};
// One chunk of a plain rule: `length` products.
struct PlainRow {
  const int32_t* significand;
  const int32_t* exponent;
};
struct PlainStep {
  const int32_t* significand;
  const int32_t* exponent;
  size_t stride;
  int length;
  int product_fraction;  // fraction bits of a product
  int fraction_bits;
  int zero_exponent;
  DotRounding rounding;  // rne_f16: d holds fp16 codes
};

// d: codes of the result, finite. Returns a mask of columns whose result the loop cannot round (subnormal,
// overflow): their d is untouched.
struct TileLanes {
  uint32_t (*scaled)(const ScaledRow& row, const ScaledStep& step, uint32_t* d) = nullptr;
  uint32_t (*plain)(const PlainRow& row, const PlainStep& step, uint32_t* d) = nullptr;
};

}  // namespace bitwell::number
