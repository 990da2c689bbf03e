// The fast tiles are the definition, bit for bit, on every instruction set that this host has.
#include "model/number/dot_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/number/block_dot.h"
#include "model/number/simd_level.h"

namespace bitwell::number {
namespace {

// Codes by regime: 0 uniform bits (specials among them), 1 near exponents, 2 wide exponents, 3 subnormals and
// zeros, 4 sparse.
uint32_t code_of(const Format& f, int regime, std::mt19937_64& random) {
  const uint64_t bits = random();
  uint64_t code = bits & (f.magnitude_mask() | f.sign_mask());
  const auto at = [&](int exponent) {
    const int field = std::clamp(f.bias + exponent, 0, (1 << f.exponent_bits) - 2);
    return (bits & (f.fraction_mask() | f.sign_mask())) | static_cast<uint64_t>(field) << f.fraction_bits;
  };
  if (regime == 1) code = at(static_cast<int>(bits >> 50 & 1));
  if (regime == 2) code = at(static_cast<int>(bits >> 50 & 31) - 16);
  if (regime == 3) code = bits >> 50 & 1 ? 0 : bits & (f.fraction_mask() | f.sign_mask());
  if (regime == 4) code = (bits >> 50) % 8 == 0 ? at(0) : bits & f.sign_mask();
  return static_cast<uint32_t>(code << f.ignored_low);
}

const char* const kLevels[] = {"scalar", "avx2", "avx512"};

TEST(Tile, EqualsTheDefinitionInEveryRow) {
  std::mt19937_64 random(11);
  for (const DotRule& rule : dot_rules())
    for (const Format* f : rule.inputs) {
      if (f == nullptr) continue;
      for (int regime = 0; regime < 5; ++regime) {
        const size_t rows = 5;
        const size_t columns = regime == 1 ? 70 : 33;
        const size_t k =
            regime == 2 ? 3 * static_cast<size_t>(rule.length) + 4 : 2 * static_cast<size_t>(rule.length);
        std::vector<uint32_t> a(rows * k);
        std::vector<uint32_t> b(columns * k);
        std::vector<uint32_t> c(rows * columns);
        for (uint32_t& v : a) v = code_of(*f, regime, random);
        for (uint32_t& v : b) v = code_of(*f, regime, random);
        for (size_t i = 0; i < c.size(); ++i) c[i] = i % 3 == 0 ? 0 : code_of(*rule.output, regime, random);
        std::vector<uint32_t> expected = c;
        for (size_t r = 0; r < rows; ++r)
          for (size_t n = 0; n < columns; ++n)
            expected[r * columns + n] = dot(rule, *f, std::span(a).subspan(r * k, k),
                                            std::span(b).subspan(n * k, k), c[r * columns + n]);
        const PlainColumns prepared = prepare_columns(*f, b, columns, k);
        for (const char* level : kLevels) {
          if (!has_level(level)) continue;
          std::vector<uint32_t> d = c;
          dot_tile(rule, a, rows, prepared, d, level);
          ASSERT_EQ(d, expected) << rule.architecture << " " << rule.instruction << " " << f->name
                                 << " regime " << regime << " " << level;
        }
      }
    }
}

TEST(Tile, ScaledEqualsTheDefinition) {
  std::mt19937_64 random(12);
  for (const Format* scale : {&ue4m3, &ue8m0})
    for (int regime = 0; regime < 40; ++regime) {
      const size_t rows = 4;
      const size_t columns = 45;
      const size_t k = 192;
      std::vector<uint8_t> a(rows * k);
      std::vector<uint8_t> b(columns * k);
      std::vector<uint8_t> sa(rows * k / 16);
      std::vector<uint8_t> sb(columns * k / 16);
      std::vector<uint32_t> c(rows * columns);
      for (uint8_t& v : a) v = static_cast<uint8_t>(code_of(e2m1, regime % 5, random));
      for (uint8_t& v : b) v = static_cast<uint8_t>(code_of(e2m1, regime % 5, random));
      if (regime % 4 == 1)  // whole groups of zeros
        for (size_t i = 0; i < a.size(); ++i)
          if (i / 16 % 3 != 0) a[i] &= 8;
      if (regime % 4 == 2)  // groups that cancel
        for (size_t i = 1; i < a.size(); i += 2) a[i] = a[i - 1] ^ 8;
      if (regime % 4 == 2)
        for (size_t i = 1; i < b.size(); i += 2) b[i] = random() % 16 == 0 ? b[i] : b[i - 1];
      const auto scale_code = [&] {
        const uint64_t bits = random();
        if (scale == &ue8m0) return static_cast<uint8_t>(regime % 7 == 6 ? bits : 120 + bits % 16);
        if (regime % 7 == 6) return static_cast<uint8_t>(bits);  // NaN now and then
        if (regime % 7 == 5)
          return static_cast<uint8_t>(bits % 2 == 0 ? 0x7E : 1);  // the corner of scale exponents
        return static_cast<uint8_t>(bits % 0x7F);
      };
      for (uint8_t& v : sa) v = scale_code();
      for (uint8_t& v : sb) v = scale_code();
      for (size_t i = 0; i < c.size(); ++i) c[i] = i % 3 == 0 ? 0 : code_of(f32, regime % 3, random);
      std::vector<uint32_t> expected = c;
      for (size_t r = 0; r < rows; ++r)
        for (size_t n = 0; n < columns; ++n)
          for (size_t i = 0; i < k; i += 64) {
            const std::vector<uint32_t> x(a.begin() + static_cast<long>(r * k + i),
                                          a.begin() + static_cast<long>(r * k + i + 64));
            const std::vector<uint32_t> y(b.begin() + static_cast<long>(n * k + i),
                                          b.begin() + static_cast<long>(n * k + i + 64));
            uint32_t& d = expected[r * columns + n];
            d = mxf4nvf4_dot(x, y, d, *scale, std::span(sa).subspan((r * k + i) / 16, 4),
                             std::span(sb).subspan((n * k + i) / 16, 4));
          }
      const ScaledColumns prepared = prepare_scaled_columns(*scale, b, sb, columns, k);
      for (const char* level : kLevels) {
        if (!has_level(level)) continue;
        std::vector<uint32_t> d = c;
        mxf4nvf4_tile(a, sa, rows, prepared, d, level);
        ASSERT_EQ(d, expected) << scale->name << " regime " << regime << " " << level;
      }
    }
}

TEST(Tile, RefusesOtherSizes) {
  const std::vector<uint32_t> codes(64);
  const PlainColumns b = prepare_columns(f16, codes, 4, 16);
  std::vector<uint32_t> d(3);
  EXPECT_THROW(dot_tile(*find_dot_rule("hopper", "wgmma", f16, f32), codes, 1, b, d), std::invalid_argument);
  EXPECT_THROW(prepare_columns(f16, codes, 5, 16), std::invalid_argument);
  const std::vector<uint8_t> bytes(40);
  EXPECT_THROW(prepare_scaled_columns(ue4m3, bytes, bytes, 1, 40), std::invalid_argument);
}

}  // namespace
}  // namespace bitwell::number
