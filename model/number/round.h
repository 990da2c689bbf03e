// exact value -> value of a format. Rounding and overflow appear here and nowhere else.
#pragma once
#include "model/number/exact.h"
#include "model/number/format.h"

namespace bitwell::number {

// PTX's names in brackets.
enum class Rounding {
  nearest_even,     // .rn
  nearest_away,     // .rna
  toward_zero,      // .rz
  toward_negative,  // .rm
  toward_positive   // .rp
};

// What a finite value too large for the format, or an infinity the format lacks, becomes.
enum class Overflow {
  ieee,  // infinity, or the largest finite value where the direction of rounding says so; NaN if there is no
         // infinity
  saturate  // the largest finite value, infinities too (PTX .satfinite)
};

// Whether the format has values of this one's sign. Zeros and NaN are of either.
inline bool has_sign_of(const Format& format, const Exact& value) {
  return format.is_signed || !value.negative || value.is_zero() || value.is_nan();
}

// The value of `format` that `value` rounds to: finite results have at most fraction_bits + 1 significant
// bits and are normalised for encode(). NaN stays NaN (encode() refuses it for formats without one). UE8M0
// has no zero: anything at or below 2^-127 gives 2^-127. Of what has no sign magnitudes are rounded; who
// takes values of users' asks has_sign_of first.
Exact round(const Format& format, const Exact& value, Rounding rounding, Overflow overflow);

// The same toward zero, or away from it where `random`, a number of `bits` bits, makes a carry with the first
// `bits` bits of what is cut off (PTX .rs). What is then too large is infinity under Overflow::ieee.
Exact round_by_chance(const Format& format, const Exact& value, uint64_t random, int bits, Overflow overflow);

}  // namespace bitwell::number
