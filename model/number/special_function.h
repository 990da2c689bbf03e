// The special-function unit of sm_90 (MUFU.RCP, .RSQ, .SQRT, .EX2, .LG2, .SIN, .COS, .TANH), bit for bit. It
// interpolates (quadratic.h); here is what comes before and after: how an argument is reduced to a place on a
// curve, and how the value there becomes an fp32 number.
// Evidence: device, all places of all curves, which verify/test/number/special_function_test.cpp has as
// digests; verify/test/device/special_function_test.cpp compares the instructions with a GPU.
#pragma once
#include <cstdint>

namespace bitwell::number {

enum class SpecialFunction : uint8_t { rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh };

// fp32 code to fp32 code. Subnormal inputs and results are zero, but for tanh, which is its argument there;
// NaN is 0x7FFFFFFF. ex2 and lg2 have base 2. The argument of sin and cos is in revolutions.
uint32_t special_function(SpecialFunction function, uint32_t x);

}  // namespace bitwell::number
