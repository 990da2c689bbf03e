// What fp32 adds as it is, is what the definition makes of it; and it is left to the definition's rules just
// where fp32 might not hold it.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "model/number/decode.h"
#include "model/number/simd_level.h"
#include "model/number/tile/dot_tile.h"
#include "model/number/tile/exact_tile_lanes.h"

namespace bitwell::number {

namespace scalar {
ExactLanes make_exact_lanes();
}
namespace avx2 {
ExactLanes make_exact_lanes();
}
namespace avx512 {
ExactLanes make_exact_lanes();
}

namespace {

struct Level {
  const char* name;
  ExactLanes lanes;
};
std::vector<Level> levels() {
  std::vector<Level> out{{"scalar", scalar::make_exact_lanes()}};
  if (has_level("avx2")) out.push_back({"avx2", avx2::make_exact_lanes()});
  if (has_level("avx512")) out.push_back({"avx512", avx512::make_exact_lanes()});
  return out;
}

constexpr const Format* kOperands[] = {&e2m1, &e2m3, &e3m2, &e4m3, &e5m2, &f16, &bf16, &tf32};

// Every finite code of every format, what is below fp32's own exponents among them.
TEST(Exact, NumbersAndTheirBoundsAreThoseOfTheCodes) {
  for (const Level& level : levels())
    for (const Format* f : kOperands)
      for (uint32_t code = 0; code < uint32_t{1} << f->bits; ++code) {
        const uint32_t stored = code << f->ignored_low;
        const Exact exact = decode(*f, stored);
        if (exact.kind != Kind::finite) continue;
        float value = 0;
        level.lanes.values(*f, &stored, 1, &value);
        const float magnitude = std::ldexp(static_cast<float>(exact.significand), exact.exponent);
        ASSERT_EQ(value, exact.negative ? -magnitude : magnitude)
            << level.name << " " << f->name << " " << code;
        ASSERT_EQ(std::signbit(value), exact.negative) << level.name << " " << f->name << " " << code;
        const ExactBounds bounds = level.lanes.bounds(&value, 1);
        if (magnitude == 0) {
          ASSERT_LT(bounds.highest, -500);
          ASSERT_GT(bounds.lowest, 500);
        } else if (magnitude < std::numeric_limits<float>::min()) {
          ASSERT_LT(bounds.lowest, -500);
        } else {
          ASSERT_EQ(bounds.highest, std::ilogb(magnitude)) << f->name << " " << code;
          ASSERT_EQ(bounds.lowest,
                    exact.exponent + std::countr_zero(static_cast<uint64_t>(exact.significand)))
              << f->name << " " << code;
        }
      }
}

TEST(Exact, BoundsHoldForAllOfManyNumbers) {
  for (const Level& level : levels())
    for (size_t at = 0; at < 70; ++at) {
      std::vector<float> numbers(70, 1.5f);
      numbers[at] = -0x1p20f;
      numbers[69 - at] = at == 34 || at == 35 ? numbers[69 - at] : 0x1.8p-9f;
      const ExactBounds bounds = level.lanes.bounds(numbers.data(), numbers.size());
      EXPECT_EQ(bounds.highest, 20) << level.name << " " << at;
      EXPECT_EQ(bounds.lowest, at == 34 || at == 35 ? -1 : -10) << level.name << " " << at;
    }
}

// One row of 32 equal addends and no products but one.
struct OneRow {
  float c, a, b;
  int sum, lowest, precision;
  bool added;
};
void expect(const OneRow& row) {
  for (const Level& level : levels())
    for (size_t rows : {size_t{1}, kExactRows}) {
      std::vector<float> b(kTileLanes, row.b);
      std::vector<float> a(rows, row.a);
      std::vector<uint32_t> d(rows * kTileLanes, std::bit_cast<uint32_t>(1.0f));
      // The addend under test in one column of the last row; the other rows are added whatever becomes of it.
      d.back() = std::bit_cast<uint32_t>(row.c);
      const ExactStep step{a.data(), b.data(), kTileLanes, 1, row.sum, row.lowest, row.precision};
      const uint32_t left = level.lanes.add(step, rows, d.data(), kTileLanes);
      EXPECT_EQ(left >> (rows - 1) & 1, row.added ? 0u : 1u) << level.name << " " << row.c;
      const float result = row.added ? row.c + row.a * row.b + 0.0f : row.c;
      EXPECT_EQ(d.back(), std::bit_cast<uint32_t>(result)) << level.name << " " << row.c;
      if (rows > 1) {
        EXPECT_EQ(left & 1, 0u);
        EXPECT_EQ(d.front(), std::bit_cast<uint32_t>(1 + row.a * row.b));
      }
    }
}

TEST(Exact, AddendsAtTheBoundaryOfWhatFp32Holds) {
  // Products below 2^4, of whole numbers: all stays below 2^24 for a sum below 2^23.
  expect({0x1p22f + 1, 3, 5, 4, 0, 24, true});
  expect({-0x1p23f + 1, 3, 5, 4, 0, 24, true});
  expect({0x1p23f, 3, 5, 4, 0, 24, false});
  expect({0x1p22f + 0.5f, 3, 5, 4, 0, 24, false});
  expect({0x1p21f + 0.5f, 3, 5, 4, 0, 24, true});
  expect({0x1p21f + 0.25f, 3, 5, 4, 0, 24, false});
  // A sum of products that decides how far up it may go.
  expect({0x1p-19f, 3, 5, 4, 0, 24, true});
  expect({0x1p-20f, 3, 5, 4, 0, 24, false});
  // 14 bits of a result.
  expect({0x1p12f + 1, 3, 5, 4, 0, 14, true});
  expect({0x1p13f, 3, 5, 4, 0, 14, false});
  expect({0x1p12f + 0.5f, 3, 5, 4, 0, 14, false});
  // No numbers, and those below fp32's own exponents.
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float c : {infinity, -infinity, 0x1p-149f, -0x1p-127f}) expect({c, 3, 5, 4, 0, 24, false});
  expect({0x1.fffffep127f, 3, 5, 4, 0, 24, false});
  // Zeros: the sum of nothing is +0.
  expect({-0.0f, 0, -1, 4, 0, 24, true});
  expect({0.0f, -0.0f, 1, 4, 0, 24, true});
}

TEST(Exact, NaNIsLeft) {
  for (const Level& level : levels()) {
    std::vector<uint32_t> d(kTileLanes);
    d[7] = 0x7FC00000;
    const std::vector<float> zeros(kTileLanes);
    EXPECT_EQ(level.lanes.add({zeros.data(), zeros.data(), kTileLanes, 1, 4, 0, 24}, 1, d.data(), kTileLanes),
              1u)
        << level.name;
  }
}

// Every distance of C, with every number of bits, from products of every width: on both sides of where fp32
// holds their sum, and of where the rule cuts off.
TEST(Exact, TilesAreTheDefinitionOnBothSidesOfEveryBoundary) {
  std::mt19937_64 random(17);
  struct Row {
    const DotRule* rule;
    const Format* format;
  };
  const Row rows[] = {{find_dot_rule("blackwell", "tcgen05", f16, f16, f32), &f16},
                      {find_dot_rule("blackwell", "tcgen05", bf16, bf16, f32), &bf16},
                      {find_dot_rule("blackwell", "tcgen05", tf32, tf32, f32), &tf32},
                      {find_dot_rule("blackwell", "tcgen05", e4m3, e4m3, f32), &e4m3},
                      {find_dot_rule("volta", "mma.sync", f16, f16, f32), &f16},
                      {find_dot_rule("hopper", "wgmma", e4m3, e4m3, f32), &e4m3},
                      {find_dot_rule("hopper", "wgmma", e5m2, e5m2, f32), &e5m2},
                      {find_dot_rule("blackwell", "mxf8f6f4", e4m3, e4m3, f32, &ue8m0, 32), &e4m3}};
  for (const auto& [rule, format] : rows) {
    ASSERT_NE(rule, nullptr);
    const size_t k = 2 * static_cast<size_t>(rule->length);
    const size_t scales = rule->scales(k);
    for (int width = 0; width < std::min(format->emax(), 13); ++width)
      for (int c_exponent = -12; c_exponent <= 32; ++c_exponent) {
        // Powers of two from 1 to 2^width with the bits that the format has, one row of small numbers.
        std::vector<uint32_t> a(2 * k);
        std::vector<uint32_t> b(kTileLanes * k);
        const auto code = [&format = format](int exponent, uint64_t bits) {
          const uint64_t field = static_cast<uint64_t>(format->bias + exponent) << format->fraction_bits;
          const uint64_t fraction = bits & format->fraction_mask() & ~(bits >> 20);
          return static_cast<uint32_t>((field | fraction | ((bits >> 62 & 1) != 0 ? format->sign_mask() : 0))
                                       << format->ignored_low);
        };
        for (size_t i = 0; i < a.size(); ++i)
          a[i] =
              i % 5 == 4 ? 0 : code(static_cast<int>(random() % static_cast<uint64_t>(width + 1)), random());
        for (uint32_t& v : b) v = code(0, width % 2 == 0 ? 0 : random());
        if (width == 3) a[0] = 1u << format->ignored_low;  // subnormal
        std::vector<uint8_t> sa(2 * scales, 127);
        std::vector<uint8_t> sb(kTileLanes * scales, 127);
        for (uint8_t& s : sa) s = static_cast<uint8_t>(126 + random() % 3);
        std::vector<uint32_t> d(2 * kTileLanes);
        for (size_t i = 0; i < d.size(); ++i) {
          const uint32_t kept = 0x7FFFFF & ~((1u << i % 24) - 1);
          d[i] = static_cast<uint32_t>(127 + c_exponent) << 23 | (static_cast<uint32_t>(random()) & kept) |
                 (i % 24 < 23 ? 1u << i % 24 : 0) | static_cast<uint32_t>(random() & 1) << 31;
        }
        std::vector<uint32_t> expected = d;
        for (size_t i = 0; i < d.size(); ++i) {
          const size_t row = i / kTileLanes;
          const size_t column = i % kTileLanes;
          expected[i] = dot(
              *rule, {format, std::span(a).subspan(row * k, k), std::span(sa).subspan(row * scales, scales)},
              {format, std::span(b).subspan(column * k, k), std::span(sb).subspan(column * scales, scales)},
              d[i]);
        }
        for (const Level& level : levels()) {
          std::vector<uint32_t> sums = d;
          dot_tile(*rule, {format, a, sa}, 2,
                   prepare_columns(*rule, {format, b, sb}, kTileLanes, k, level.name), sums, level.name);
          ASSERT_EQ(sums, expected) << rule->architecture << " " << rule->instruction << " " << format->name
                                    << " width " << width << " C exponent " << c_exponent << " "
                                    << level.name;
        }
      }
  }
}

}  // namespace
}  // namespace bitwell::number
