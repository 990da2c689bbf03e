#include "model/number/encode.h"

#include <stdexcept>
#include <string>

namespace bitwell::number {

uint64_t encode(const Format& f, const Exact& v) {
  const auto refuse = [&](const char* what) {
    throw std::logic_error(std::string(f.name) + " cannot hold " + what);
  };
  const uint64_t sign = v.negative ? f.sign_mask() : 0;
  if (v.negative && !f.is_signed && !v.is_zero()) refuse("a negative value");
  if (v.is_nan()) {
    if (!f.has_nan()) refuse("NaN");
    return f.canonical_nan();
  }
  if (v.is_infinity()) {
    if (!f.has_infinity()) refuse("infinity");
    return (sign | (f.max_code() + 1)) << f.ignored_low;
  }
  if (f.special == Special::scale) {
    const int code = v.exponent + f.bias + bit_width(v.significand) - 1;
    if ((v.significand & (v.significand - 1)) != 0 || v.significand == 0 || code < 0 || code > 254)
      refuse("that power of two");
    return static_cast<uint64_t>(code);
  }
  if (v.significand == 0) return sign << f.ignored_low;

  // Bring the significand to the format's grid: the implicit bit at fraction_bits, or a subnormal at emin.
  int shift = f.fraction_bits + 1 - bit_width(v.significand);
  int exponent = v.exponent - shift;
  if (exponent < f.emin() - f.fraction_bits) {
    shift -= f.emin() - f.fraction_bits - exponent;
    exponent = f.emin() - f.fraction_bits;
  }
  const u128 aligned = shift >= 0 ? v.significand << shift : v.significand >> -shift;
  if (shift < 0 && (aligned << -shift) != v.significand) refuse("a value between its codes");
  const auto significand = static_cast<uint64_t>(aligned);
  const uint64_t hidden = uint64_t{1} << f.fraction_bits;
  const auto biased = static_cast<uint64_t>(exponent + f.fraction_bits + f.bias);
  const uint64_t code =
      significand < hidden ? significand : (biased << f.fraction_bits) + (significand - hidden);
  if (code > f.max_code()) refuse("a magnitude beyond its largest");
  return (sign | code) << f.ignored_low;
}

}  // namespace bitwell::number
