// The fast tiles are the definition, bit for bit, on every instruction set that this host has.
#include "model/number/tile/dot_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

struct Drawn {
  std::vector<uint32_t> a, b, c;
  std::vector<uint8_t> sa, sb;
};

Drawn drawn(const DotRule& rule, const Format& fa, const Format& fb, size_t rows, size_t columns, size_t k,
            int regime, std::mt19937_64& random) {
  Drawn out{std::vector<uint32_t>(rows * k), std::vector<uint32_t>(columns * k),
            std::vector<uint32_t>(rows * columns), std::vector<uint8_t>(rows * rule.scales(k)),
            std::vector<uint8_t>(columns * rule.scales(k))};
  for (uint32_t& v : out.a) v = code_of(fa, regime % 5, random);
  for (uint32_t& v : out.b) v = code_of(fb, regime % 5, random);
  const auto sign = static_cast<uint32_t>(fa.sign_mask() << fa.ignored_low);
  if (regime / 5 % 3 == 1)  // whole groups of zeros
    for (size_t i = 0; i < out.a.size(); ++i)
      if (i / 16 % 3 != 0) out.a[i] &= sign;
  if (regime / 5 % 3 == 2) {  // groups that cancel
    for (size_t i = 1; i < out.a.size(); i += 2) out.a[i] = out.a[i - 1] ^ sign;
    for (size_t i = 1; i < out.b.size(); i += 2) out.b[i] = random() % 16 == 0 ? out.b[i] : out.b[i - 1];
  }
  for (std::vector<uint8_t>* scales : {&out.sa, &out.sb})
    for (uint8_t& v : *scales) {
      const uint64_t bits = random();
      if (regime % 7 == 6)
        v = static_cast<uint8_t>(bits);  // NaN now and then
      else if (rule.scale == &ue8m0)
        v = static_cast<uint8_t>(regime % 7 == 5 ? (bits % 2 == 0 ? 1 : 200) : 120 + bits % 16);
      else  // at times the corner of scale exponents
        v = static_cast<uint8_t>(regime % 7 == 5 ? (bits % 2 == 0 ? 0x7E : 1) : bits % 0x7F);
    }
  for (size_t i = 0; i < out.c.size(); ++i)
    out.c[i] = i % 3 == 0 ? 0 : code_of(*rule.output, regime % 5, random);
  return out;
}

// Every row, every pair of formats that it takes, every instruction set of the host; k in whole chunks,
// several, and not whole. All of B's parts are prepared where others have stood.
TEST(Tile, EqualsTheDefinitionInEveryRow) {
  std::mt19937_64 random(11);
  DotColumns prepared;
  for (const DotRule& rule : dot_rules())
    for (const Format* fa : rule.inputs)
      for (const Format* fb : rule.inputs) {
        if (fa == nullptr || fb == nullptr || !rule.takes(*fa, *fb)) continue;
        const int regimes = rule.scale != nullptr ? 35 : fa == fb ? 15 : 5;
        for (int regime = 0; regime < regimes; ++regime) {
          const size_t rows = 4;
          const size_t columns = regime == 1 ? 70 : regime % 5 == 3 ? 9 : 33;
          const auto length = static_cast<size_t>(rule.length);
          const size_t k = regime % 5 == 2 ? 3 * length + 4 : 2 * length;
          const Drawn o = drawn(rule, *fa, *fb, rows, columns, k, regime, random);
          const size_t scales = rule.scales(k);
          std::vector<uint32_t> expected = o.c;
          for (size_t r = 0; r < rows; ++r)
            for (size_t n = 0; n < columns; ++n)
              expected[r * columns + n] = dot(
                  rule, {fa, std::span(o.a).subspan(r * k, k), std::span(o.sa).subspan(r * scales, scales)},
                  {fb, std::span(o.b).subspan(n * k, k), std::span(o.sb).subspan(n * scales, scales)},
                  o.c[r * columns + n]);
          for (const char* level : kLevels) {
            if (!has_level(level)) continue;
            prepare_columns(rule, {fb, o.b, o.sb}, columns, k, prepared, level);
            std::vector<uint32_t> d = o.c;
            dot_tile(rule, {fa, o.a, o.sa}, rows, prepared, d, level);
            ASSERT_EQ(d, expected) << rule.architecture << " " << rule.instruction << " " << fa->name << " "
                                   << fb->name << " "
                                   << (rule.scale == nullptr ? "no scales" : rule.scale->name) << " "
                                   << rule.scale_vector << " regime " << regime << " " << level;
          }
        }
      }
}

// Rows, columns and C with an infinity or a NaN, at the first, a middle and the last place, against each
// other and against finite ones and zeros.
TEST(Tile, InfinityAndNaNGoWhereTheDefinitionHasThem) {
  for (const DotRule& rule : dot_rules())
    for (const Format* fa : rule.inputs)
      for (const Format* fb : rule.inputs) {
        if (fa == nullptr || fb == nullptr || !rule.takes(*fa, *fb)) continue;
        const size_t k = 2 * static_cast<size_t>(rule.length), scales = rule.scales(k);
        const auto vectors = [&](const Format& f, bool nan_scale) {
          const auto one = static_cast<uint32_t>(f.bias) << f.fraction_bits;
          std::vector<uint32_t> specials{0};  // none: a vector of ones
          const auto sign = static_cast<uint32_t>(f.sign_mask());
          if (f.has_infinity())
            specials.insert(specials.end(), {static_cast<uint32_t>(f.max_code() + 1),
                                             static_cast<uint32_t>(f.max_code() + 1) | sign});
          if (f.has_nan())
            specials.insert(specials.end(), {static_cast<uint32_t>(f.magnitude_mask()),
                                             static_cast<uint32_t>(f.magnitude_mask()) | sign});
          std::vector<uint32_t> codes;
          std::vector<uint8_t> scale;
          const auto add = [&](uint32_t fill, uint32_t special, size_t at, uint8_t first_scale) {
            codes.insert(codes.end(), k, fill << f.ignored_low);
            if (special != 0) codes[codes.size() - k + at] = special << f.ignored_low;
            for (size_t i = 0; i < scales; ++i)
              scale.push_back(i == 0 ? first_scale : static_cast<uint8_t>(rule.scale == &ue8m0 ? 127 : 0x38));
          };
          const auto usual = static_cast<uint8_t>(rule.scale == &ue8m0 ? 127 : 0x38);
          for (const uint32_t special : specials)
            for (const size_t at : {size_t{0}, k / 2, k - 1})
              for (const uint32_t fill : {one, uint32_t{0}}) add(fill, special, at, usual);
          if (rule.scale != nullptr && nan_scale) add(one, 0, 0, rule.scale == &ue8m0 ? 0xFF : 0x7F);
          return std::pair(codes, scale);
        };
        const auto [a, sa] = vectors(*fa, true);
        const auto [b, sb] = vectors(*fb, true);
        const size_t rows = a.size() / k, columns = b.size() / k;
        const auto out = *rule.output;
        const auto infinite = static_cast<uint32_t>(out.max_code() + 1);
        for (const uint32_t addend :
             {uint32_t{0}, static_cast<uint32_t>(out.bias) << out.fraction_bits, infinite,
              infinite | static_cast<uint32_t>(out.sign_mask()), infinite + 1,
              static_cast<uint32_t>(out.magnitude_mask() | out.sign_mask())}) {
          const std::vector<uint32_t> c(rows * columns, addend);
          std::vector<uint32_t> expected = c;
          for (size_t r = 0; r < rows; ++r)
            for (size_t n = 0; n < columns; ++n)
              expected[r * columns + n] = dot(
                  rule, {fa, std::span(a).subspan(r * k, k), std::span(sa).subspan(r * scales, scales)},
                  {fb, std::span(b).subspan(n * k, k), std::span(sb).subspan(n * scales, scales)}, addend);
          for (const char* level : kLevels) {
            if (!has_level(level)) continue;
            std::vector<uint32_t> d = c;
            dot_tile(rule, {fa, a, sa}, rows, prepare_columns(rule, {fb, b, sb}, columns, k, level), d,
                     level);
            ASSERT_EQ(d, expected) << rule.architecture << " " << rule.instruction << " " << fa->name << " "
                                   << fb->name << " C " << addend << " " << level;
          }
        }
      }
}

// What the groups' loop rounds itself is cut off where C's exponent, or another group's, is far above: every
// distance around the last bit that is kept.
TEST(Tile, ScaledTermsAreCutOffWhereTheDefinitionCutsThem) {
  std::mt19937_64 random(13);
  const size_t columns = kTileLanes;
  size_t cut = 0;
  for (const Format* scale : {&ue4m3, &ue8m0}) {
    const DotRule& rule = *find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, scale, 16);
    for (int c_exponent = -60; c_exponent <= 60; ++c_exponent) {
      Drawn o = drawn(rule, e2m1, e2m1, 1, columns, 64, 1, random);
      for (std::vector<uint8_t>* v : {&o.sa, &o.sb})
        for (size_t i = 0; i < v->size(); ++i)
          (*v)[i] = scale == &ue8m0 ? static_cast<uint8_t>(i % 4 == 3 ? 140 : 110 + random() % 20)
                                    : static_cast<uint8_t>(i % 4 == 3 ? 0x7E : 1 + random() % 0x20);
      if (c_exponent % 2 == 0 && scale == &ue4m3) o.sa[3] = 0;  // its group has no exponent then
      for (uint32_t& c : o.c)
        c = static_cast<uint32_t>(127 + c_exponent) << 23 | (static_cast<uint32_t>(random()) & 0x807FFFFF);
      std::vector<uint32_t> expected = o.c;
      for (size_t n = 0; n < columns; ++n) {
        std::vector<DotChunk> trace;
        expected[n] = dot(rule, {&e2m1, o.a, o.sa},
                          {&e2m1, std::span(o.b).subspan(64 * n, 64), std::span(o.sb).subspan(4 * n, 4)},
                          o.c[n], &trace);
        for (const DotTerm& t : trace[0].terms) cut += t.cut ? 1 : 0;
      }
      const DotColumns prepared = prepare_columns(rule, {&e2m1, o.b, o.sb}, columns, 64);
      for (const char* level : kLevels) {
        if (!has_level(level)) continue;
        std::vector<uint32_t> d = o.c;
        dot_tile(rule, {&e2m1, o.a, o.sa}, 1, prepared, d, level);
        ASSERT_EQ(d, expected) << scale->name << " C exponent " << c_exponent << " " << level;
      }
    }
  }
  EXPECT_GT(cut, 1000u);
}

// A term of one unit, below zero, beside an addend or another group `distance` powers of two above it: the
// largest number below the large one, or the large one itself where the unit is cut off.
TEST(Tile, AUnitIsCutOffWhereTheDefinitionCutsIt) {
  const DotRule& rule = *find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &ue4m3, 16);
  constexpr uint32_t kHalf = 1, kOne = 2, kMinus = 8;  // of E2M1
  constexpr int kLow = -12;                            // of two subnormal scales: the unit is 2^-20
  constexpr size_t columns = kTileLanes;
  size_t cut = 0;
  for (const bool group : {false, true})
    for (int distance = 20; distance <= (group ? 28 : 36); ++distance)
      for (const size_t lane : {0, 7, 15, 16, 31}) {
        std::vector<uint32_t> a(64), b(64 * columns), c(columns);
        std::vector<uint8_t> sa(4), sb(4 * columns);
        a[3] = kHalf;
        b[64 * lane + 3] = kHalf | kMinus;
        sa[0] = sb[4 * lane] = 1;
        if (group) {
          const int exponent = kLow + distance;  // 2^exponent = 1 * 1 * both scales
          a[40] = b[64 * lane + 40] = kOne;
          sa[2] = static_cast<uint8_t>((exponent / 2 + 7) << 3);
          sb[4 * lane + 2] = static_cast<uint8_t>((exponent - exponent / 2 + 7) << 3);
        } else {
          c[lane] = static_cast<uint32_t>(127 + kLow + distance) << 23;
        }
        std::vector<uint32_t> expected = c;
        expected[lane] =
            dot(rule, {&e2m1, a, sa},
                {&e2m1, std::span(b).subspan(64 * lane, 64), std::span(sb).subspan(4 * lane, 4)}, c[lane]);
        cut += (expected[lane] & 0x7FFFFF) == 0 ? 1 : 0;
        const DotColumns prepared = prepare_columns(rule, {&e2m1, b, sb}, columns, 64);
        for (const char* level : kLevels) {
          if (!has_level(level)) continue;
          std::vector<uint32_t> d = c;
          dot_tile(rule, {&e2m1, a, sa}, 1, prepared, d, level);
          ASSERT_EQ(d, expected) << (group ? "group " : "addend ") << distance << " column " << lane << " "
                                 << level;
        }
      }
  EXPECT_EQ(cut, 5u * (9 + 1));
}

// Sums of the largest products, which 32 bits just hold or do not, and addends of every exponent beside them:
// of one sign, and of both.
TEST(Tile, SumsNearWhat32BitsHoldAreTheDefinitions) {
  std::mt19937_64 random(17);
  for (const DotRule& rule : dot_rules()) {
    if (rule.output != &f32 || rule.scale != nullptr) continue;
    for (const Format* f : rule.inputs) {
      if (f == nullptr) continue;
      const auto length = static_cast<size_t>(rule.length);
      const size_t columns = kTileLanes + 8;
      const auto ones = static_cast<uint32_t>(f->fraction_mask());
      const auto sign = static_cast<uint32_t>(f->sign_mask());
      for (int c_exponent = -126; c_exponent <= 127; ++c_exponent)
        for (const size_t k : {length, 2 * length}) {
          const bool signs = c_exponent % 3 == 0;
          const int lowest = f->exponent_bits == 8 && c_exponent % 2 == 0 ? c_exponent / 2 : 0;
          const auto code = [&](int exponent) {
            const auto field =
                static_cast<uint32_t>(std::clamp(f->bias + exponent, 1, (1 << f->exponent_bits) - 2));
            const uint32_t fraction = random() % 8 == 0 ? static_cast<uint32_t>(random()) & ones : ones;
            return (field << f->fraction_bits | fraction | (signs && random() % 2 == 0 ? sign : 0))
                   << f->ignored_low;
          };
          std::vector<uint32_t> a(3 * k), b(columns * k), c(3 * columns);
          for (uint32_t& v : a) v = code(lowest);
          for (uint32_t& v : b) v = code(lowest - (random() % 64 == 0 ? 1 : 0));
          for (uint32_t& v : c)
            v = static_cast<uint32_t>(127 + c_exponent) << 23 | (random() % 2 == 0 ? 0x7FFFFF : 0) |
                (static_cast<uint32_t>(random()) & 0x800000FF);
          std::vector<uint32_t> expected = c;
          for (size_t r = 0; r < 3; ++r)
            for (size_t n = 0; n < columns; ++n)
              expected[r * columns + n] = dot(rule, {f, std::span(a).subspan(r * k, k)},
                                              {f, std::span(b).subspan(n * k, k)}, c[r * columns + n]);
          for (const char* level : kLevels) {
            if (!has_level(level)) continue;
            std::vector<uint32_t> d = c;
            dot_tile(rule, {f, a}, 3, prepare_columns(rule, {f, b}, columns, k, level), d, level);
            ASSERT_EQ(d, expected) << rule.architecture << " " << rule.instruction << " " << f->name
                                   << " C exponent " << c_exponent << " k " << k << " " << level;
          }
        }
    }
  }
}

TEST(Tile, RefusesOtherSizes) {
  const DotRule& rule = *find_dot_rule("hopper", "wgmma", f16, f16, f32);
  const std::vector<uint32_t> codes(64);
  const DotColumns b = prepare_columns(rule, {&f16, codes}, 4, 16);
  std::vector<uint32_t> d(3);
  EXPECT_THROW(dot_tile(rule, {&f16, codes}, 1, b, d), std::invalid_argument);
  EXPECT_THROW(dot_tile(rule, {&f16, codes}, 4, b, d), std::invalid_argument);
  d.resize(16);
  dot_tile(rule, {&f16, codes}, 4, b, d);
  EXPECT_THROW(dot_tile(rule, {&bf16, codes}, 4, b, d), std::invalid_argument);
  EXPECT_THROW(prepare_columns(rule, {&f16, codes}, 5, 16), std::invalid_argument);
  EXPECT_THROW(prepare_columns(rule, {&e4m3, codes}, 4, 16), std::invalid_argument);
  const DotRule& scaled = *find_dot_rule("blackwell", "mxf4nvf4", e2m1, e2m1, f32, &ue4m3, 16);
  const std::vector<uint8_t> three(3);
  EXPECT_THROW(prepare_columns(scaled, {&e2m1, codes, three}, 1, 64), std::invalid_argument);
  // Prepared for another order of products.
  const DotRule& emulated = *find_dot_rule("hopper", "mma.sync", e4m3, e4m3, f32);
  const DotColumns fp8 = prepare_columns(emulated, {&e4m3, codes}, 4, 16);
  EXPECT_THROW(dot_tile(*find_dot_rule("hopper", "wgmma", e4m3, e4m3, f32), {&e4m3, codes}, 4, fp8, d),
               std::invalid_argument);
}

}  // namespace
}  // namespace bitwell::number
