#include "model/number/arithmetic.h"

#include <initializer_list>

#include "model/number/decode.h"
#include "model/number/encode.h"

namespace bitwell::number {
namespace {

bool is_nan(const Format& f, uint64_t code) { return decode(f, code).is_nan(); }

// f16, bf16, f32: the canonical NaN whatever the operands were. f64: the first NaN among the operands, in the
// order given here, quieted; 0xFFF8000000000000 when the operation itself is invalid. The orders are the
// H200's: b before a, fma b, c, a, div a before b.
uint64_t nan_result(const Format& f, std::initializer_list<uint64_t> operands) {
  if (f.bits != 64) return f.canonical_nan();
  const uint64_t quiet = uint64_t{1} << (f.fraction_bits - 1);
  for (const uint64_t code : operands)
    if (is_nan(f, code)) return code | quiet;
  return 0xFFF8000000000000u;
}

uint64_t finish(const Format& f, const Exact& value, Mode mode, std::initializer_list<uint64_t> operands) {
  if (value.is_nan() && !mode.sat) return nan_result(f, operands);
  return write(f, value, mode);
}

// Whether .ftz flushes a result: it is below the least normal after rounding as if the exponent had no limit,
// so also where rounding to the format itself would reach the least normal (H200 probes: mul, fma, div).
bool is_tiny(const Format& f, const Exact& value, Rounding rounding) {
  if (value.kind != Kind::finite) return false;
  const Format unlimited{"unlimited", f.fraction_bits + 16, 128, 15, f.fraction_bits, 16383,
                         true,        Special::ieee,        0,   ""};
  const Exact r = round(unlimited, value, rounding, Overflow::ieee);
  return r.exponent + bit_width(r.significand) - 1 < f.emin();
}

// floor(sqrt(v)), bit by bit.
u128 integer_sqrt(u128 v) {
  u128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const u128 trial = root | (u128{1} << bit);
    if (trial * trial <= v) root = trial;
  }
  return root;
}

}  // namespace

Exact read(const Format& f, uint64_t code, bool ftz) {
  const uint64_t magnitude = (code >> f.ignored_low) & f.magnitude_mask();
  if (ftz && magnitude <= f.fraction_mask()) code &= f.sign_mask() << f.ignored_low;
  return decode(f, code);
}

uint64_t write(const Format& f, const Exact& value, Mode mode, Overflow overflow) {
  if (value.is_nan()) return mode.sat ? 0 : f.canonical_nan();
  if (mode.sat && value.negative) return 0;
  if (mode.relu && value.negative) return 0;
  if (mode.ftz && is_tiny(f, value, mode.rounding))
    return value.negative && !mode.sat ? f.sign_mask() << f.ignored_low : 0;
  Exact out = round(f, value, mode.rounding, overflow);
  if (mode.sat) {
    const Exact one = {Kind::finite, false, 1, 0};
    const Exact above = add(out, {Kind::finite, true, 1, 0});
    if (out.is_infinity() || (!above.negative && !above.is_zero())) out = one;
  }
  return encode(f, out);
}

uint64_t add(const Format& f, uint64_t a, uint64_t b, Mode mode) {
  const bool down = mode.rounding == Rounding::toward_negative;
  return finish(f, add(read(f, a, mode.ftz), read(f, b, mode.ftz), down), mode, {b, a});
}

uint64_t sub(const Format& f, uint64_t a, uint64_t b, Mode mode) {
  Exact minus = read(f, b, mode.ftz);
  minus.negative = !minus.negative;
  const bool down = mode.rounding == Rounding::toward_negative;
  return finish(f, add(read(f, a, mode.ftz), minus, down), mode, {b, a});
}

uint64_t mul(const Format& f, uint64_t a, uint64_t b, Mode mode) {
  return finish(f, mul(read(f, a, mode.ftz), read(f, b, mode.ftz)), mode, {b, a});
}

uint64_t fma(const Format& f, uint64_t a, uint64_t b, uint64_t c, Mode mode) {
  const bool down = mode.rounding == Rounding::toward_negative;
  const Exact product = mul(read(f, a, mode.ftz), read(f, b, mode.ftz));
  return finish(f, add(product, read(f, c, mode.ftz), down), mode, {b, c, a});
}

uint64_t div(const Format& f, uint64_t a, uint64_t b, Mode mode) {
  const Exact x = read(f, a, mode.ftz);
  const Exact y = read(f, b, mode.ftz);
  const bool negative = x.negative != y.negative;
  const bool invalid = (x.is_infinity() && y.is_infinity()) || (x.is_zero() && y.is_zero());
  if (x.is_nan() || y.is_nan() || invalid) return finish(f, {Kind::nan}, mode, {a, b});
  if (x.is_infinity() || y.is_zero()) return finish(f, {Kind::infinity, negative}, mode, {a, b});
  if (y.is_infinity() || x.is_zero()) return finish(f, {Kind::finite, negative}, mode, {a, b});
  // A quotient of at least 64 bits, the remainder folded into a sticky bit.
  const int up = 127 - bit_width(x.significand);
  const u128 wide = x.significand << up;
  const u128 quotient = wide / y.significand;
  const bool sticky = quotient * y.significand != wide;
  return finish(
      f, {Kind::finite, negative, (quotient << 1) | (sticky ? 1 : 0), x.exponent - up - y.exponent - 1}, mode,
      {a, b});
}

uint64_t sqrt(const Format& f, uint64_t a, Mode mode) {
  const Exact x = read(f, a, mode.ftz);
  if (x.is_nan() || (x.negative && !x.is_zero())) return finish(f, {Kind::nan}, mode, {a});
  if (x.is_infinity() || x.is_zero()) return finish(f, x, mode, {a});
  int up = 126 - bit_width(x.significand);
  if (((x.exponent - up) & 1) != 0) --up;
  const u128 wide = x.significand << up;
  const u128 root = integer_sqrt(wide);
  const bool sticky = root * root != wide;
  return finish(f, {Kind::finite, false, (root << 1) | (sticky ? 1 : 0), (x.exponent - up) / 2 - 1}, mode,
                {a});
}

}  // namespace bitwell::number
