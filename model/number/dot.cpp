#include "model/number/dot.h"

#include <algorithm>

#include "model/number/aligned_sum.h"
#include "model/number/arithmetic.h"
#include "model/number/decode.h"

namespace bitwell::number {
namespace {

using enum DotRounding;

constexpr std::array<const Format*, 6> kF16{&f16};
constexpr std::array<const Format*, 6> kHalves{&f16, &bf16};
constexpr std::array<const Format*, 6> kTf32{&tf32};
constexpr std::array<const Format*, 6> kFp8{&e4m3, &e5m2};
constexpr std::array<const Format*, 6> kNarrow{&e4m3, &e5m2, &e2m3, &e3m2, &e2m1};
constexpr const char* kWords = "published: words of the device (Khattak and Mikaitis), replayed";
constexpr const char* kModel = "published: MMA-Sim, no words at hand";
constexpr const char* kDevice = "device: H200";
constexpr const char* kFrozen = "published: frozen B200 words (sf-tensor), replayed";

constexpr DotRule kRules[] = {
    {"volta", "mma.sync", kF16, &f32, 4, 23, rz_f32, -131, false, kWords},
    {"volta", "mma.sync", kF16, &f16, 4, 23, rne_f16, -19, false, kWords},
    {"turing", "mma.sync", kF16, &f32, 8, 24, rz_f32, -132, false, kModel},
    {"turing", "mma.sync", kF16, &f16, 8, 24, rne_f16, -20, false, kModel},
    {"ampere", "mma.sync", kTf32, &f32, 4, 24, rz_f32, -132, false, kWords},
    {"ampere", "mma.sync", kHalves, &f32, 8, 24, rz_f32, -132, false, kWords},
    {"ampere", "mma.sync", kF16, &f16, 8, 24, rne_f16, -20, false, kWords},
    {"ada", "mma.sync", kTf32, &f32, 4, 24, rz_f32, -132, false, kWords},
    {"ada", "mma.sync", kHalves, &f32, 8, 24, rz_f32, -132, false, kWords},
    {"ada", "mma.sync", kF16, &f16, 8, 24, rne_f16, -20, false, kWords},
    {"ada", "mma.sync", kFp8, &f32, 16, 13, rz_e8m13, -132, false, kWords},
    {"ada", "mma.sync", kFp8, &f16, 16, 13, rne_f16, -20, false, kWords},
    {"hopper", "mma.sync", kTf32, &f32, 8, 25, rz_f32, -133, false, kDevice},
    {"hopper", "mma.sync", kHalves, &f32, 16, 25, rz_f32, -133, false, kDevice},
    {"hopper", "mma.sync", kF16, &f16, 16, 25, rne_f16, -21, false, kDevice},
    {"hopper", "mma.sync", kFp8, &f32, 16, 25, rz_f32, -133, true, kDevice},
    {"hopper", "mma.sync", kFp8, &f16, 16, 25, rne_f16, -21, true, kDevice},
    {"hopper", "wgmma", kTf32, &f32, 8, 25, rz_f32, -133, false, kDevice},
    {"hopper", "wgmma", kHalves, &f32, 16, 25, rz_f32, -133, false, kDevice},
    {"hopper", "wgmma", kF16, &f16, 16, 25, rne_f16, -21, false, kDevice},
    {"hopper", "wgmma", kFp8, &f32, 32, 13, rz_e8m13, -133, false, kDevice},
    {"hopper", "wgmma", kFp8, &f16, 32, 13, rne_f16, -21, false, kDevice},
    {"blackwell", "mma.sync", kTf32, &f32, 8, 25, rz_f32, -133, false, kWords},
    {"blackwell", "mma.sync", kHalves, &f32, 16, 25, rz_f32, -133, false, kWords},
    {"blackwell", "mma.sync", kF16, &f16, 16, 25, rne_f16, -21, false, kWords},
    {"blackwell", "mma.sync", kFp8, &f32, 16, 25, rz_f32, -133, true, kWords},
    {"blackwell", "mma.sync", kFp8, &f16, 16, 25, rne_f16, -21, true, kWords},
    {"blackwell", "tcgen05", kTf32, &f32, 8, 25, rz_f32, -133, false, kFrozen},
    {"blackwell", "tcgen05", kHalves, &f32, 16, 25, rz_f32, -133, false, kFrozen},
    {"blackwell", "tcgen05", kF16, &f16, 16, 25, rne_f16, -21, false, kModel},
    {"blackwell", "tcgen05", kNarrow, &f32, 32, 25, rz_f32, -133, false, kFrozen},
    {"blackwell", "tcgen05", kNarrow, &f16, 32, 25, rne_f16, -21, false, kModel},
};

uint32_t infinity(const Format& f, bool negative) {
  return static_cast<uint32_t>((f.max_code() + 1) | (negative ? f.sign_mask() : 0));
}

// Sets chunk.special and its result where NaN or infinity decides.
bool specials(DotChunk& chunk, const Format& input, std::span<const uint32_t> a, std::span<const uint32_t> b,
              const Format& output, uint32_t c) {
  bool positive = false;
  bool negative = false;
  const auto nan = [&](const char* why) {
    chunk.special = why;
    chunk.result = static_cast<uint32_t>(output.canonical_nan());
    return true;
  };
  const auto infinite = [&](bool sign) { (sign ? negative : positive) = true; };
  for (size_t i = 0; i < a.size(); ++i) {
    const Exact x = decode(input, a[i]);
    const Exact y = decode(input, b[i]);
    if (x.is_nan() || y.is_nan()) return nan("an operand is NaN");
    if (!x.is_infinity() && !y.is_infinity()) continue;
    if (x.is_zero() || y.is_zero()) return nan("infinity times zero");
    infinite(x.negative != y.negative);
  }
  const Exact z = decode(output, c);
  if (z.is_nan()) return nan("C is NaN");
  if (z.is_infinity()) infinite(z.negative);
  if (positive && negative) return nan("infinities of both signs");
  if (!positive && !negative) return false;
  chunk.special = "a term is infinite";
  chunk.result = infinity(output, negative);
  return true;
}

DotTerm term_of(const Format& f, uint32_t code, int zero_exponent) {
  const Operand o = operand(f, code);
  return {o.negative, o.significand, f.fraction_bits, o.significand == 0 ? zero_exponent : o.exponent,
          0,          false};
}

uint32_t one_chunk(const DotRule& rule, const Format& input, std::span<const uint32_t> a,
                   std::span<const uint32_t> b, const Format& output, uint32_t c,
                   std::vector<DotChunk>* trace) {
  DotChunk chunk;
  if (!specials(chunk, input, a, b, output, c)) {
    for (size_t i = 0; i < a.size(); ++i) {
      const Operand x = operand(input, a[i]);
      const Operand y = operand(input, b[i]);
      const uint64_t product = x.significand * y.significand;
      chunk.terms.push_back({x.negative != y.negative, product, 2 * input.fraction_bits,
                             product == 0 ? rule.zero_exponent : x.exponent + y.exponent, 0, false});
    }
    chunk.terms.push_back(term_of(output, c, rule.zero_exponent));
    sum_aligned(chunk, rule.fraction_bits, rule.rounding);
  }
  const uint32_t result = chunk.result;
  if (trace != nullptr) trace->push_back(std::move(chunk));
  return result;
}

uint32_t chunks(const DotRule& rule, const Format& input, std::span<const uint32_t> a,
                std::span<const uint32_t> b, const Format& output, uint32_t c, std::vector<DotChunk>* trace) {
  const auto length = static_cast<size_t>(rule.length);
  for (size_t i = 0; i < a.size(); i += length) {
    const size_t n = std::min(length, a.size() - i);
    c = one_chunk(rule, input, a.subspan(i, n), b.subspan(i, n), output, c, trace);
  }
  return c;
}

// fp8 mma.sync of sm_90 and sm_100: through the fp16 units.
uint32_t emulated(const DotRule& rule, const Format& input, std::span<const uint32_t> a,
                  std::span<const uint32_t> b, uint32_t c, std::vector<DotChunk>* trace) {
  uint32_t sum = 0;
  for (const size_t half : {size_t{0}, size_t{2}}) {
    std::vector<uint32_t> x;
    std::vector<uint32_t> y;
    for (size_t k = 0; k < a.size(); ++k) {
      if (k % 4 / 2 * 2 != half) continue;
      x.push_back(a[k]);
      y.push_back(b[k]);
    }
    sum = chunks(rule, input, x, y, *rule.output, sum, trace);
  }
  return static_cast<uint32_t>(add(*rule.output, sum, c, {}));
}

}  // namespace

std::span<const DotRule> dot_rules() { return kRules; }

const DotRule* find_dot_rule(std::string_view architecture, std::string_view instruction, const Format& input,
                             const Format& output) {
  for (const DotRule& r : kRules)
    if (r.architecture == architecture && r.instruction == instruction && r.output == &output &&
        std::find(r.inputs.begin(), r.inputs.end(), &input) != r.inputs.end())
      return &r;
  return nullptr;
}

uint32_t dot(const DotRule& rule, const Format& input, std::span<const uint32_t> a,
             std::span<const uint32_t> b, uint32_t c, std::vector<DotChunk>* trace) {
  if (rule.emulated) return emulated(rule, input, a, b, c, trace);
  return chunks(rule, input, a, b, *rule.output, c, trace);
}

}  // namespace bitwell::number
