#include "model/number/dot.h"

#include <algorithm>
#include <stdexcept>

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
constexpr std::array<const Format*, 6> kE2m1{&e2m1};
constexpr const char* kWords = "published: words of the device (Khattak and Mikaitis), replayed";
constexpr const char* kModel = "published: MMA-Sim, no words at hand";
constexpr const char* kDevice = "device: H200";
constexpr const char* kFrozen = "published: frozen B200 words (sf-tensor), replayed";
// verify/test/number/dot_test.cpp lists where the published models disagree and no word decides.
constexpr const char* kScaled = "published: B200 words (sf-tensor), MMA-Sim";
// MMA-Sim's authors ran it against an RTX PRO 6000 Blackwell; of fp6 and fp4 in bytes, and of UE8M0 scales
// for every 16 elements, only a B200's words are published.
constexpr const char* kRtx = "published: MMA-Sim, proved on an RTX PRO 6000";
constexpr const char* kRtxNarrow =
    "published: MMA-Sim, proved on an RTX PRO 6000 (fp8); B200 words (fp6, fp4)";
constexpr const char* kRtxAsB200 = "published: B200 words (sf-tensor); none of an RTX card";

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
    {"blackwell", "mxf8f6f4", kNarrow, &f32, 32, 25, rz_f32, -133, false, kScaled, &ue8m0, 32},
    {"blackwell", "mxf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kScaled, &ue8m0, 32, 16},
    {"blackwell", "mxf4nvf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kScaled, &ue4m3, 16, 16},
    {"blackwell", "mxf4nvf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kScaled, &ue8m0, 16, 16},
    {"blackwell", "mxf4nvf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kScaled, &ue8m0, 32, 16},
    {"rtx_blackwell", "mma.sync", kTf32, &f32, 8, 25, rz_f32, -133, false, kRtx},
    {"rtx_blackwell", "mma.sync", kHalves, &f32, 16, 25, rz_f32, -133, false, kRtx},
    {"rtx_blackwell", "mma.sync", kF16, &f16, 16, 25, rne_f16, -21, false, kRtx},
    {"rtx_blackwell", "mma.sync", kNarrow, &f32, 32, 25, rz_f32, -133, false, kRtxNarrow},
    {"rtx_blackwell", "mma.sync", kNarrow, &f16, 32, 25, rne_f16, -21, false, kRtxNarrow},
    {"rtx_blackwell", "mxf8f6f4", kNarrow, &f32, 32, 25, rz_f32, -133, false, kRtxNarrow, &ue8m0, 32},
    {"rtx_blackwell", "mxf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kRtx, &ue8m0, 32, 16},
    {"rtx_blackwell", "mxf4nvf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kRtx, &ue4m3, 16, 16},
    {"rtx_blackwell", "mxf4nvf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kRtxAsB200, &ue8m0, 16, 16},
    {"rtx_blackwell", "mxf4nvf4", kE2m1, &f32, 64, 35, rz_f32, -139, false, kRtx, &ue8m0, 32, 16},
};

uint32_t infinity(const Format& f, bool negative) {
  return static_cast<uint32_t>((f.max_code() + 1) | (negative ? f.sign_mask() : 0));
}

bool is_nan(const Format& f, uint32_t code) { return decode(f, code).is_nan(); }

// The part of an operand that one chunk takes.
DotOperand part(const DotRule& rule, const DotOperand& o, size_t first, size_t count) {
  DotOperand out{o.format, o.codes.subspan(first, count)};
  if (rule.scale != nullptr)
    out.scales = o.scales.subspan(first / static_cast<size_t>(rule.scale_vector), rule.scales(count));
  return out;
}

// Sets chunk.special and its result where NaN or infinity decides.
bool specials(const DotRule& rule, DotChunk& chunk, const DotOperand& a, const DotOperand& b, uint32_t c) {
  bool positive = false;
  bool negative = false;
  const auto nan = [&](const char* why) {
    chunk.special = why;
    chunk.result = static_cast<uint32_t>(rule.output->canonical_nan());
    return true;
  };
  const auto infinite = [&](bool sign) { (sign ? negative : positive) = true; };
  for (size_t i = 0; i < a.scales.size(); ++i)
    if (is_nan(*rule.scale, a.scales[i]) || is_nan(*rule.scale, b.scales[i])) return nan("a scale is NaN");
  const bool may = a.format->has_nan() || b.format->has_nan();
  for (size_t i = 0; may && i < a.codes.size(); ++i) {
    const Exact x = decode(*a.format, a.codes[i]);
    const Exact y = decode(*b.format, b.codes[i]);
    if (x.is_nan() || y.is_nan()) return nan("an operand is NaN");
    if (!x.is_infinity() && !y.is_infinity()) continue;
    if (x.is_zero() || y.is_zero()) return nan("infinity times zero");
    infinite(x.negative != y.negative);
  }
  const Exact z = decode(*rule.output, c);
  if (z.is_nan()) return nan("C is NaN");
  if (z.is_infinity()) infinite(z.negative);
  if (positive && negative) return nan("infinities of both signs");
  if (!positive && !negative) return false;
  chunk.special = "a term is infinite";
  chunk.result = infinity(*rule.output, negative);
  return true;
}

// The term of `count` products from `first` on.
DotTerm products(const DotRule& rule, const DotOperand& a, const DotOperand& b, size_t first, size_t count) {
  const Format& fa = *a.format;
  const Format& fb = *b.format;
  const bool grouped = rule.group > 1;
  int exponent = fa.emin() + fb.emin();
  int64_t sum = 0;
  bool negative = false;
  bool zero = true;  // all products are: a sum of 0 that cancels keeps its exponent
  for (size_t i = first; i < first + count; ++i) {
    const Operand x = operand(fa, a.codes[i]);
    const Operand y = operand(fb, b.codes[i]);
    if (!grouped) exponent = x.exponent + y.exponent;
    const auto product =
        static_cast<int64_t>((x.significand * y.significand) << (x.exponent + y.exponent - exponent));
    negative = x.negative != y.negative;
    zero = zero && product == 0;
    sum += negative ? -product : product;
  }
  DotTerm t{grouped ? sum < 0 : negative,
            static_cast<uint64_t>(sum < 0 ? -sum : sum),
            fa.fraction_bits + fb.fraction_bits,
            exponent,
            0,
            false};
  if (rule.scale != nullptr) {
    const size_t at = first / static_cast<size_t>(rule.scale_vector);
    const Operand x = operand(*rule.scale, a.scales[at]);
    const Operand y = operand(*rule.scale, b.scales[at]);
    const uint64_t scale = x.significand * y.significand;
    zero = zero || scale == 0;
    t.significand *= scale;
    t.fraction += 2 * rule.scale->fraction_bits;
    t.exponent += x.exponent + y.exponent;
  }
  if (zero) t.exponent = rule.zero_exponent;
  return t;
}

DotTerm addend(const DotRule& rule, uint32_t code) {
  const Operand o = operand(*rule.output, code);
  return {o.negative,
          o.significand,
          rule.output->fraction_bits,
          o.significand == 0 ? rule.zero_exponent : o.exponent,
          0,
          false};
}

uint32_t one_chunk(const DotRule& rule, const DotOperand& a, const DotOperand& b, uint32_t c,
                   std::vector<DotChunk>* trace) {
  DotChunk chunk;
  if (!specials(rule, chunk, a, b, c)) {
    const auto group = static_cast<size_t>(rule.group);
    chunk.terms.reserve(a.codes.size() / group + 2);
    for (size_t i = 0; i < a.codes.size(); i += group)
      chunk.terms.push_back(products(rule, a, b, i, std::min(group, a.codes.size() - i)));
    chunk.terms.push_back(addend(rule, c));
    sum_aligned(chunk, rule.fraction_bits, rule.rounding);
  }
  const uint32_t result = chunk.result;
  if (trace != nullptr) trace->push_back(std::move(chunk));
  return result;
}

uint32_t chunks(const DotRule& rule, const DotOperand& a, const DotOperand& b, uint32_t c,
                std::vector<DotChunk>* trace) {
  const auto length = static_cast<size_t>(rule.length);
  for (size_t i = 0; i < a.codes.size(); i += length) {
    const size_t n = std::min(length, a.codes.size() - i);
    c = one_chunk(rule, part(rule, a, i, n), part(rule, b, i, n), c, trace);
  }
  return c;
}

// fp8 mma.sync of sm_90 and sm_100: through the fp16 units.
uint32_t emulated(const DotRule& rule, const DotOperand& a, const DotOperand& b, uint32_t c,
                  std::vector<DotChunk>* trace) {
  uint32_t sum = 0;
  for (const size_t half : {size_t{0}, size_t{2}}) {
    std::vector<uint32_t> x;
    std::vector<uint32_t> y;
    for (size_t k = 0; k < a.codes.size(); ++k) {
      if (k % 4 / 2 * 2 != half) continue;
      x.push_back(a.codes[k]);
      y.push_back(b.codes[k]);
    }
    sum = chunks(rule, {a.format, x}, {b.format, y}, sum, trace);
  }
  return static_cast<uint32_t>(add(*rule.output, sum, c, {}));
}

}  // namespace

std::span<const DotRule> dot_rules() { return kRules; }

const DotRule* find_dot_rule(std::string_view architecture, std::string_view instruction, const Format& a,
                             const Format& b, const Format& output, const Format* scale, int scale_vector) {
  for (const DotRule& r : kRules)
    if (r.output == &output && r.scale == scale && r.scale_vector == scale_vector && r.takes(a, b) &&
        r.instruction == instruction && r.architecture == architecture)
      return &r;
  return nullptr;
}

uint32_t dot(const DotRule& rule, const DotOperand& a, const DotOperand& b, uint32_t c,
             std::vector<DotChunk>* trace) {
  const size_t k = a.codes.size();
  if (!rule.takes(*a.format, *b.format) || b.codes.size() != k || a.scales.size() != rule.scales(k) ||
      b.scales.size() != rule.scales(k))
    throw std::invalid_argument("dot: types or counts that the rule does not take");
  return rule.emulated ? emulated(rule, a, b, c, trace) : chunks(rule, a, b, c, trace);
}

}  // namespace bitwell::number
