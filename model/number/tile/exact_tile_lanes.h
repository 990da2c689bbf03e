// Sums of products that fp32 holds whole, in whatever order they are added: compiled for every instruction
// set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/number/format.h"

namespace bitwell::number {

inline constexpr size_t kExactRows = 8;  // taken side by side

// Of some numbers: each is a multiple of 2^lowest and below 2^(highest + 1) in magnitude.
struct ExactBounds {
  int highest = -1000;
  int lowest = 1000;
};

// Rows by kTileLanes columns.
struct ExactStep {
  const float* a;  // [row][k]
  const float* b;  // [k], `stride` apart, of the first column
  size_t stride;
  size_t k;
  int sum;        // a sum of products is below 2^sum in magnitude
  int lowest;     // and a multiple of 2^lowest
  int precision;  // bits that the result keeps: at most 24
};

struct ExactLanes {
  // Numbers of codes as fp32 has them; NaN and infinity are none.
  void (*values)(const Format& format, const uint32_t* codes, size_t count, float* value) = nullptr;
  ExactBounds (*bounds)(const float* value, size_t count) = nullptr;
  // d = a b + d, fp32 codes in `d`, whose rows are `pitch` apart, for at most kExactRows rows. Returns a mask
  // of rows that it left as they were, for fp32, or what is kept of it, might not hold all their sums.
  uint32_t (*add)(const ExactStep& step, size_t rows, uint32_t* d, size_t pitch) = nullptr;
};

}  // namespace bitwell::number
