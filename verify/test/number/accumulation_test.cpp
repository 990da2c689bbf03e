// The direct evaluation of accumulation orders, and its fp16 helpers, against the definition.
#include "model/number/accumulation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "model/number/arithmetic.h"
#include "model/number/half.h"
#include "model/number/simd_level.h"
#include "model/number/tile/accumulation_tile.h"

using namespace bitwell::number;

namespace {

TEST(Half, RoundingAFloatIsTheDefinitions) {
  for (uint32_t high = 0; high < 1u << 20; ++high)
    for (const uint32_t low : {0u, 1u, 0xFFFu}) {
      const uint32_t bits = high << 12 | low;
      const Exact v = read(f32, bits, false);
      ASSERT_EQ(float_to_half(std::bit_cast<float>(bits)), write(f16, v, {})) << std::hex << bits;
    }
}

TEST(Half, FusedMultiplyAddRoundsOnce) {
  std::mt19937_64 random(3);
  const auto check = [](uint16_t a, uint16_t b, uint16_t c) {
    const float got = half_fma(half_to_float(a), half_to_float(b), half_to_float(c));
    const auto expected = static_cast<uint16_t>(fma(f16, a, b, c, {}));
    ASSERT_EQ(float_to_half(got), expected) << std::hex << a << " " << b << " " << c;
  };
  check(0x3E00, 0x3955, 0x0001);  // 1.5 * 683/1024 + 2^-24: an fma done in fp32 rounds twice here
  check(0x3E00, 0x3955, 0x8001);
  for (int i = 0; i < 2'000'000; ++i) {
    const uint64_t r = random();
    check(static_cast<uint16_t>(r), static_cast<uint16_t>(r >> 16), static_cast<uint16_t>(r >> 32));
  }
}

// Operands of one dot product, small and shrinking.
struct Operands {
  std::vector<uint8_t> a, b, sfa, sfb;
  DotOperands view() const { return {a, b, sfa, sfb}; }
};

Operands operands_of(const std::vector<uint8_t>& nibbles, size_t groups) {
  Operands o;
  for (size_t i = 0; i < 16 * groups; ++i) {
    o.a.push_back(nibbles[2 * i] & 15);
    o.b.push_back(nibbles[2 * i + 1] & 15);
  }
  for (size_t g = 0; g < groups; ++g) {
    o.sfa.push_back(0x38);  // 1
    o.sfb.push_back(0x38);
  }
  return o;
}

// With scales of one and few terms every partial sum is exact in fp16, so that the order cannot matter.
RC_GTEST_PROP(Accumulation, AllOrdersAgreeWhereEveryPartialSumIsExact, ()) {
  const auto nibbles = *rc::gen::container<std::vector<uint8_t>>(2 * 16 * 4, rc::gen::arbitrary<uint8_t>())
                            .as("nibbles of a and b");
  std::vector<uint8_t> small = nibbles;
  for (uint8_t& n : small)
    n &= 0xB;  // magnitudes up to 1.5: 64 products of at most 2.25 stay below 256, in quarters
  const Operands o = operands_of(small, 4);
  double exact = 0;
  constexpr double values[16] = {0, .5, 1, 1.5, 0, 0, 0, 0, 0, -.5, -1, -1.5, 0, 0, 0, 0};
  for (size_t i = 0; i < o.a.size(); ++i) exact += values[o.a[i]] * values[o.b[i]];
  for (const GroupSum group : {GroupSum::scaled_products_f32, GroupSum::products_times_scale_f32,
                               GroupSum::running_f16x2, GroupSum::running_f16})
    for (const Combine combine : {Combine::butterfly, Combine::shuffle_down, Combine::sequential}) {
      const Accumulation order{.name = "any", .threads = 4, .tile = 16, .group = group, .combine = combine};
      RC_ASSERT(half_to_float(evaluate(order, o.view())) == exact);
    }
  for (const GroupSum group :
       {GroupSum::fma_chain_f32, GroupSum::two_chains_f16x2, GroupSum::one_chain_f16x2})
    for (const Join join : {Join::multiply_add, Join::fused, Join::gathered}) {
      const Accumulation order{.name = "any", .threads = 1, .tile = 64, .group = group, .join = join};
      RC_ASSERT(half_to_float(evaluate(order, o.view())) == exact);
    }
}

// Directed: 2048 + 1 + 1 in fp16 is 2048 one after the other, 2050 where the ones meet first.
TEST(Accumulation, OrdersDifferWhereFp16SwampsASmallTerm) {
  Operands o = operands_of(std::vector<uint8_t>(2 * 48, 0), 3);
  const auto put = [&](size_t k, uint8_t code) {
    o.a[k] = code;
    o.b[k] = 2;  // 1
  };
  o.sfa[0] = 0x7E;  // 448 * 4 = 1792, and 256 more
  put(0, 6);
  o.sfa[1] = 0x78;  // 256
  put(16, 2);
  put(32, 2);
  put(33, 2);
  const Accumulation serial{.name = "serial", .group = GroupSum::running_f16};
  const Accumulation pairs{.name = "pairs", .tile = 48, .group = GroupSum::running_f16x2};
  EXPECT_EQ(half_to_float(evaluate(serial, o.view())), 2048);
  EXPECT_EQ(half_to_float(evaluate(pairs, o.view())),
            2048);  // even: 2048 + 1 = 2048 (tie to even); odd: 1; 2049 -> 2048
  const Accumulation wide{.name = "wide", .group = GroupSum::scaled_products_f32};
  EXPECT_EQ(half_to_float(evaluate(wide, o.view())), 2050);
}

// Of A or of B, evaluated directly and by every instruction set's lanes.
TEST(Accumulation, ANaNScaleMakesTheSumTheCanonicalNaN) {
  const std::vector<uint8_t> codes(64, 2);
  for (const GroupSum group : {GroupSum::scaled_products_f32, GroupSum::products_times_scale_f32,
                               GroupSum::running_f16x2, GroupSum::running_f16})
    for (const uint8_t nan : {0x7F, 0xFF})
      for (const size_t of_a : {0, 1}) {
        std::vector<uint8_t> scales[2] = {std::vector<uint8_t>(4, 0x38), std::vector<uint8_t>(4, 0x38)};
        scales[of_a][2] = nan;
        const Accumulation order{.name = "one", .group = group};
        EXPECT_EQ(evaluate(order, {codes, codes, scales[1], scales[0]}), 0x7FFF);
        const AccumulationColumns columns(codes, scales[0], 1, codes.size());
        for (const char* level : {"scalar", "avx2", "avx512"}) {
          uint16_t c = 0;
          if (!has_level(level)) continue;
          accumulation_tile(order, codes, scales[1], 1, columns, {&c, 1}, level);
          EXPECT_EQ(c, 0x7FFF) << level;
        }
      }
}

TEST(Accumulation, AnEmptySumIsPlusZero) {
  const Operands o = operands_of({}, 0);
  EXPECT_EQ(evaluate({.name = "empty"}, o.view()), 0);
}

}  // namespace
