#include "model/number/block_dot.h"

#include "model/number/aligned_sum.h"
#include "model/number/decode.h"

namespace bitwell::number {
namespace {

constexpr uint32_t kNaN = 0x7FFFFFFF;

uint32_t finish(DotChunk& chunk, std::vector<DotChunk>* trace) {
  const uint32_t result = chunk.result;
  if (trace != nullptr) trace->push_back(std::move(chunk));
  return result;
}

uint32_t special(const char* why, uint32_t result, std::vector<DotChunk>* trace) {
  DotChunk chunk;
  chunk.special = why;
  chunk.result = result;
  return finish(chunk, trace);
}

bool is_nan(const Format& f, uint32_t code) { return decode(f, code).is_nan(); }

DotTerm addend(uint32_t c, int zero_exponent) {
  const Operand o = operand(f32, c);
  return {o.negative, o.significand, f32.fraction_bits, o.significand == 0 ? zero_exponent : o.exponent,
          0,          false};
}

}  // namespace

uint32_t mxf8f6f4_dot(const Format& input, std::span<const uint32_t> a, std::span<const uint32_t> b,
                      uint32_t c, uint8_t scale_a, uint8_t scale_b, std::vector<DotChunk>* trace) {
  if (is_nan(ue8m0, scale_a) || is_nan(ue8m0, scale_b)) return special("a scale is NaN", kNaN, trace);
  // NaN and infinity as without scales: no scale changes them.
  const DotRule* plain = find_dot_rule("blackwell", "tcgen05", input, f32);
  std::vector<DotChunk> unscaled;
  const uint32_t result = dot(*plain, input, a, b, c, &unscaled);
  if (!unscaled[0].special.empty()) return special("NaN or infinity", result, trace);
  DotChunk chunk;
  const int scale = scale_a - ue8m0.bias + scale_b - ue8m0.bias;
  for (size_t i = 0; i < a.size(); ++i) {
    const Operand x = operand(input, a[i]);
    const Operand y = operand(input, b[i]);
    const uint64_t product = x.significand * y.significand;
    chunk.terms.push_back({x.negative != y.negative, product, 2 * input.fraction_bits,
                           product == 0 ? kMxZeroExponent : x.exponent + y.exponent + scale, 0, false});
  }
  chunk.terms.push_back(addend(c, kMxZeroExponent));
  sum_aligned(chunk, kMxFractionBits, DotRounding::rz_f32);
  return finish(chunk, trace);
}

uint32_t mxf4nvf4_dot(std::span<const uint32_t> a, std::span<const uint32_t> b, uint32_t c,
                      const Format& scale, std::span<const uint8_t> scale_a, std::span<const uint8_t> scale_b,
                      std::vector<DotChunk>* trace) {
  for (size_t i = 0; i < scale_a.size(); ++i)
    if (is_nan(scale, scale_a[i]) || is_nan(scale, scale_b[i])) return special("a scale is NaN", kNaN, trace);
  const Exact z = decode(f32, c);
  if (z.is_nan()) return special("C is NaN", kNaN, trace);
  if (z.is_infinity()) return special("C is infinite", c, trace);
  DotChunk chunk;
  constexpr size_t group = 16;
  for (size_t g = 0; g < a.size() / group; ++g) {
    int64_t quarters = 0;  // the sum of the group's products, exactly
    bool all_zero = true;
    for (size_t i = g * group; i < (g + 1) * group; ++i) {
      const Operand x = operand(e2m1, a[i]);
      const Operand y = operand(e2m1, b[i]);
      // 2^exponent / 2^fraction each: E2M1 products are multiples of 1/4.
      const auto product = static_cast<int64_t>((x.significand * y.significand) << (x.exponent + y.exponent));
      all_zero = all_zero && product == 0;
      quarters += x.negative != y.negative ? -product : product;
    }
    const size_t s = g * scale_a.size() / (a.size() / group);
    const Operand sa = operand(scale, scale_a[s]);
    const Operand sb = operand(scale, scale_b[s]);
    // UE8M0 has no zero: its code 0 is 2^-127, which operand() reads as a subnormal.
    const bool exponents_only = scale.special == Special::scale;
    const uint64_t ma = exponents_only ? 1 : sa.significand;
    const uint64_t mb = exponents_only ? 1 : sb.significand;
    const int e = exponents_only ? scale_a[s] + scale_b[s] - 2 * scale.bias : sa.exponent + sb.exponent;
    const bool zero = all_zero || ma == 0 || mb == 0;
    const auto magnitude = static_cast<uint64_t>(quarters < 0 ? -quarters : quarters);
    chunk.terms.push_back({quarters < 0, magnitude * ma * mb, 2 + 2 * scale.fraction_bits,
                           zero ? kBlockZeroExponent : e, 0, false});
  }
  chunk.terms.push_back(addend(c, kBlockZeroExponent));
  sum_aligned(chunk, kBlockFractionBits, DotRounding::rz_f32);
  return finish(chunk, trace);
}

}  // namespace bitwell::number
