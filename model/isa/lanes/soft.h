// Lane arithmetic through model/number: every rounding mode and format, exact and slow.
#pragma once
#include "model/isa/form/op.h"
#include "model/number/arithmetic.h"

namespace bitwell::isa {

enum class SoftOperation : uint8_t { add, sub, mul, fma, div, rcp, sqrt };

// d = operation(a, b, c) in `format`; `packed`: two values a register.
Op soft_arithmetic(SoftOperation operation, const number::Format& format, bool packed, number::Mode mode);

// One value of a conversion: a floating format, or an integer of `bits`.
struct Number {
  const number::Format* format = nullptr;
  int bits = 0;
  bool is_signed = false;
};

struct Conversion {
  Number from;
  Number to;
  number::Mode mode;
  bool to_integral = false;  // .rni and friends: to an integral value first
  bool saturate = false;     // .satfinite, or .sat to an integer
  int count = 1;             // values a register; 2: packed
  bool two_sources = false;  // packed from two registers: a to the upper half
};
Op soft_conversion(const Conversion& conversion);

// For the lane loops: mul.rn.ftz.f32 or fma.rn.ftz.f32 of one lane.
uint32_t soft_ftz_f32(bool fused, uint32_t a, uint32_t b, uint32_t c, bool sat);

}  // namespace bitwell::isa
