// Operands for dot products, and the rows that tests of them ask most.
#pragma once
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "model/number/dot.h"

namespace bitwell::number {

using Words = std::vector<uint32_t>;
using Scales = std::vector<uint8_t>;

// A and B of one format.
inline const DotRule* find_dot_rule(std::string_view architecture, std::string_view instruction,
                                    const Format& input, const Format& output) {
  return number::find_dot_rule(architecture, instruction, input, input, output);
}
inline uint32_t dot(const DotRule& rule, const Format& f, const Words& a, const Words& b, uint32_t c,
                    std::vector<DotChunk>* trace = nullptr) {
  return number::dot(rule, {&f, a}, {&f, b}, c, trace);
}
// One K step of the block-scaled kinds.
inline uint32_t mxf8f6f4_dot(const Format& f, const Words& a, const Words& b, uint32_t c, uint8_t sa,
                             uint8_t sb) {
  const DotRule* rule = number::find_dot_rule("blackwell", "mxf8f6f4", f, f, f32, &ue8m0, 32);
  return number::dot(*rule, {&f, a, {&sa, 1}}, {&f, b, {&sb, 1}}, c);
}
inline uint32_t mxf4nvf4_dot(const Words& a, const Words& b, uint32_t c, const Format& scale,
                             const Scales& sa, const Scales& sb, std::vector<DotChunk>* trace = nullptr) {
  const DotRule* rule = number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &scale,
                                              static_cast<int>(64 / sa.size()));
  return number::dot(*rule, {&e2m1, a, sa}, {&e2m1, b, sb}, c, trace);
}
// Operands of a regime, drawn so that boundaries come up: 0 uniform bits, 1 near exponents, 2 wide exponents,
// 3 cancelling pairs, 4 specials, 5 subnormals, 6 sparse.
struct Draw {
  Words a, b;
  uint32_t c;
};
inline uint32_t any_code(const Format& f, std::mt19937_64& random, int regime) {
  const uint64_t bits = random();
  const uint64_t sign = (bits >> 60 & 1) != 0 ? f.sign_mask() : 0;
  const uint64_t fraction = bits & f.fraction_mask();
  uint64_t code = bits & (f.magnitude_mask() | f.sign_mask());
  if (regime == 1 || regime == 3)
    code =
        sign | fraction | static_cast<uint64_t>(f.bias + static_cast<int>(bits >> 40 & 1)) << f.fraction_bits;
  if (regime == 5) code = sign | fraction;
  if (regime == 6 && (bits >> 50) % 4 != 0) code = sign;
  const bool special = regime == 4 && (bits >> 45) % 16 == 0;
  if (special)
    code = sign |
           ((bits >> 44 & 1) != 0 ? f.magnitude_mask() : f.max_code() + (f.special == Special::none ? 0 : 1));
  if (!special && f.special != Special::none && (code & f.magnitude_mask()) > f.max_code())
    code &= ~(f.max_code() + 1) | f.sign_mask();
  return static_cast<uint32_t>((code & (f.magnitude_mask() | f.sign_mask())) << f.ignored_low);
}
inline Draw draw(const Format& input, const Format& output, size_t k, std::mt19937_64& random, int regime) {
  Draw d;
  for (size_t i = 0; i < k; ++i) {
    d.a.push_back(any_code(input, random, regime));
    d.b.push_back(any_code(input, random, regime));
    if (regime == 3 && i % 2 == 1) {  // a[i] b[i] = -a[i-1] b[i-1], now and then off by a bit
      d.a[i] = d.a[i - 1] ^ static_cast<uint32_t>(input.sign_mask() << input.ignored_low);
      d.b[i] = d.b[i - 1] ^ static_cast<uint32_t>(random() % 4 == 0 ? uint64_t{1} << input.ignored_low : 0);
    }
  }
  d.c = any_code(output, random, regime);
  return d;
}

}  // namespace bitwell::number
