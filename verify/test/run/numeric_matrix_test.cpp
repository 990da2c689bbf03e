// What sums of matrix products with results in fp16 lose: wgmma, and tcgen05.mma by one CTA and by a pair.
// What is to be counted comes of exact integers, of the results that the kernel leaves, and of those that it
// leaves where the accumulator is 0.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "numeric_kernels.h"

namespace bitwell::run {
namespace {

__extension__ typedef __int128 Wide;

constexpr uint16_t kOne = 0x3C00, kLargest = 0x7BFF, kInfinity = 0x7C00, kNan = 0x7E00, kMinusOne = 0xBC00;

// --- by hand: all of A and B is 1, so that the products sum to 16 ---

// 65504 + 16 lies half way to 65536, which is infinite; 65504 + 15 would not be.
TEST(NumericMatrix, AnAccumulatorOverflows) {
  Tile t(64, 8, kOne, kOne, 0);
  t.c[5 * 8 + 3] = t.c[40 * 8] = kLargest;
  const auto all = wgmma(t).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].form, Losses::Form::matrix);
  EXPECT_EQ(all[0].results, 512u);
  EXPECT_EQ(all[0].overflowed.count, 2u);
  EXPECT_EQ(all[0].overflowed.cell, (std::array<size_t, 2>{5, 3}));
  EXPECT_EQ(all[0].overflowed.operands, (std::vector<float>{16, 65504}));
  EXPECT_EQ(all[0].overflowed.result, INFINITY);
  EXPECT_EQ(all[0].absorbed.count, 0u);
  t.c[5 * 8 + 3] = t.c[40 * 8] = kLargest - 1;  // 65472 + 16 lies half way to 65504, whose last bit is 1
  const auto even = wgmma(t).losses;
  ASSERT_EQ(even.size(), 1u);
  EXPECT_EQ(even[0].overflowed.count, 0u);
  EXPECT_EQ(even[0].absorbed.count, 2u);
}
// 32768 + 16 lies half way to 32800, and 16 + 2^-7 to 16 + 2^-6: the even one is the larger term alone. The
// last place of 16384 is 16.
TEST(NumericMatrix, EitherTermMayBeAbsorbed) {
  Tile t(64, 8, kOne, kOne, 0);
  t.c[9] = 0x7800;
  t.c[10] = 0x7400;
  t.c[19] = 0x2000;  // 2^-7
  const auto all = wgmma(t).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].absorbed.count, 2u);
  EXPECT_EQ(all[0].absorbed.cell, (std::array<size_t, 2>{1, 1}));
  EXPECT_EQ(all[0].absorbed.operands, (std::vector<float>{16, 32768}));
  EXPECT_EQ(all[0].absorbed.result, 32768);
  EXPECT_EQ(all[0].overflowed.count, 0u);
}
// Products that cancel are no term: 8 of 1 and 8 of -1.
TEST(NumericMatrix, ProductsThatSumToNothingAreNotAbsorbed) {
  Tile t(64, 8, kOne, kOne, kLargest);
  for (size_t i = 0; i < t.a.size(); i += 2) t.a[i] = kMinusOne;
  EXPECT_TRUE(wgmma(t).losses.empty());
}
TEST(NumericMatrix, WhatIsNotFiniteBeforeIsNotCounted) {
  Tile t(64, 8, kOne, kOne, kLargest);
  t.a[7 * kK + 2] = kInfinity;  // a row of 8
  t.b[3 * kK + 1] = kNan;       // a column of 64
  t.c[8] = kInfinity;           // row 1, column 0
  const auto all = wgmma(t).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 512u - 8 - 64 + 1 - 1);
  EXPECT_EQ(all[0].overflowed.count, all[0].results);
}
TEST(NumericMatrix, WithoutAnAccumulatorProductsMayStillOverflow) {
  const Tile t(64, 8, 0x5C00, 0x5C00, kLargest);  // 256 * 256 * 16
  const auto all = wgmma(t, false).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].overflowed.count, 512u);
  EXPECT_EQ(all[0].overflowed.operands, (std::vector<float>{1048576, 0}));
}
TEST(NumericMatrix, TensorMemoryHasItsRowsAndColumns) {
  Tile t(128, 16, kOne, kOne, 0);
  t.c[100 * 16 + 9] = kLargest;
  t.c[127 * 16 + 15] = 0x7800;
  const auto all = tensor(t).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 2048u);
  EXPECT_EQ(all[0].overflowed.count, 1u);
  EXPECT_EQ(all[0].overflowed.cell, (std::array<size_t, 2>{100, 9}));
  EXPECT_EQ(all[0].absorbed.count, 1u);
  EXPECT_EQ(all[0].absorbed.cell, (std::array<size_t, 2>{127, 15}));
  EXPECT_EQ(all[0].absorbed.first.cta, (std::array<uint32_t, 3>{0, 0, 0}));
}
// The second CTA of a pair has the rows from 128 on.
TEST(NumericMatrix, APairHasRowsOfBoth) {
  Tile t(256, 16, kOne, kOne, 0);
  t.c[130 * 16 + 9] = kLargest;
  const auto all = tensor(t).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].results, 4096u);
  EXPECT_EQ(all[0].overflowed.count, 1u);
  EXPECT_EQ(all[0].overflowed.cell, (std::array<size_t, 2>{130, 9}));
}
TEST(NumericMatrix, LanesThatAreLeftAsTheyAreHaveNoResults) {
  const Tile t(128, 16, kOne, kOne, kLargest);
  const Left ran = tensor(t, {.leave = 0xF});
  ASSERT_EQ(ran.losses.size(), 1u);
  EXPECT_EQ(ran.losses[0].results, 124u * 16);
  EXPECT_EQ(ran.losses[0].overflowed.count, 124u * 16);
  EXPECT_EQ(ran.losses[0].overflowed.cell, (std::array<size_t, 2>{4, 0}));
  EXPECT_EQ(ran.d[0], kLargest);
}
// 32768 counts as 16384, to which 16 can be added.
TEST(NumericMatrix, TheAccumulatorIsScaledBefore) {
  const Tile t(128, 16, kOne, kOne, 0x7800);
  EXPECT_EQ(tensor(t).losses.size(), 1u);
  EXPECT_TRUE(tensor(t, {.scale = 1}).losses.empty());
}
// Whether D is fp16 stands in the instruction descriptor. Lower halves of fp32 sums are no results.
TEST(NumericMatrix, SumsInSinglePrecisionAreNotCounted) {
  EXPECT_TRUE(tensor(Tile(128, 16, kOne, kOne, kLargest), {.single = true}).losses.empty());
}
// The products sum to 1.75, three bits.
TEST(NumericMatrix, BitsBelowTheLastPlaceAreCountedBeyondABound) {
  Tile t(64, 8, kOne, kOne, 0);
  for (size_t i = 0; i < t.a.size(); ++i)
    if (i % kK != 0) t.a[i] = 0;
  for (size_t row = 0; row < 64; ++row) t.a[row * kK] = 0x3F00;  // 1.75
  t.c[0] = 0x6400;  // 1024: the last place is 1, two bits are below
  t.c[1] = 0x6800;  // 2048: 2, all three
  t.c[2] = 0x6000;  // 512: 0.5, one
  const auto all = wgmma(t, true, 1).losses;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].absorbed.count, 0u);
  EXPECT_EQ(all[0].shortened.count, 2u);
  EXPECT_EQ(all[0].shortened.bits, 3);
  EXPECT_EQ(all[0].shortened.cell, (std::array<size_t, 2>{0, 0}));
  EXPECT_EQ(all[0].shortened.operands, (std::vector<float>{1.75, 1024}));
  EXPECT_EQ(all[0].shortened.result, 1026);
  EXPECT_EQ(wgmma(t, true, 2).losses.at(0).shortened.count, 1u);
  EXPECT_EQ(wgmma(t, true, 0).losses.at(0).shortened.count, 3u);
  EXPECT_TRUE(wgmma(t, true, 3).losses.empty());
  EXPECT_TRUE(wgmma(t).losses.empty());
}

// --- for all A, B and C: what exact integers and the kernel's own results say ---

bool finite(uint16_t code) { return (code & 0x7C00) != 0x7C00; }
// In units of 2^-24.
int64_t units(uint16_t code) {
  const int exponent = code >> 10 & 31;
  const int64_t significand = exponent == 0 ? code & 1023 : (code & 1023) | 1024;
  return (code >> 15 != 0 ? -1 : 1) * (significand << (exponent == 0 ? 0 : exponent - 1));
}
// The bits of the smaller that are below the last place of the sum.
int bits_below(uint16_t one, uint16_t other, uint16_t sum) {
  if (!finite(one)) one = other;
  if (!finite(other)) other = one;
  const int64_t smaller = std::min(std::abs(units(one)), std::abs(units(other)));
  const int64_t last = int64_t{1} << std::max((sum >> 10 & 31) - 1, 0);
  int first_bit = -1;
  int bits = 0;
  for (int i = 0; i < 41; ++i) {
    const int64_t bit = int64_t{1} << i;
    if (first_bit < 0 && (smaller & bit) != 0) first_bit = i;
    if (first_bit >= 0 && bit < last && bit <= smaller) ++bits;
  }
  return bits;
}

constexpr int kBound = 4;

void judge(const Tile& t, const Left& ran, const Codes& alone) {
  uint64_t results = 0;
  struct Kind {
    uint64_t count = 0;
    std::array<size_t, 2> first{};
    void add(size_t row, size_t column) {
      if (count++ == 0) first = {row, column};
    }
  } overflowed, absorbed, shortened;
  int most = 0;
  for (size_t row = 0; row < t.rows; ++row)
    for (size_t column = 0; column < t.columns; ++column) {
      const size_t at = row * t.columns + column;
      bool counts = finite(t.c[at]);
      Wide sum = 0;
      for (size_t k = 0; k < kK; ++k) {
        const uint16_t x = t.a[row * kK + k];
        const uint16_t y = t.b[column * kK + k];
        counts = counts && finite(x) && finite(y);
        sum += Wide{units(x)} * units(y);
      }
      if (!counts) continue;
      ++results;
      const uint16_t d = ran.d[at];
      if (!finite(d)) {
        overflowed.add(row, column);
      } else if (units(t.c[at]) != 0) {
        if (units(d) == units(alone[at]) || (units(d) == units(t.c[at]) && sum != 0))
          absorbed.add(row, column);
        const int bits = bits_below(alone[at], t.c[at], d);
        if (bits <= kBound) continue;
        shortened.add(row, column);
        most = std::max(most, bits);
      }
    }
  ASSERT_EQ(ran.losses.size(), 1u);
  const Losses& l = ran.losses[0];
  EXPECT_EQ(l.results, results);
  const auto same = [](const Loss& loss, const Kind& kind, const char* what) {
    EXPECT_GT(kind.count, 0u) << what;
    EXPECT_EQ(loss.count, kind.count) << what;
    EXPECT_EQ(loss.cell, kind.first) << what;
  };
  same(l.overflowed, overflowed, "overflowed");
  same(l.absorbed, absorbed, "absorbed");
  same(l.shortened, shortened, "shortened");
  EXPECT_EQ(l.shortened.bits, most);
}

// Operands of every size, small ones most often, one in 400 not finite.
Tile drawn(size_t rows, size_t columns, uint32_t seed) {
  std::mt19937 random(seed);
  const auto code = [&](uint32_t lowest, uint32_t exponents) {
    if (random() % 400 == 0) return static_cast<uint16_t>(kInfinity | random() % 2);
    if (random() % 8 == 0) return static_cast<uint16_t>(0);
    return static_cast<uint16_t>(random() % 2 << 15 | (lowest + random() % exponents) << 10 |
                                 random() % 1024);
  };
  Tile t(rows, columns, 0, 0, 0);
  for (uint16_t& c : t.c) c = code(0, 31);
  for (uint16_t& c : t.b) c = code(8, 14);
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t lowest = random() % 22;
    for (size_t k = 0; k < kK; ++k) t.a[row * kK + k] = code(lowest, 8);
  }
  return t;
}

TEST(NumericMatrix, WgmmaIsCountedAsExactSumsSay) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Tile t = drawn(64, 8, seed);
    judge(t, wgmma(t, true, kBound), wgmma(t, false).d);
  }
}
TEST(NumericMatrix, TensorMemoryIsCountedAsExactSumsSay) {
  for (const size_t rows : {size_t{128}, size_t{256}}) {
    const Tile t = drawn(rows, 16, 4);
    judge(t, tensor(t, {.bound = kBound}), tensor(t, {.adds = false}).d);
  }
}

}  // namespace
}  // namespace bitwell::run
