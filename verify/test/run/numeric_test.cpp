// What 16-bit arithmetic loses: results that overflow, and sums that are what their larger term alone gives.
#include "model/run/watch/numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "../kernel.h"
#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::run {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Bits of the smaller term, from its first 1 to its last, that stand below the last place of the sum: counted
// one by one.
int lost_one_by_one(float one, float other, float result, bool brain) {
  const double smaller = std::fabs(std::fabs(one) < std::fabs(other) ? one : other);
  if (smaller == 0 || !std::isfinite(smaller)) return 0;
  const int least = brain ? -126 : -14, fraction = brain ? 7 : 10;
  int exponent = least;  // of the result, no subnormal's
  while (std::ldexp(1.0, exponent + 1) <= std::fabs(result)) ++exponent;
  int out = 0;
  for (int place = -200; place < exponent - fraction; ++place) {
    const double above = std::ldexp(std::floor(std::ldexp(smaller, -place - 1)), place + 1);
    const bool begun = smaller >= std::ldexp(1.0, place);  // its first 1 is here or higher
    const bool ended = above != smaller;                   // and its last 1 here or lower
    out += begun && ended ? 1 : 0;
  }
  return out;
}

TEST(Losses, BitsBelowTheLastPlaceOfASum) {
  EXPECT_EQ(run::lost_bits(1, 0x1p-11f, 1, false), 1);
  EXPECT_EQ(run::lost_bits(1, 0x1p-10f, 0x1.004p0f, false), 0);
  EXPECT_EQ(run::lost_bits(1, 0x1p-8f, 1, true), 1);
  EXPECT_EQ(run::lost_bits(1, 0x1p-7f, 0x1.02p0f, true), 0);
  EXPECT_EQ(run::lost_bits(256, 0x1.02p0f, 256, true), 8);
  EXPECT_EQ(run::lost_bits(-0x1p-130f, 0x1p-130f, 0, true), 0);
  for (const bool brain : {false, true}) {
    const int fraction = brain ? 7 : 10, least = brain ? -126 : -14;
    for (const int apart : {0, 1, 3, fraction - 1, fraction, fraction + 1, fraction + 2, 2 * fraction, 30})
      for (const int high : {least, least + 1, 0, 1, 8, 15})
        for (const uint32_t bits : {0u, 1u, 2u, 5u, (1u << fraction) - 1}) {
          const float one =
              std::ldexp(1.0f + static_cast<float>(bits) / static_cast<float>(1 << fraction), high);
          const float other = std::ldexp(
              1.0f + static_cast<float>(bits ^ 1) / static_cast<float>(1 << fraction), high - apart);
          for (const float result : {one, one + other, one - other, 0.0f, 1.0f})
            for (const bool turned : {false, true})
              EXPECT_EQ(run::lost_bits(turned ? other : one, turned ? one : other, result, brain),
                        lost_one_by_one(one, other, result, brain))
                  << one << " " << other << " " << result << " " << brain;
        }
  }
}

// A thread for each word: the operands are words of the first three buffers, the result goes to the fourth.
std::vector<Losses> losses(const std::string& instruction, const std::vector<std::array<uint32_t, 3>>& words,
                           const std::string& declare = ".b32", const std::string& load = "u32",
                           run::Bound bound = std::nullopt) {
  const auto program = std::make_shared<isa::Program>(isa::compile(ptx::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
.reg .b64 %a<5>;
.reg .b64 %t;
.reg .b32 %i;
.reg )" + declare + R"( %x, %y, %z;
.reg .b32 %r, %r1, %r2;
.reg .b16 %h;
ld.param.u64 %a0, [a];
ld.param.u64 %a1, [b];
ld.param.u64 %a2, [c];
ld.param.u64 %a3, [d];
mov.u32 %i, %tid.x;
mul.wide.u32 %t, %i, 4;
add.u64 %a0, %a0, %t;
add.u64 %a1, %a1, %t;
add.u64 %a2, %a2, %t;
add.u64 %a3, %a3, %t;
ld.global.)" + load + " %x, [%a0];\nld.global." + load + " %y, [%a1];\nld.global." +
                                                                              load + " %z, [%a2];\n" +
                                                                              instruction + "\nret;\n}\n"),
                                                                   "k"));
  NumericWatch watch(*program, bound);
  launch::Launch launch;
  launch.entry = "k";
  launch.shape.block[0] = static_cast<uint32_t>(words.size());
  for (size_t n = 0; n < 4; ++n) {
    launch::Buffer b;
    b.name = "buffer " + std::to_string(n);
    b.bytes.resize(4 * words.size());
    for (size_t i = 0; i < words.size() && n < 3; ++i) std::memcpy(b.bytes.data() + 4 * i, &words[i][n], 4);
    launch.add_buffer(b);
  }
  test::run_ptx(std::make_shared<const isa::Module>(program), launch);
  return watch.losses();
}

constexpr uint32_t kOne = 0x3C00, kHalf = 0x3800, kLargest = 0x7BFF, k2048 = 0x6800, k2050 = 0x6801,
                   kQuarter = 0x3400;
constexpr const char* kAdd = "add.rn.f16 %x, %x, %y;\nst.global.b16 [%a3], %x;\nst.global.b16 [%a3+2], %y;";

TEST(Numeric, ASumThatIsItsLargerTermHasLostTheOther) {
  const auto all = losses(
      kAdd, {{kOne, kHalf}, {k2048, kHalf}, {kQuarter, k2048}, {k2050, kOne}, {0, k2048}, {k2048, kOne}},
      ".b16", "u16");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 6u);
  // 2048 and 1 lies half way between 2048 and 2050, and the even one is 2048; 2050 and 1 becomes 2052.
  EXPECT_EQ(all[0].absorbed.count, 3u);
  EXPECT_EQ(all[0].absorbed.first.thread[0], 1u);
  EXPECT_EQ(all[0].absorbed.operands, (std::vector<float>{2048, 0.5}));
  EXPECT_EQ(all[0].absorbed.result, 2048);
  EXPECT_EQ(all[0].overflowed.count, 0u);
}

TEST(Numeric, FiniteOperandsOfAnInfiniteResultAreShown) {
  const auto all = losses(
      kAdd, {{kLargest, kOne}, {0x7C00, kOne}, {kLargest, 0x4C00}, {kLargest, kLargest}, {0x7E00, kOne}},
      ".b16", "u16");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 3u);           // without the infinity and the NaN
  EXPECT_EQ(all[0].overflowed.count, 2u);  // 65504 and 16 lies half way to the next, which there is not
  EXPECT_EQ(all[0].overflowed.first.thread[0], 2u);
  EXPECT_EQ(all[0].overflowed.operands, (std::vector<float>{65504, 16}));
  EXPECT_EQ(all[0].overflowed.result, kInfinity);
  EXPECT_EQ(all[0].absorbed.count, 1u);  // 65504 and 1
}

TEST(Numeric, OfPackedResultsEachCounts) {
  const auto both = [](uint32_t low, uint32_t high) { return high << 16 | low; };
  const auto all =
      losses("fma.rn.f16x2 %x, %x, %y, %z;\nst.global.b32 [%a3], %x;",
             {{both(kOne, k2048), both(kHalf, kOne), both(k2048, kHalf)}, {both(kOne, kOne), 0, 0}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 4u);
  EXPECT_EQ(all[0].absorbed.count, 2u);  // the product in the lower half, what it is added to in the upper
  EXPECT_EQ(all[0].absorbed.operands, (std::vector<float>{1, 0.5, 2048}));
}

TEST(Numeric, BrainFloatsHaveEightBits) {
  // 256 and 1 lies half way to 258.
  const auto all =
      losses("fma.rn.bf16 %x, %x, %y, %z;\nst.global.b16 [%a3], %x;\nst.global.b16 [%a3+2], %y;",
             {{0x4380, 0x3F80, 0x3F80}, {0x4380, 0x3F80, 0x4000}, {0x7F7F, 0x4000, 0x3F80}}, ".b16", "u16");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].absorbed.count, 1u);
  EXPECT_EQ(all[0].overflowed.count, 1u);
}

TEST(Numeric, AConversionOverflows) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  const auto all =
      losses("cvt.rn.f16x2.f32 %r, %x, %y;\nst.global.b32 [%a3], %r;",
             {{bits(1), bits(70000), 0}, {bits(-1e6f), bits(65504), 0}, {bits(kInfinity), bits(1), 0}},
             ".f32", "f32");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 5u);
  EXPECT_EQ(all[0].overflowed.count, 2u);
  EXPECT_EQ(all[0].overflowed.operands, (std::vector<float>{70000}));
}

TEST(Numeric, WhatIsClampedLosesNothing) {
  EXPECT_TRUE(losses("add.rn.sat.f16 %x, %x, %y;\nst.global.b16 [%a3], %x;\nst.global.b16 [%a3+2], %y;",
                     {{kLargest, kLargest}, {k2048, kHalf}}, ".b16", "u16")
                  .empty());
}

// Every term of A and B is 1: the products of 16 and a C of 65504, 2^15, whose last place is 32, or 2^14.
TEST(Numeric, MatrixProductsOverflow) {
  const std::string mma =
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%x, %r}, {%y, %y, %y, %y}, {%y, %y}, {%z, %z};\n"
      "st.global.b32 [%a3], %x;";
  const auto words = [](uint32_t c) {
    return std::vector<std::array<uint32_t, 3>>(32, {0, kOne << 16 | kOne, c << 16 | c});
  };
  const auto all = losses(mma, words(kLargest));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 128u);
  EXPECT_EQ(all[0].overflowed.count, 128u);
  EXPECT_EQ(all[0].overflowed.operands, (std::vector<float>{16, 65504}));
  const auto halfway = losses(mma, words(0x7800));
  ASSERT_EQ(halfway.size(), 1u);
  EXPECT_EQ(halfway[0].overflowed.count, 0u);
  EXPECT_EQ(halfway[0].absorbed.count, 128u);
  EXPECT_TRUE(losses(mma, words(0x7400)).empty());
}
// A and B of E4M3, 1 throughout (0x38): 32 products.
TEST(Numeric, MatrixProductsOfBytesOverflow) {
  const std::string mma =
      "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%x, %r}, {%y, %y, %y, %y}, {%y, %y}, {%z, %z};\n"
      "st.global.b32 [%a3], %x;";
  const auto all = losses(mma, {32, {0, 0x38383838, kLargest << 16 | k2048}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].overflowed.count, 64u);
  EXPECT_EQ(all[0].overflowed.operands, (std::vector<float>{32, 65504}));
  EXPECT_EQ(all[0].overflowed.cell, (std::array<size_t, 2>{0, 1}));
  EXPECT_EQ(all[0].absorbed.count, 0u);
}
// wmma is summed as mma.sync is.
TEST(Numeric, FragmentsOverflow) {
  const auto all = losses(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%x, %r, %r1, %r2}, {%y, %y, %y, %y, %y, %y, %y, %y}, "
      "{%y, %y, %y, %y, %y, %y, %y, %y}, {%z, %z, %z, %z};\nst.global.b32 [%a3], %x;",
      std::vector<std::array<uint32_t, 3>>(32, {0, kOne << 16 | kOne, kLargest << 16 | kLargest}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 256u);
  EXPECT_EQ(all[0].overflowed.count, 256u);
}

// Sums of fp32 and of integers are no halves: of these the lower 16 bits, 0x7BF0 and 15 or 16 more, would be.
TEST(Numeric, FragmentsOfWordsAreNotLookedAt) {
  const auto with = [](const std::string& types, const std::string& ab, uint32_t c) {
    const std::string eight = "{%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}";
    std::string text = ".reg .b32 %w<8>;\n";
    for (int i = 0; i < 8; ++i) text += "mov.b32 %w" + std::to_string(i) + ", " + std::to_string(c) + ";\n";
    text += "wmma.mma.sync.aligned.row.col.m16n16k16." + types + " " + eight + ", " + ab + ", " + ab + ", " +
            eight + ";\nst.global.b32 [%a3], %w0;";
    return losses(text, std::vector<std::array<uint32_t, 3>>(32, {0, kOne << 16 | kOne, 0}));
  };
  // 2^23 + 0x7BF0, of which one is a place
  EXPECT_TRUE(with("s32.s8.s8.s32", "{%y, %y}", 0x4B007BF0).empty());
  std::string floats = "{%y, %y, %y, %y, %y, %y, %y, %y}";
  const auto all = losses(
      ".reg .f32 %f<8>;\nmov.b32 %f0, 0f4B007BF0; mov.b32 %f1, %f0; mov.b32 %f2, %f0; mov.b32 %f3, %f0;\n"
      "mov.b32 %f4, %f0; mov.b32 %f5, %f0; mov.b32 %f6, %f0; mov.b32 %f7, %f0;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, " +
          floats + ", " + floats + ", {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};\nst.global.f32 [%a3], %f0;",
      std::vector<std::array<uint32_t, 3>>(32, {0, kOne << 16 | kOne, 0}));
  EXPECT_TRUE(all.empty());
}

// 1024.75 becomes 1025, whose last place is 1: two bits of 0.75 are below. 2049.5 becomes 2050: the places of
// 1.5 are all below 2. 2048 + 1 loses the one bit of 1, 1024 + 1 none.
TEST(Numeric, BitsBelowTheLastPlaceAreCountedBeyondABound) {
  const std::vector<std::array<uint32_t, 3>> words = {
      {0x6400, kOne}, {0x6400, 0x3A00}, {k2048, 0x3E00}, {k2048, kOne}, {0, kHalf}};
  const auto all = losses(kAdd, words, ".b16", "u16", 1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].shortened.count, 2u);
  EXPECT_EQ(all[0].shortened.bits, 2);
  EXPECT_EQ(all[0].shortened.first.thread[0], 1u);
  EXPECT_EQ(all[0].shortened.operands, (std::vector<float>{1024, 0.75}));
  EXPECT_EQ(all[0].shortened.result, 1025);
  EXPECT_EQ(losses(kAdd, words, ".b16", "u16", 0).at(0).shortened.count, 3u);
  EXPECT_EQ(losses(kAdd, words, ".b16", "u16", 2).at(0).shortened.count, 0u);
}
TEST(Numeric, LostBitsAreThoseOfTheFormat) {
  struct Case {
    float one, other, sum;
    bool brain;
    int bits;
  };
  for (const Case& c : {Case{256, 1.5F, 258, true, 2},                 // bf16 has 8 bits: the last place is 2
                        Case{256, 1.5F, 257.5F, false, 0},             // fp16 has 11
                        Case{0.75F, -1024, -1023, false, 1},           // the last place is 0.5
                        Case{0x1p-24F, 0x1p-14F, 0x1p-14F, false, 0},  // nothing is smaller
                        Case{0x1p-24F, 0x1p-13F, 0x1p-13F, false, 1}, Case{65504, INFINITY, 65504, false, 0},
                        Case{0, 2048, 2048, false, 0},
                        Case{2047, 60000, 62048, false, 5}})  // 11 ones, and the last place is 32
    EXPECT_EQ(run::lost_bits(c.one, c.other, c.sum, c.brain), c.bits) << c.one << " + " << c.other;
}

}  // namespace
}  // namespace bitwell::run
