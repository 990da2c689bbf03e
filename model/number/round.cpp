#include "model/number/round.h"

#include <algorithm>

namespace bitwell::number {
namespace {

Exact largest(const Format& f, bool negative) {
  if (f.special == Special::scale) return {Kind::finite, false, 1, f.emax()};
  const uint64_t top = (uint64_t{1} << f.fraction_bits) | (f.max_code() & f.fraction_mask());
  return {Kind::finite, negative, top, f.emax() - f.fraction_bits};
}

// Whether the magnitude grows by one unit in the last place; `rest` is what was cut off, `half` half a unit.
bool rounds_up(Rounding mode, bool negative, bool odd, u128 rest, u128 half) {
  switch (mode) {
    case Rounding::nearest_even: return rest > half || (rest == half && odd);
    case Rounding::nearest_away: return rest >= half;
    case Rounding::toward_zero: return false;
    case Rounding::toward_negative: return negative && rest != 0;
    case Rounding::toward_positive: return !negative && rest != 0;
  }
  return false;
}

Exact overflowed(const Format& f, bool negative, Rounding mode, Overflow overflow) {
  const bool stays_finite = overflow == Overflow::saturate || mode == Rounding::toward_zero ||
                            (mode == Rounding::toward_negative && !negative) ||
                            (mode == Rounding::toward_positive && negative);
  if (stays_finite) return largest(f, negative);
  return {f.has_infinity() ? Kind::infinity : Kind::nan, negative};
}

}  // namespace

Exact round(const Format& f, const Exact& v, Rounding mode, Overflow overflow) {
  const bool negative = v.negative && f.is_signed;
  if (v.is_nan()) return negative == v.negative ? v : Exact{Kind::nan, negative};
  if (v.is_infinity()) {
    if (overflow == Overflow::saturate) return largest(f, negative);
    return {f.has_infinity() ? Kind::infinity : Kind::nan, negative};
  }
  const int least =
      f.special == Special::scale ? -f.bias : f.emin() - f.fraction_bits;  // the smallest unit's exponent
  if (v.significand == 0)
    return f.special == Special::scale ? Exact{Kind::finite, false, 1, least} : Exact{Kind::finite, negative};

  const int unit = std::max(v.exponent + bit_width(v.significand) - (f.fraction_bits + 1), least);
  const int drop = unit - v.exponent;
  u128 kept = 0;
  if (drop <= 0) {
    kept = v.significand << -drop;
  } else if (drop > 127) {  // far below half of the smallest unit
    kept = rounds_up(mode, negative, false, 1, 2) ? 1 : 0;
  } else {
    kept = v.significand >> drop;
    const u128 rest = v.significand - (kept << drop);
    if (rounds_up(mode, negative, (kept & 1) != 0, rest, u128{1} << (drop - 1))) ++kept;
  }
  Exact out{Kind::finite, negative, kept, unit};
  if (kept >> (f.fraction_bits + 1) != 0) {  // carried into the next binade
    out.significand >>= 1;
    ++out.exponent;
  }
  if (f.special == Special::scale && out.significand == 0) return {Kind::finite, false, 1, least};
  const Exact top = largest(f, false);
  if (out.exponent > top.exponent || (out.exponent == top.exponent && out.significand > top.significand))
    return overflowed(f, negative, mode, overflow);
  return out;
}

Exact round_by_chance(const Format& f, const Exact& v, uint64_t random, int bits, Overflow overflow) {
  if (v.kind != Kind::finite || v.significand == 0) return round(f, v, Rounding::toward_zero, overflow);
  const int least = f.emin() - f.fraction_bits;
  const int unit = std::max(v.exponent + bit_width(v.significand) - (f.fraction_bits + 1), least);
  Exact sum{Kind::finite, v.negative, 0, unit - bits};
  const int drop = sum.exponent - v.exponent;
  if (drop <= 127) sum.significand = drop >= 0 ? v.significand >> drop : v.significand << -drop;
  sum.significand += random;
  if (overflow == Overflow::ieee && sum.exponent + bit_width(sum.significand) - 1 > f.emax())
    return {Kind::infinity, v.negative};
  return sum.significand == 0 ? Exact{Kind::finite, v.negative}
                              : round(f, sum, Rounding::toward_zero, overflow);
}

}  // namespace bitwell::number
