// The fast orders are the definition, bit for bit, on every instruction set.
#include "model/number/tile/accumulation_tile.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "model/number/simd_level.h"
#include "verify/suite/kernels/gemv.h"

namespace bitwell::number {
namespace {

std::vector<Accumulation> orders() {
  std::vector<Accumulation> out;
  for (const suite::GemvRung& r : suite::gemv_rungs()) out.push_back(r.order);
  for (const GroupSum group : {GroupSum::running_f16, GroupSum::running_f16x2})
    for (const bool f16 : {false, true}) {
      out.push_back({.name = "sequential", .group = group});
      out.push_back(
          {.name = "blocked", .tile = 128, .group = group, .drain_each_tile = true, .drain_f16 = f16});
      out.push_back({.name = "tree",
                     .threads = 0,
                     .tile = 16,
                     .group = group,
                     .combine = Combine::butterfly,
                     .combine_f16 = f16});
    }
  out.push_back({.name = "fp32 tree", .threads = 0, .tile = 16, .combine = Combine::butterfly});
  return out;
}

// Rows of A and columns of B by the sources that the GEMV suite is proven with.
RC_GTEST_PROP(AccumulationTile, EqualsTheDefinitionInEveryOrder, ()) {
  const std::vector<Accumulation> all = orders();
  const Accumulation order = all[*rc::gen::inRange<size_t>(0, all.size()).as("order")];
  const size_t k = 16 * *rc::gen::inRange<size_t>(1, 100).as("k / 16");
  const size_t rows = *rc::gen::inRange<size_t>(1, 4).as("rows");
  const size_t columns = *rc::gen::inRange<size_t>(1, 40).as("columns");
  const auto data =
      suite::kOperandData[*rc::gen::inRange<size_t>(0, suite::kOperandData.size()).as("data")].first;
  suite::OperandSource source(data, *rc::gen::arbitrary<uint32_t>().as("seed"));
  const auto draw = [&](size_t count, bool is_a, std::vector<uint8_t>& codes, std::vector<uint8_t>& scales) {
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < k; ++j)
        codes.push_back(source.nibble(static_cast<int>(j), static_cast<int>(k), is_a));
      for (size_t g = 0; g < k / 16; ++g) scales.push_back(source.scale(static_cast<int>(g), is_a));
    }
  };
  std::vector<uint8_t> a, sfa, b, sfb;
  draw(rows, true, a, sfa);
  draw(columns, false, b, sfb);
  const AccumulationColumns prepared(b, sfb, columns, k);
  for (const char* level : {"scalar", "avx2", "avx512"}) {
    if (!has_level(level)) continue;
    std::vector<uint16_t> c(rows * columns);
    accumulation_tile(order, a, sfa, rows, prepared, c, level);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) {
        const DotOperands d{std::span(a).subspan(i * k, k), std::span(b).subspan(j * k, k),
                            std::span(sfa).subspan(i * k / 16, k / 16),
                            std::span(sfb).subspan(j * k / 16, k / 16)};
        RC_ASSERT(c[i * columns + j] == evaluate(order, d));
      }
  }
}

// Of three tiles the third joins the first: 28901376 and -28901376, beside 1/4, which only a sum of its own
// keeps. Random operands hardly ever tell.
TEST(AccumulationTile, TheOddTileOfTwoAccumulatorsGoesToTheFirst) {
  std::vector<uint8_t> a(192, 0);
  std::vector<uint8_t> b(192, 0);
  std::vector<uint8_t> scales(12, 0x76);                                          // 224
  for (size_t i = 0; i < 16; ++i) a[i] = b[i] = a[128 + i] = 7, b[128 + i] = 15;  // 6 * 6 and 6 * -6
  a[64] = b[64] = 1;                                                              // 1/2
  scales[4] = 0x38;                                                               // 1
  const Accumulation order{
      .name = "two", .tile = 64, .group = GroupSum::two_chains_f16x2, .join = Join::fused, .accumulators = 2};
  for (const char* level : {"scalar", "avx2", "avx512"}) {
    if (!has_level(level)) continue;
    std::vector<uint16_t> c(1);
    accumulation_tile(order, a, scales, 1, AccumulationColumns(b, scales, 1, 192), c, level);
    EXPECT_EQ(c[0], 0x3400) << level;
  }
}

TEST(Accumulation, TheFirstLossIsWhereTheSumStoppedGrowing) {
  // From 2048 on fp16 has a unit of 2, and 2048 + 1 is 2048.
  const std::vector<uint8_t> a(4096, 2);  // 1.0
  const std::vector<uint8_t> scales(256, 0x38);
  FirstLoss loss;
  evaluate({.name = "sequential", .group = GroupSum::running_f16}, {a, a, scales, scales}, &loss);
  EXPECT_TRUE(loss.found);
  EXPECT_FALSE(loss.overflow);
  EXPECT_EQ(loss.element, 2048u);
  EXPECT_EQ(loss.sum, 2048.0f);
  EXPECT_EQ(loss.addend, 1.0f);
}

TEST(Accumulation, TheFirstLossIsTheOverflow) {
  const std::vector<uint8_t> a(64, 7);         // 6.0
  const std::vector<uint8_t> scales(4, 0x60);  // 32: products of 36 * 1024
  FirstLoss loss;
  evaluate({.name = "sequential", .group = GroupSum::running_f16}, {a, a, scales, scales}, &loss);
  EXPECT_TRUE(loss.overflow);
  EXPECT_EQ(loss.element, 1u);
  EXPECT_EQ(loss.addend, 36864.0f);
}

}  // namespace
}  // namespace bitwell::number
