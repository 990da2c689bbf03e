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
struct DotRule {
  std::string_view architecture;  // volta, turing, ampere, ada, hopper, blackwell
  std::string_view instruction;   // mma.sync, wgmma, tcgen05; ampere and before: mma.sync
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
};
std::span<const DotRule> dot_rules();
// The row, or nullptr: the architecture has no such instruction for these types.
const DotRule* find_dot_rule(std::string_view architecture, std::string_view instruction, const Format& input,
                             const Format& output);

// One addend of a chunk, as the unit sees it.
struct DotTerm {
  bool negative;
  uint64_t significand;  // of the exact product, with `fraction` bits after the point
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

// a . b + c. Codes of `input` in `a` and `b` (equally many), of rule.output in `c` and the result. NaN is
// 0x7FFFFFFF or 0x7FFF. `trace`, if given, gets every chunk.
uint32_t dot(const DotRule& rule, const Format& input, std::span<const uint32_t> a,
             std::span<const uint32_t> b, uint32_t c, std::vector<DotChunk>* trace = nullptr);

}  // namespace bitwell::number
