// What a tensor core computes: products aligned to the largest exponent, cut off, summed exactly, rounded
// once (T-FDPA, truncated fused dot-product-add; Xie et al., arXiv 2511.10909; Khattak and Mikaitis, arXiv
// 2512.07004; Fasi et al., PeerJ CS 7:e330). The plain integer definition, one rule with a row of parameters
// an architecture and type.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/number/format.h"

namespace bitwell::number {

// How the sum becomes the result.
enum class DotRounding : uint8_t {
  rz_f32,    // to fp32, towards zero
  rz_e8m13,  // the same with 13 fraction bits
  rne_f16    // to fp16, to nearest even
};

// Terms keep `fraction_bits` below the largest exponent; longer K goes `length` products at a time, each
// result the next one's addend. A zero term takes part with exponent `zero_exponent`.
//
// Block-scaled rows (PTX ISA 9.0, 9.7.16.10): each operand has a scale every `scale_vector` elements of K. A
// term is `group` products, summed exactly and then multiplied by both scales' exact product; the scales'
// exponents join the term's. A term of several products counts from its format's least exponent, so that for
// E2M1 the scales alone make its exponent.
struct DotRule {
  std::string_view architecture;  // volta, turing, ampere, ada, hopper, blackwell, rtx_blackwell (sm_120 on)
  std::string_view instruction;   // mma.sync, wgmma, tcgen05 or one of its block-scaled kinds
  std::array<const Format*, 6> inputs;
  const Format* output;
  int length;
  int fraction_bits;
  DotRounding rounding;
  int zero_exponent;
  // fp8 through the fp16 units: the products with k % 4 in {0, 1}, their result the addend of those in {2,
  // 3}, each by this row's parameters; C is added last, with one rounding of the output's format.
  bool emulated;
  std::string_view evidence;
  const Format* scale = nullptr;  // nullptr: no scales
  int scale_vector = 0;
  int group = 1;

  // A and B may have different ones of `inputs`: PTX lets all formats of 8 bits and fewer meet. Through the
  // fp16 units with fp32 results they are not known: an H200 gave other bits than this row in 18 of 3.9
  // million.
  constexpr bool mixes() const {
    return inputs[1] != nullptr && inputs[0]->container <= 8 && !(emulated && output == &f32);
  }
  constexpr bool takes(const Format& a, const Format& b) const {
    bool has_a = false;
    bool has_b = false;
    for (const Format* f : inputs) {
      has_a = has_a || f == &a;
      has_b = has_b || f == &b;
    }
    return has_a && has_b && (mixes() || &a == &b);
  }
  // How the rule is known for these formats: device words and published models have A and B alike, but for
  // fp8 on Hopper and, without scales, on RTX Blackwell.
  constexpr std::string_view evidence_for(const Format& a, const Format& b) const {
    const bool mixed_fp8 = architecture == "hopper" || (architecture == "rtx_blackwell" && scale == nullptr &&
                                                        a.bits == 8 && b.bits == 8);
    return &a == &b || mixed_fp8 ? evidence : "manual: formats that PTX lets meet, no words at hand";
  }
  // The scales that each operand has for `k` elements.
  constexpr size_t scales(size_t k) const {
    const auto vector = static_cast<size_t>(scale_vector);
    return scale == nullptr ? 0 : (k + vector - 1) / vector;
  }
};
std::span<const DotRule> dot_rules();
// The row, or nullptr: the architecture has no such instruction for these types.
const DotRule* find_dot_rule(std::string_view architecture, std::string_view instruction, const Format& a,
                             const Format& b, const Format& output, const Format* scale = nullptr,
                             int scale_vector = 0);

// One operand: codes of its format along K, and their scales.
struct DotOperand {
  const Format* format;
  std::span<const uint32_t> codes;
  std::span<const uint8_t> scales{};
};

// One addend of a chunk, as the unit sees it.
struct DotTerm {
  bool negative;
  uint64_t significand;  // of the exact product or sum, with `fraction` bits after the point
  int fraction;
  int exponent;  // the encoded one: products are never renormalised; zero_exponent for zero
  int64_t kept;  // in units of 2^(largest - fraction_bits), towards zero, with its sign
  bool cut;      // bits were lost
};
// One chunk: the terms (C last), the largest exponent, the sum in the same units and the result's code.
struct DotChunk {
  std::vector<DotTerm> terms;
  int largest = 0;
  int64_t sum = 0;
  uint32_t result = 0;
  std::string_view special;  // not empty: NaN or infinity decided, and why
};

// a . b + c, with equally many codes in `a` and `b`; of rule.output in `c` and the result. NaN is 0x7FFFFFFF
// or 0x7FFF. `trace`, if given, gets every chunk. std::invalid_argument for other types or counts than the
// row's.
uint32_t dot(const DotRule& rule, const DotOperand& a, const DotOperand& b, uint32_t c,
             std::vector<DotChunk>* trace = nullptr);

}  // namespace bitwell::number
