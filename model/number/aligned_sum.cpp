#include "model/number/aligned_sum.h"

#include <algorithm>

#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::number {
namespace {

// sum * 2^unit to the result's format.
uint32_t rounded(int64_t sum, int unit, DotRounding rounding) {
  if (sum == 0) return 0;
  Exact v;
  v.negative = sum < 0;
  v.significand = static_cast<u128>(sum < 0 ? -static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum));
  v.exponent = unit;
  // What underflows to zero is +0 (H200, fp16 results; the published models do not say).
  if (rounding == DotRounding::rne_f16) {
    const auto code =
        static_cast<uint32_t>(encode(f16, round(f16, v, Rounding::nearest_even, Overflow::ieee)));
    return (code & 0x7FFF) == 0 ? 0 : code;
  }
  // Towards zero an IEEE rounding never overflows; the unit's result does, to infinity.
  if (bit_width(v.significand) + v.exponent > 128) return v.negative ? 0xFF800000 : 0x7F800000;
  auto code = static_cast<uint32_t>(encode(f32, round(f32, v, Rounding::toward_zero, Overflow::ieee)));
  if (rounding == DotRounding::rz_e8m13) code &= ~0x3FFu;
  return (code & 0x7FFFFFFF) == 0 ? 0 : code;
}

}  // namespace

void sum_aligned(DotChunk& chunk, int fraction_bits, DotRounding rounding) {
  chunk.largest = chunk.terms.front().exponent;
  for (const DotTerm& t : chunk.terms) chunk.largest = std::max(chunk.largest, t.exponent);
  chunk.sum = 0;
  for (DotTerm& t : chunk.terms) {
    const int shift = fraction_bits - (chunk.largest - t.exponent) - t.fraction;
    uint64_t kept = 0;
    if (shift >= 0)
      kept = t.significand << shift;
    else if (shift > -64)
      kept = t.significand >> -shift;
    t.cut = shift < 0 && (shift <= -64 ? t.significand != 0 : (kept << -shift) != t.significand);
    t.kept = t.negative ? -static_cast<int64_t>(kept) : static_cast<int64_t>(kept);
    chunk.sum += t.kept;
  }
  chunk.result = rounded(chunk.sum, chunk.largest - fraction_bits, rounding);
}

}  // namespace bitwell::number
