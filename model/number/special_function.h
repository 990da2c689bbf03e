// The special-function unit of sm_90 (MUFU.RCP, .RSQ, .SQRT, .EX2), bit for bit. Its results are what an H200
// returned for every significand, kept as differences from values that any IEEE machine computes alike.
// Evidence: device. verify/test/device/special_function_test.cpp records the tables and compares the function
// with the GPU over all 2^32 inputs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitwell::number {

enum class SpecialFunction : uint8_t { rcp, rsqrt, sqrt, ex2 };
inline constexpr size_t kSpecialFunctions = 4;

// fp32 code to fp32 code. Subnormal inputs and results are zero; NaN is 0x7FFFFFFF.
uint32_t special_function(SpecialFunction function, uint32_t x);

// How a table is indexed, for the run that records it: the fp32 inputs first_input, first_input + 1, ... of
// its `size` entries (rcp and ex2: [1, 2); rsqrt and sqrt: [1, 4)), and the value from which differences are
// taken.
struct TableShape {
  uint32_t first_input;
  size_t size;
};
TableShape table_shape(SpecialFunction function);
uint32_t table_base(SpecialFunction function, uint32_t index);

}  // namespace bitwell::number
