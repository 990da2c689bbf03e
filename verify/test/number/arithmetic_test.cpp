// The arithmetic against the host's IEEE hardware (f32, f64, four rounding modes) and against 113-bit floats
// (f16).
#include "model/number/arithmetic.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

using namespace bitwell::number;

namespace {

constexpr std::pair<Rounding, int> kModes[] = {{Rounding::nearest_even, FE_TONEAREST},
                                               {Rounding::toward_zero, FE_TOWARDZERO},
                                               {Rounding::toward_negative, FE_DOWNWARD},
                                               {Rounding::toward_positive, FE_UPWARD}};

template <class Float, class Word>
struct Host {
  static Word add(Word a, Word b) { return bits(value(a) + value(b)); }
  static Word mul(Word a, Word b) { return bits(value(a) * value(b)); }
  static Word div(Word a, Word b) { return bits(value(a) / value(b)); }
  static Word fma(Word a, Word b, Word c) { return bits(std::fma(value(a), value(b), value(c))); }
  static Word sqrt(Word a) { return bits(std::sqrt(value(a))); }
  static volatile Float sink;
  static Float value(Word w) { return std::bit_cast<Float>(w); }
  static Word bits(Float f) {
    sink = f;  // keeps the operation between the two changes of rounding mode
    return std::bit_cast<Word>(Float(sink));
  }
};
template <class Float, class Word>
volatile Float Host<Float, Word>::sink;

bool same(const Format& f, uint64_t host, uint64_t ours) {
  const bool nan = (host & f.magnitude_mask()) > f.magnitude_mask() - f.fraction_mask();
  return nan ? (ours & f.magnitude_mask()) > f.magnitude_mask() - f.fraction_mask() : host == ours;
}

template <class Word>
std::vector<Word> boundary_codes(const Format& f) {
  std::vector<Word> codes;
  const uint64_t one = static_cast<uint64_t>(f.bias) << f.fraction_bits;
  const uint64_t least_normal = uint64_t{1} << f.fraction_bits;
  for (const uint64_t base :
       {uint64_t{0}, least_normal, one, one + f.fraction_mask(), f.max_code(), f.max_code() + 1,
        f.canonical_nan(), one + (uint64_t{f.fraction_bits + 1u} << f.fraction_bits)})
    for (const int step : {-1, 0, 1})
      if (base != 0 || step >= 0)
        for (const uint64_t sign : {uint64_t{0}, f.sign_mask()})
          codes.push_back(
              static_cast<Word>(((base + static_cast<uint64_t>(step)) & f.magnitude_mask()) | sign));
  return codes;
}

template <class Float, class Word>
void agrees_with_host(const Format& f) {
  using H = Host<Float, Word>;
  std::vector<Word> codes = boundary_codes<Word>(f);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) codes.push_back(static_cast<Word>(random()));
  for (const auto& [mode, host_mode] : kModes) {
    const Mode m{.rounding = mode};
    const auto expect = [&](const char* what, Word host, uint64_t ours, Word a, Word b, Word c) {
      ASSERT_TRUE(same(f, host, ours))
          << what << " " << f.name << std::hex << " " << uint64_t{a} << " " << uint64_t{b} << " "
          << uint64_t{c} << " => " << ours << " expected " << uint64_t{host};
    };
    for (const Word a : codes) {
      std::fesetround(host_mode);
      const Word root = H::sqrt(a);
      std::fesetround(FE_TONEAREST);
      expect("sqrt", root, sqrt(f, a, m), a, 0, 0);
      for (const Word b : codes) {
        std::fesetround(host_mode);
        const Word sum = H::add(a, b);
        const Word product = H::mul(a, b);
        const Word quotient = H::div(a, b);
        std::fesetround(FE_TONEAREST);
        expect("add", sum, add(f, a, b, m), a, b, 0);
        expect("mul", product, mul(f, a, b, m), a, b, 0);
        expect("div", quotient, div(f, a, b, m), a, b, 0);
        for (const Word c : codes) {
          std::fesetround(host_mode);
          const Word fused = H::fma(a, b, c);
          std::fesetround(FE_TONEAREST);
          expect("fma", fused, fma(f, a, b, c, m), a, b, c);
        }
      }
    }
  }
}

TEST(Arithmetic, F32AgreesWithTheHostInFourRoundingModes) { agrees_with_host<float, uint32_t>(f32); }
TEST(Arithmetic, F64AgreesWithTheHostInFourRoundingModes) { agrees_with_host<double, uint64_t>(f64); }

// 113 bits hold every fp16 fma exactly (80 bits from the largest product to the least subnormal), so that
// converting once to fp16 by comparison with neighbours is the correct rounding.
__extension__ typedef __float128 Wide;

Wide wide(uint64_t code) {
  const auto exponent = static_cast<int>((code >> 10) & 31);
  const auto fraction = static_cast<int>(code & 1023);
  const Wide unit = static_cast<Wide>(std::ldexp(1.0, (exponent == 0 ? 1 : exponent) - 25));
  const Wide v = unit * static_cast<Wide>(exponent == 0 ? fraction : 1024 + fraction);
  return (code & 0x8000) != 0 ? -v : v;
}

uint64_t nearest_f16(Wide v, bool negative_zero) {
  const bool negative = v < 0;
  if (negative) v = -v;
  const uint64_t sign = negative || (v == 0 && negative_zero) ? 0x8000 : 0;
  uint64_t low = 0;  // the largest code whose value is at most v, infinity standing for 65536
  uint64_t high = 0x7C00;
  while (low < high) {
    const uint64_t mid = (low + high + 1) / 2;
    (wide(mid) <= v) ? low = mid : high = mid - 1;
  }
  if (low == 0x7C00) return sign | low;
  const Wide below = v - wide(low);
  const Wide above = wide(low + 1) - v;
  if (above < below || (above == below && (low & 1) != 0)) ++low;
  return sign | low;
}

TEST(Arithmetic, F16FmaIsOneRoundingOfTheExactValue) {
  // A fused multiply-add done in float rounds twice here.
  EXPECT_EQ(fma(f16, 0x3E00, 0x3956 - 1, 0x0001, {}),
            nearest_f16(wide(0x3E00) * wide(0x3955) + wide(1), false));
  std::mt19937_64 random(2);
  std::vector<uint16_t> codes = boundary_codes<uint16_t>(f16);
  for (int i = 0; i < 100; ++i) codes.push_back(static_cast<uint16_t>(random()));
  for (const uint16_t a : codes)
    for (const uint16_t b : codes)
      for (const uint16_t c : codes) {
        if ((a & 0x7C00) == 0x7C00 || (b & 0x7C00) == 0x7C00 || (c & 0x7C00) == 0x7C00) continue;
        const Wide product = wide(a) * wide(b);
        const bool minus_product = ((a ^ b) & 0x8000) != 0;
        const bool negative_zero = minus_product && (c & 0x8000) != 0;
        const Wide exact = product + wide(c);
        const bool rounded_to_zero_from_below = exact < 0;
        ASSERT_EQ(fma(f16, a, b, c, {}), nearest_f16(exact, negative_zero || rounded_to_zero_from_below))
            << std::hex << a << " " << b << " " << c;
      }
}

TEST(Arithmetic, FlushingClampingAndNaN) {
  const uint64_t subnormal = 0x00000001;
  EXPECT_EQ(add(f32, subnormal, subnormal, {.ftz = true}), 0u);
  EXPECT_EQ(add(f32, 0x80000001, 0x80000001, {.ftz = true}), 0x80000000u);
  EXPECT_EQ(mul(f32, 0x00800000, 0x3F000000, {.ftz = true}), 0u);
  EXPECT_EQ(add(f32, 0x3F800000, 0x3F800000, {.sat = true}), 0x3F800000u);
  EXPECT_EQ(add(f32, 0xBF800000, 0, {.sat = true}), 0u);
  EXPECT_EQ(add(f32, 0x7FC00000, 0, {.sat = true}), 0u);
  EXPECT_EQ(add(f32, 0xFFC12345, 0, {}), 0x7FFFFFFFu);
  EXPECT_EQ(fma(f16, 0xFE00, 0, 0, {}), 0x7FFFu);
  EXPECT_EQ(fma(f16, 0xBC00, 0x3C00, 0, {.relu = true}), 0u);
  EXPECT_EQ(fma(f16, 0xFE00, 0, 0, {.relu = true}), 0x7FFFu);
  EXPECT_EQ(sub(f32, 0x3F800000, 0x3F800000, {.rounding = Rounding::toward_negative}), 0x80000000u);
}

}  // namespace
