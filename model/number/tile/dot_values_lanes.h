// Codes of tensor-core operands as the loops of dot_tile_lanes.h take them, compiled for every instruction
// set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/number/format.h"

namespace bitwell::number {

// All arrays have one element a code, in the codes' order.
struct ValueLanes {
  // Whether one of them is NaN or infinity.
  bool (*special)(const Format& format, const uint32_t* codes, size_t count) = nullptr;
  // Values and encoded exponents as PlainStep says. `narrow`: whether fp32 holds the format's products.
  void (*products)(const Format& format, bool narrow, const uint32_t* codes, size_t count, float* value,
                   int16_t* exponent) = nullptr;
  // Twice the values of E2M1 codes, of `groups` times 16, and their sums; bit i of `occupied`: element i of a
  // group is not zero.
  void (*twice)(const uint32_t* codes, size_t groups, int8_t* twice, uint16_t* occupied,
                int32_t* sum) = nullptr;
};

}  // namespace bitwell::number
