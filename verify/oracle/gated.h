// silu(gate) * up as kernels/dual states it, and what it exactly is.
#pragma once
#include <cstdint>

#include "verify/oracle/gemv.h"

namespace bitwell::oracle {

// x / (1 + e^-x), a sequence of fp32 operations each to nearest even: with y = -x within +-130, n = y
// times 1.44269502 (0x3FB8AA3B) to the nearest whole number, r = y - n ln 2 (0x3F317200, then 0x35BFBE8E, by
// fma), e^y = the series of e^r up to r^7 / 5040 by Horner with fma, times 2^(n / 2 downwards), times the
// rest. A NaN has no fixed bits.
float silu(float x);

// |fp16 code - silu(gate) * up| in units in the last place at the exact value; as error_ulp of a dot product
// is otherwise.
double gated_error_ulp(uint16_t got, const ExactDot& gate, const ExactDot& up);

}  // namespace bitwell::oracle
