#include "model/number/decode.h"

namespace bitwell::number {

Exact decode(const Format& f, uint64_t code) {
  code >>= f.ignored_low;
  const bool negative = (code & f.sign_mask()) != 0;
  const uint64_t magnitude = code & f.magnitude_mask();
  if (f.special == Special::scale)
    return magnitude == f.magnitude_mask()
               ? Exact{Kind::nan}
               : Exact{Kind::finite, false, 1, static_cast<int>(magnitude) - f.bias};
  if (magnitude > f.max_code()) {
    const bool infinite = f.has_infinity() && (magnitude & f.fraction_mask()) == 0;
    return {infinite ? Kind::infinity : Kind::nan, negative};
  }
  const auto exponent = static_cast<int>(magnitude >> f.fraction_bits);
  const uint64_t fraction = magnitude & f.fraction_mask();
  if (exponent == 0) return {Kind::finite, negative, fraction, f.emin() - f.fraction_bits};
  return {Kind::finite, negative, fraction | (uint64_t{1} << f.fraction_bits),
          exponent - f.bias - f.fraction_bits};
}

}  // namespace bitwell::number
