// Which wrong parameters of a row directed operands can tell from the right ones.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>

#include "dot_draw.h"
#include "model/number/aligned_sum.h"
#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::number {
namespace {

// Directed operands at a row's truncation boundary: C = 1 decides the largest exponent, and products of
// 2^-(F - 1) .. 2^-(F + 1) times odd significands stand just above, on and below the last kept bit.
std::vector<Draw> directed(const DotRule& r, const Format& input) {
  std::vector<Draw> out;
  const auto code = [&](double v) {
    return static_cast<uint32_t>(encode(input, round(input, decode(f64, std::bit_cast<uint64_t>(v)),
                                                     Rounding::nearest_even, Overflow::saturate)));
  };
  const int reach = input.bias - 1 + input.fraction_bits;  // 2^-reach is the least subnormal
  for (int below = r.fraction_bits - 3; below <= r.fraction_bits + 3; ++below)
    for (const double big : {1.0, 1.5})
      for (const double small : {1.0, 1.5})
        for (const bool minus : {false, true}) {
          // The large term is a product where the format reaches, so that the small one can be 2^-below of
          // it.
          const int high = std::max(0, below - 2 * (reach - input.fraction_bits));
          if (high > 2 * input.emax()) continue;
          Draw d{Words(static_cast<size_t>(2 * r.length), 0), Words(static_cast<size_t>(2 * r.length), 0), 0};
          d.a[0] = code(std::ldexp(big, (high + 1) / 2));
          d.b[0] = code(std::ldexp(1.0, high / 2));
          const int low = high - below;
          for (size_t i = 1; i < static_cast<size_t>(2 * r.length); ++i) {
            d.a[i] = code(std::ldexp(minus ? -small : small, low / 2));
            d.b[i] = code(std::ldexp(1.0, low - low / 2));
          }
          out.push_back(d);
          // The large term leaves again at the end, so that what was kept is seen.
          Draw back = d;
          for (const size_t last :
               {static_cast<size_t>(r.length) - 1, static_cast<size_t>(2 * r.length) - 1}) {
            back.a[last] = d.a[0] ^ static_cast<uint32_t>(input.sign_mask() << input.ignored_low);
            back.b[last] = d.b[0];
            out.push_back(back);
          }
        }
  // Many large terms carry beyond the result's bits; a last one decides how they are rounded.
  for (int e = 1; e < r.fraction_bits + 3; ++e) {
    Draw d{Words(static_cast<size_t>(r.length), code(1.5)), Words(static_cast<size_t>(r.length), code(1.5)),
           0};
    d.a.back() = code(std::ldexp(1.875, -e / 2));
    d.b.back() = code(std::ldexp(1.0, -e + e / 2));
    out.push_back(d);
  }
  return out;
}

// fp32 with the 13 fraction bits of the fp8 rows, for a wrong rounding of them.
constexpr Format e8m13{"e8m13", 22, 32, 8, 13, 127, true, Special::ieee, 10, "a row of the test"};

// Wrong parameters, each caught by the directed operands: the mutation table.
TEST(Rule, DirectedOperandsCatchEveryWrongParameter) {
  std::printf("%-10s %-9s %-5s %-4s  %6s %6s %6s %6s\n", "arch", "instr", "in", "out", "F-1", "F+1", "L/2",
              "round");
  for (const DotRule& r : dot_rules()) {
    if (r.emulated || r.scale != nullptr) continue;
    const Format& input = *r.inputs[0];
    const std::vector<Draw> all = directed(r, input);
    DotRule wrong[4] = {r, r, r, r};
    wrong[0].fraction_bits -= 1;
    wrong[1].fraction_bits += 1;
    wrong[2].length /= 2;
    size_t caught[4] = {};
    for (const Draw& d : all) {
      const uint32_t right = dot(r, input, d.a, d.b, d.c);
      for (int m = 0; m < 3; ++m) caught[m] += dot(wrong[m], input, d.a, d.b, d.c) != right ? 1 : 0;
      // Another rounding of the same sums, chunk by chunk.
      std::vector<DotChunk> trace;
      dot(r, input, d.a, d.b, d.c, &trace);
      for (const DotChunk& chunk : trace) {
        if (!chunk.special.empty() || chunk.sum == 0) continue;
        Exact v;
        v.negative = chunk.sum < 0;
        v.significand = static_cast<u128>(std::abs(chunk.sum));
        v.exponent = chunk.largest - r.fraction_bits;
        const Rounding other =
            r.rounding == DotRounding::rne_f16 ? Rounding::toward_zero : Rounding::nearest_even;
        const Format& grid = r.rounding == DotRounding::rz_e8m13 ? e8m13 : *r.output;
        const auto code = static_cast<uint32_t>(encode(grid, round(grid, v, other, Overflow::ieee)));
        if (code != chunk.result) {
          ++caught[3];
          break;
        }
      }
    }
    std::printf("%-10s %-9s %-5s %-4s  %6zu %6zu %6zu %6zu  of %zu\n", std::string(r.architecture).c_str(),
                std::string(r.instruction).c_str(), std::string(input.name).c_str(),
                std::string(r.output->name).c_str(), caught[0], caught[1], caught[2], caught[3], all.size());
    for (int m = 0; m < 4; ++m)
      EXPECT_GT(caught[m], 0u) << r.architecture << " " << input.name << " mutation " << m;
  }
}

// Wrong parameters of block-scaled rows. Random operands do not tell 34, 35 and 36 fraction bits apart: a
// group under the largest scales that cancels beside groups of the least does.
TEST(Rule, DirectedOperandsCatchEveryWrongParameterOfScaledRows) {
  for (const DotRule& r : dot_rules()) {
    if (r.scale == nullptr) continue;
    constexpr size_t count = 6;
    DotRule wrong[count] = {r, r, r, r, r, r};
    wrong[0].fraction_bits -= 1;
    wrong[1].fraction_bits += 1;
    wrong[2].length /= 2;
    wrong[3].group = r.group == 1 ? 16 : r.group / 2;
    wrong[4].rounding = DotRounding::rz_e8m13;
    wrong[5].scale_vector = 2 * r.length;  // one scale for all
    size_t caught[count] = {};
    std::mt19937_64 random(10);
    const auto k = static_cast<size_t>(2 * r.length);
    const Format& f = *r.inputs[0];
    for (int n = 0; n < 4000; ++n) {
      Draw d = draw(f, f32, k, random, 1);
      Scales sa;
      Scales sb;
      const size_t loud = random() % r.scales(k);  // the scale whose products cancel
      for (size_t s = 0; s < r.scales(k); ++s)
        for (Scales* v : {&sa, &sb}) {
          const auto low = static_cast<uint8_t>(1 + random() % 7);
          if (r.scale == &ue4m3)
            v->push_back(s == loud ? static_cast<uint8_t>(0x78 + random() % 7) : low);
          else
            v->push_back(static_cast<uint8_t>(s == loud ? 135 : 116 + low));
        }
      const auto vector = static_cast<size_t>(r.scale_vector);
      for (size_t i = loud * vector; i < (loud + 1) * vector; i += 2) {
        d.a[i + 1] = d.a[i] ^ static_cast<uint32_t>(f.sign_mask());
        d.b[i + 1] = d.b[i];
      }
      d.c = n % 2 == 0 ? 0 : d.c;
      const uint32_t right = number::dot(r, {&f, d.a, sa}, {&f, d.b, sb}, d.c);
      for (size_t m = 0; m < count; ++m) {
        const size_t scales = wrong[m].scales(k);
        caught[m] += number::dot(wrong[m], {&f, d.a, std::span(sa).first(scales)},
                                 {&f, d.b, std::span(sb).first(scales)}, d.c) != right;
      }
    }
    for (size_t m = 0; m < count; ++m)
      EXPECT_GT(caught[m], 0u) << r.instruction << " " << r.scale->name << " " << r.scale_vector
                               << " mutation " << m;
  }
}

}  // namespace
}  // namespace bitwell::number
