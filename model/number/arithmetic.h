// The definition of PTX floating-point arithmetic on codes: plain, exact, slow. model/isa's lane loops are
// its fast twins. Semantics: PTX ISA 9.0, sections 9.7.3 (floating point), 9.7.4 (half precision). NaN
// results are canonical, except f64 (see nan_result in arithmetic.cpp).
#pragma once
#include "model/number/format.h"
#include "model/number/round.h"

namespace bitwell::number {

// How an arithmetic instruction rounds and what it does around the rounding.
struct Mode {
  Rounding rounding = Rounding::nearest_even;
  bool ftz = false;   // subnormal inputs and results become zero of the same sign
  bool sat = false;   // clamp to [0, 1]; NaN becomes +0
  bool relu = false;  // clamp to >= 0; NaN becomes canonical NaN
};

// a, b, c and the result are codes of `format`: f16, bf16, f32 or f64.
uint64_t add(const Format& format, uint64_t a, uint64_t b, Mode mode);
uint64_t sub(const Format& format, uint64_t a, uint64_t b, Mode mode);
uint64_t mul(const Format& format, uint64_t a, uint64_t b, Mode mode);
uint64_t fma(const Format& format, uint64_t a, uint64_t b, uint64_t c, Mode mode);
uint64_t div(const Format& format, uint64_t a, uint64_t b, Mode mode);
uint64_t sqrt(const Format& format, uint64_t a, Mode mode);

// Reads and writes a code with the mode's flushing and clamping applied around it; shared with conversions.
Exact read(const Format& format, uint64_t code, bool ftz);
uint64_t write(const Format& format, const Exact& value, Mode mode, Overflow overflow = Overflow::ieee);

}  // namespace bitwell::number
