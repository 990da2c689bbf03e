// The rule of a dot product against an oracle that shares no code, in every row of the table.
#include "model/number/dot.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "dot_draw.h"
#include "verify/oracle/tensor_dot.h"

namespace bitwell::number {
namespace {

oracle::FieldFormat fields_of(const Format& f) {
  return {f.exponent_bits, f.fraction_bits, f.bias,
          f.special == Special::ieee       ? 1
          : f.special == Special::nan_only ? 2
                                           : 0,
          f.ignored_low};
}
int result_of(DotRounding r) { return r == DotRounding::rz_f32 ? 0 : r == DotRounding::rz_e8m13 ? 1 : 2; }

TEST(Rule, EqualsTheOracleInEveryRowAndRegime) {
  std::mt19937_64 random(5);
  size_t compared = 0;
  for (const DotRule& r : dot_rules()) {
    if (r.emulated || r.scale != nullptr)
      continue;  // built of the rows below it, judged by words; scaled: below
    for (const Format* input : r.inputs) {
      if (input == nullptr) continue;
      for (int regime = 0; regime < 7; ++regime)
        for (int n = 0; n < 300; ++n) {
          const Draw d = draw(*input, *r.output, static_cast<size_t>(n % 3 == 0 ? 2 * r.length : r.length),
                              random, regime);
          const uint32_t expected =
              oracle::fused_dot({r.length, r.fraction_bits, result_of(r.rounding), r.zero_exponent},
                                fields_of(*input), d.a, fields_of(*input), d.b, d.c);
          ASSERT_EQ(dot(r, *input, d.a, d.b, d.c), expected)
              << r.architecture << " " << r.instruction << " " << input->name << " regime " << regime
              << " draw " << n;
          ++compared;
        }
    }
  }
  std::printf("%zu dot products\n", compared);
}

TEST(Rule, BlockScaledEqualsTheOracle) {
  std::mt19937_64 random(6);
  for (const bool exponents : {false, true})
    for (const size_t scales : {size_t{4}, size_t{2}}) {
      if (!exponents && scales == 2) continue;
      for (int n = 0; n < 20000; ++n) {
        const int regime = n % 7;
        Draw d = draw(e2m1, f32, 64, random, regime == 4 ? 0 : regime);
        if (regime == 6)
          for (size_t i = 0; i < 64; ++i)
            if (i / 16 != static_cast<size_t>(n) / 7 % 4) d.a[i] = 0;
        d.c = n % 5 == 0 ? 0 : any_code(f32, random, n % 11 == 0 ? 4 : n % 2 == 0 ? 0 : 1);
        std::vector<uint8_t> sa;
        std::vector<uint8_t> sb;
        for (size_t i = 0; i < scales; ++i)
          for (std::vector<uint8_t>* s : {&sa, &sb})
            s->push_back(static_cast<uint8_t>(exponents           ? 110 + random() % 40
                                              : random() % 8 == 0 ? random()
                                              : random() % 3 == 0 ? 0x78 + random() % 7
                                                                  : random() % 0x7F));
        ASSERT_EQ(mxf4nvf4_dot(d.a, d.b, d.c, exponents ? ue8m0 : ue4m3, sa, sb),
                  oracle::scaled_fp4_dot(d.a, d.b, d.c, exponents, sa, sb))
            << "scales " << scales << " draw " << n;
      }
    }
}

// The rows typed again as published (MMA-Sim, arXiv 2511.10909, and Khattak and Mikaitis, arXiv 2512.07004;
// Hopper's exponents of zero with fp16 results as measured on an H200): length, fraction bits, rounding,
// exponent of zero.
TEST(Rule, TheTableIsThePublishedOne) {
  struct Row {
    const char *architecture, *instruction, *input, *output;
    int length, fraction_bits;
    DotRounding rounding;
    int zero_exponent;
  };
  using enum DotRounding;
  for (const Row& r : {Row{"volta", "mma.sync", "f16", "f32", 4, 23, rz_f32, -131},
                       Row{"volta", "mma.sync", "f16", "f16", 4, 23, rne_f16, -19},
                       Row{"turing", "mma.sync", "f16", "f32", 8, 24, rz_f32, -132},
                       Row{"turing", "mma.sync", "f16", "f16", 8, 24, rne_f16, -20},
                       Row{"ampere", "mma.sync", "tf32", "f32", 4, 24, rz_f32, -132},
                       Row{"ampere", "mma.sync", "bf16", "f32", 8, 24, rz_f32, -132},
                       Row{"ampere", "mma.sync", "f16", "f16", 8, 24, rne_f16, -20},
                       Row{"ada", "mma.sync", "e4m3", "f32", 16, 13, rz_e8m13, -132},
                       Row{"ada", "mma.sync", "e5m2", "f16", 16, 13, rne_f16, -20},
                       Row{"hopper", "wgmma", "tf32", "f32", 8, 25, rz_f32, -133},
                       Row{"hopper", "wgmma", "bf16", "f32", 16, 25, rz_f32, -133},
                       Row{"hopper", "wgmma", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"hopper", "mma.sync", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"hopper", "wgmma", "e4m3", "f32", 32, 13, rz_e8m13, -133},
                       Row{"hopper", "wgmma", "e5m2", "f16", 32, 13, rne_f16, -21},
                       Row{"blackwell", "tcgen05", "tf32", "f32", 8, 25, rz_f32, -133},
                       Row{"blackwell", "tcgen05", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"blackwell", "tcgen05", "e2m1", "f32", 32, 25, rz_f32, -133},
                       Row{"blackwell", "tcgen05", "e3m2", "f16", 32, 25, rne_f16, -21},
                       Row{"blackwell", "mma.sync", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"rtx_blackwell", "mma.sync", "tf32", "f32", 8, 25, rz_f32, -133},
                       Row{"rtx_blackwell", "mma.sync", "bf16", "f32", 16, 25, rz_f32, -133},
                       Row{"rtx_blackwell", "mma.sync", "f16", "f16", 16, 25, rne_f16, -21},
                       Row{"rtx_blackwell", "mma.sync", "e4m3", "f32", 32, 25, rz_f32, -133},
                       Row{"rtx_blackwell", "mma.sync", "e2m1", "f16", 32, 25, rne_f16, -21}}) {
    const DotRule* rule =
        find_dot_rule(r.architecture, r.instruction, *find_format(r.input), *find_format(r.output));
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->length, r.length) << r.architecture << r.input;
    EXPECT_EQ(rule->fraction_bits, r.fraction_bits) << r.architecture << r.input;
    EXPECT_EQ(rule->rounding, r.rounding) << r.architecture << r.input;
    EXPECT_EQ(rule->zero_exponent, r.zero_exponent) << r.architecture << r.input;
  }
}

// 2^-25 is half of the least fp16 value, and a small product decides the tie if it is kept: the least that is
// tells the exponent that the zeros beside it take part with. H200 for both of hopper's rows (device_test),
// MMA-Sim for the others. (For fp32 results no exponent of zero in the table can be seen: what it pushes out
// lies below the least fp32 value.)
TEST(Rule, TheExponentOfZeroIsSeenInFp16Results) {
  const auto least_kept = [&](const char* architecture, const char* instruction) {
    for (int e = -48; e < -38; ++e) {
      const Words a{0x0400, 1, 0, 0};               // 2^-14, 2^-24
      const Words b{0x1000, 1u << (e + 48), 0, 0};  // 2^-11, 2^(e + 24)
      if (dot(*find_dot_rule(architecture, instruction, f16, f16), f16, a, b, 0) == 1) return e;
    }
    return 0;
  };
  EXPECT_EQ(least_kept("volta", "mma.sync"), -42);
  EXPECT_EQ(least_kept("turing", "mma.sync"), -44);
  EXPECT_EQ(least_kept("ampere", "mma.sync"), -44);
  EXPECT_EQ(least_kept("ada", "mma.sync"), -44);
  EXPECT_EQ(least_kept("hopper", "mma.sync"), -46);
  EXPECT_EQ(least_kept("hopper", "wgmma"), -46);
  EXPECT_EQ(least_kept("blackwell", "mma.sync"), -46);
  EXPECT_EQ(least_kept("blackwell", "tcgen05"), -46);
  EXPECT_EQ(least_kept("rtx_blackwell", "mma.sync"), -46);
}

// Published models of an RTX card and B200 words give block-scaled products one rule.
TEST(Rule, ScaledRowsOfRtxBlackwellAreThoseOfTcgen05) {
  size_t rows = 0;
  for (const DotRule& r : dot_rules()) {
    if (r.architecture != "rtx_blackwell" || r.scale == nullptr) continue;
    const DotRule* other = number::find_dot_rule("blackwell", r.instruction, *r.inputs[0], *r.inputs[0],
                                                 *r.output, r.scale, r.scale_vector);
    ASSERT_NE(other, nullptr) << r.instruction;
    EXPECT_EQ(r.inputs, other->inputs) << r.instruction;
    EXPECT_EQ(r.length, other->length) << r.instruction;
    EXPECT_EQ(r.fraction_bits, other->fraction_bits) << r.instruction;
    EXPECT_EQ(r.rounding, other->rounding) << r.instruction;
    EXPECT_EQ(r.zero_exponent, other->zero_exponent) << r.instruction;
    EXPECT_EQ(r.group, other->group) << r.instruction;
    ++rows;
  }
  EXPECT_EQ(rows, 5u);
}

// What somebody has compared with a device is told apart from what PTX lets meet.
TEST(Rule, EvidenceOfMixedFormatsIsOnlyWhereTheyWereCompared) {
  const auto evidence = [](const char* architecture, const char* instruction, const Format& a,
                           const Format& b, const Format* scale = nullptr) {
    const DotRule* r =
        number::find_dot_rule(architecture, instruction, a, b, f32, scale, scale == nullptr ? 0 : 32);
    return std::string(r->evidence_for(a, b).substr(0, 9));
  };
  EXPECT_EQ(evidence("rtx_blackwell", "mma.sync", e4m3, e5m2), "published");
  EXPECT_EQ(evidence("rtx_blackwell", "mma.sync", e4m3, e2m1), "manual: f");
  EXPECT_EQ(evidence("rtx_blackwell", "mxf8f6f4", e4m3, e5m2, &ue8m0), "manual: f");
  EXPECT_EQ(evidence("rtx_blackwell", "mxf8f6f4", e2m1, e2m1, &ue8m0), "published");
  EXPECT_EQ(evidence("blackwell", "tcgen05", e4m3, e5m2), "manual: f");
}

TEST(Rule, Mxf8f6f4EqualsTheOracle) {
  std::mt19937_64 random(8);
  for (const Format* f : {&e4m3, &e5m2, &e2m3, &e3m2, &e2m1})
    for (int n = 0; n < 7000; ++n) {
      const Draw d = draw(*f, f32, 32, random, n % 7);
      const auto sa = static_cast<uint8_t>(n % 11 == 0 ? random() : 120 + random() % 16);
      const auto sb = static_cast<uint8_t>(n % 13 == 0 ? random() : 120 + random() % 16);
      const uint32_t expected = sa == 0xFF || sb == 0xFF
                                    ? 0x7FFFFFFF
                                    : oracle::fused_dot({32, 25, 0, -133}, fields_of(*f), d.a, fields_of(*f),
                                                        d.b, d.c, sa + sb - 254);
      ASSERT_EQ(mxf8f6f4_dot(*f, d.a, d.b, d.c, sa, sb), expected) << f->name << " draw " << n;
    }
  // F = 25: next to 2^17 (2^8 * 2^9 of E5M2), 2^-8 is the last bit kept and 2^-9 the first one cut.
  Words a(32, 0);
  Words b(32, 0);
  a[0] = a[2] = 0x5C;                                             // 2^8
  b[0] = 0x60;                                                    // 2^9
  b[2] = 0xE0;                                                    // -2^9
  a[1] = 0x1C;                                                    // 2^-8
  b[1] = 0x3C;                                                    // 1
  EXPECT_EQ(mxf8f6f4_dot(e5m2, a, b, 0, 127, 127), 0x3B800000u);  // 2^-8
  a[1] = 0x18;                                                    // 2^-9
  EXPECT_EQ(mxf8f6f4_dot(e5m2, a, b, 0, 127, 127), 0u);
  EXPECT_EQ(mxf8f6f4_dot(e5m2, a, b, 0, 130, 127), 0u);  // scales move the whole sum, not what is kept
}

// Scale-pair exponents and C's exponent at most 15: no product bit is lost: a group's term is a
// multiple of 2^(e - 8), of a quarter times two significands of three fraction bits, its scales' e is at
// least -12, and 35 bits below 2^15 reach down to that 2^-20.
TEST(Blackwell, NoProductBitIsLostUpToExponent15) {
  std::mt19937_64 random(7);
  const auto cuts = [](const DotChunk& chunk) {
    for (size_t i = 0; i + 1 < chunk.terms.size(); ++i)
      if (chunk.terms[i].cut) return true;
    return false;
  };
  for (int n = 0; n < 20000; ++n) {
    const Draw d = draw(e2m1, f32, 64, random, n % 2);
    std::vector<uint8_t> sa;
    std::vector<uint8_t> sb;
    for (int i = 0; i < 4; ++i) {
      // Exponents of a pair sum to at most 15, boundary first.
      const auto top = static_cast<uint8_t>(n % 4 == i ? 0x7E : random() % 0x7F);  // up to 2^8
      sa.push_back(top);
      sb.push_back(static_cast<uint8_t>(random() % 0x78));  // up to 2^7
    }
    const uint32_t c =
        static_cast<uint32_t>(127 + 15 - static_cast<int>(random() % 40)) << 23 | (random() & 0x7FFFFF);
    std::vector<DotChunk> trace;
    mxf4nvf4_dot(d.a, d.b, c, ue4m3, sa, sb, &trace);
    ASSERT_FALSE(cuts(trace[0])) << n;
  }
  // Beyond: one group at 2^16 and one of the least scales, the least product.
  Words a(64, 1);
  std::vector<DotChunk> trace;
  mxf4nvf4_dot(a, a, 0, ue4m3, std::vector<uint8_t>{0x7E, 1, 1, 1}, std::vector<uint8_t>{0x7E, 1, 1, 1},
               &trace);
  EXPECT_FALSE(cuts(trace[0]));  // 16 products of 1/4 make 4: the group's bits reach only 2^-16
  a[17] = 0;
  Words b(64, 1);
  trace.clear();
  for (size_t i = 17; i < 32; ++i)
    a[i] = 0;  // one product of 1/4 with scales of 2^-9: 2^-20, the unit is 2^-19
  mxf4nvf4_dot(a, b, 0, ue4m3, std::vector<uint8_t>{0x7E, 1, 1, 1}, std::vector<uint8_t>{0x7E, 1, 1, 1},
               &trace);
  EXPECT_TRUE(cuts(trace[0]));
}

TEST(Rule, TypesThatAnArchitectureLacksHaveNoRow) {
  EXPECT_EQ(find_dot_rule("volta", "mma.sync", bf16, f32), nullptr);
  EXPECT_EQ(find_dot_rule("ampere", "mma.sync", e4m3, f32), nullptr);
  EXPECT_EQ(find_dot_rule("hopper", "tcgen05", f16, f32), nullptr);
  EXPECT_EQ(find_dot_rule("hopper", "wgmma", e2m1, f32), nullptr);
  EXPECT_EQ(find_dot_rule("hopper", "wgmma", bf16, f16), nullptr);
  EXPECT_EQ(find_dot_rule("blackwell", "tcgen05", f32, f32), nullptr);
  // 16-bit formats do not mix, nor any with e2m1 where there is none; scales are part of the row.
  EXPECT_EQ(number::find_dot_rule("hopper", "wgmma", f16, bf16, f32), nullptr);
  EXPECT_EQ(number::find_dot_rule("hopper", "wgmma", e4m3, e2m1, f32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &ue4m3, 32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf4", e2m1, e2m1, f32, &ue8m0, 16), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "mxf8f6f4", e2m1, e2m1, f32, &ue4m3, 32), nullptr);
  EXPECT_EQ(number::find_dot_rule("blackwell", "tcgen05", e4m3, e4m3, f32, &ue8m0, 32), nullptr);
}

TEST(Rule, OperandsOfOtherTypesOrCountsAreRefused) {
  const DotRule& plain = *find_dot_rule("hopper", "wgmma", e4m3, f32);
  const DotRule& scaled = *number::find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &ue4m3, 16);
  const Words k(64, 0);
  const Words less(63, 0);
  const Scales four(4, 0x38);
  const Scales three(3, 0x38);
  EXPECT_EQ(number::dot(plain, {&e4m3, k}, {&e5m2, k}, 0), 0u);
  EXPECT_EQ(number::dot(scaled, {&e2m1, k, four}, {&e2m1, k, four}, 0), 0u);
  EXPECT_THROW(number::dot(plain, {&e4m3, k}, {&e4m3, less}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(plain, {&e4m3, k}, {&e2m1, k}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(plain, {&e4m3, k, four}, {&e4m3, k}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(scaled, {&e2m1, k, four}, {&e2m1, k, three}, 0), std::invalid_argument);
  EXPECT_THROW(number::dot(scaled, {&e2m1, k}, {&e2m1, k}, 0), std::invalid_argument);
}

// A and B of different formats, in every row where they mix, scaled ones too.
TEST(Rule, MixedFormatsEqualTheOracle) {
  std::mt19937_64 random(9);
  size_t pairs = 0;
  for (const DotRule& r : dot_rules()) {
    if (r.emulated || !r.mixes()) continue;
    for (const Format* fa : r.inputs)
      for (const Format* fb : r.inputs) {
        if (fa == nullptr || fb == nullptr || fa == fb) continue;
        ++pairs;
        for (int n = 0; n < 7 * 60; ++n) {
          const auto k = static_cast<size_t>(r.scale == nullptr && n % 3 == 0 ? 2 * r.length : r.length);
          const Draw x = draw(*fa, *r.output, k, random, n % 7);
          const Draw y = draw(*fb, *r.output, k, random, n % 7);
          const auto sa = static_cast<uint8_t>(120 + random() % 16);
          const auto sb = static_cast<uint8_t>(120 + random() % 16);
          const bool scaled = r.scale != nullptr;
          const uint32_t expected =
              oracle::fused_dot({r.length, r.fraction_bits, result_of(r.rounding), r.zero_exponent},
                                fields_of(*fa), x.a, fields_of(*fb), y.b, x.c, scaled ? sa + sb - 254 : 0);
          const size_t scales = scaled ? 1 : 0;
          ASSERT_EQ(number::dot(r, {fa, x.a, {&sa, scales}}, {fb, y.b, {&sb, scales}}, x.c), expected)
              << r.architecture << " " << r.instruction << " " << fa->name << " " << fb->name << " draw "
              << n;
        }
      }
  }
  EXPECT_EQ(pairs,
            4u * 2 + 6u * 20);  // fp8 of Ada and of Hopper's wgmma; five formats of tcgen05, RTX Blackwell's
                                // mma.sync and the mxf8f6f4 of both
}

}  // namespace
}  // namespace bitwell::number
