// The special-function unit against an H200 over all that its interpolator can be given, by digests, and laws
// of the functions that must hold whoever recorded them. Every fp32 input is compared in verify/test/device.
#include "model/number/special_function.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace bitwell::number {
namespace {

using enum SpecialFunction;

double value(uint32_t code) { return static_cast<double>(std::bit_cast<float>(code)); }
uint32_t code_of(double v) { return std::bit_cast<uint32_t>(static_cast<float>(v)); }

// FNV-1a of 64 bits, a word at a time.
struct Digest {
  uint64_t value = 0xCBF29CE484222325;
  void add(uint32_t word) { value = (value ^ word) * 0x100000001B3; }
};

// The digests in this file are of what an H200 returned.
TEST(SpecialFunction, EveryPlaceOfEverySegmentIsTheH200s) {
  struct Range {
    SpecialFunction function;
    uint32_t first, count;
    uint64_t h200;
  };
  constexpr uint32_t kBinade = 1u << 23;
  constexpr Range kRanges[] = {{rcp, 0x3F800000, kBinade, 0xFA72A6C698274964},
                               {rsqrt, 0x3F800000, 2 * kBinade, 0xBDF1CB386EE78BC2},
                               {sqrt, 0x3F800000, 2 * kBinade, 0x50712C001BD4EB00},
                               {ex2, 0x3F800000, kBinade, 0x3F0F3852F2FA7EDB},
                               {lg2, 0x3F800000, kBinade, 0x5CA43D6B0D176848},
                               {lg2, 0x3F000000, kBinade, 0xF8884F097B12E53D}};
  for (const Range& r : kRanges) {
    Digest digest;
    for (uint32_t i = 0; i < r.count; ++i) digest.add(special_function(r.function, r.first + i));
    EXPECT_EQ(digest.value, r.h200) << "function " << static_cast<int>(r.function) << " from "
                                    << value(r.first);
  }
  Digest quarter;
  for (uint32_t i = 0; i <= kBinade; ++i) quarter.add(special_function(sin, code_of(i * 0x1p-25)));
  EXPECT_EQ(quarter.value, 0x272BA72D38910E65u) << "sin of a quarter of a revolution";
}

// From 2^-8 to 8; each binade in steps of the least bit that the unit reads there.
TEST(SpecialFunction, EveryPlaceOfTanhIsTheH200s) {
  constexpr std::array<int, 11> kUnread{6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3};
  Digest digest;
  for (uint32_t binade = 0; binade < kUnread.size(); ++binade)
    for (uint32_t i = 0; i < 1u << 23; i += 1u << kUnread[binade]) {
      const uint32_t x = (binade + 119) << 23 | i;
      const uint32_t y = special_function(tanh, x);
      digest.add(y);
      ASSERT_EQ(special_function(tanh, x | ((1u << kUnread[binade]) - 1)), y) << std::hex << x;
    }
  EXPECT_EQ(digest.value, 0x309EDF16446F8E2Eu);
}

// 512 significands under each sign and exponent: powers of two, their complements, the ends, the rest
// scattered.
uint32_t scattered(uint32_t i) {
  const uint32_t k = i & 511;
  uint32_t significand = i * 0x9E3779B1;
  significand ^= significand >> 15;
  significand *= 0x85EBCA77;
  significand ^= significand >> 13;
  if (k < 23) significand = 1u << k;
  if (k >= 23 && k < 46) significand = ~(1u << (k - 23));
  if (k == 46) significand = 0;
  if (k == 47) significand = 0x7FFFFF;
  return i >> 9 << 23 | (significand & 0x7FFFFF);
}

TEST(SpecialFunction, EverySignAndExponentIsTheH200s) {
  struct Row {
    SpecialFunction function;
    uint64_t h200;
  };
  constexpr Row kRows[] = {{sin, 0x1CF16328AACB9309},
                           {cos, 0xFB15945BFEC13459},
                           {lg2, 0xCB258B9A834B38E3},
                           {tanh, 0xF1FAE47ECD245F05}};
  for (const Row& row : kRows) {
    Digest digest;
    for (uint32_t i = 0; i < 1u << 18; ++i) digest.add(special_function(row.function, scattered(i)));
    EXPECT_EQ(digest.value, row.h200) << "function " << static_cast<int>(row.function);
  }
}

double truth(SpecialFunction f, double x) {
  constexpr double kRevolution = 6.283185307179586;
  switch (f) {
    case rcp: return 1 / x;
    case rsqrt: return 1 / std::sqrt(x);
    case sqrt: return std::sqrt(x);
    case ex2: return std::exp2(x);
    case lg2: return std::log2(x);
    case sin: return std::sin(kRevolution * x);
    case cos: return std::cos(kRevolution * x);
    case tanh: return std::tanh(x);
  }
  return 0;
}

// PTX ISA 9.0, 9.7.3: rcp within 1 ulp, rsqrt and sqrt within a relative 2^-22.4, ex2 within 2 ulp, tanh
// within a relative 2^-11; lg2 within 2^-22 and sin and cos within 2^-20.5, absolute, in these ranges.
TEST(SpecialFunction, ErrorsAreWithinTheManualsBounds) {
  struct Bound {
    SpecialFunction function;
    double first, last;
    bool relative;
    double bound;
  };
  constexpr Bound kBounds[] = {{rcp, 1, 2, true, 0x1p-23},           {rsqrt, 1, 4, true, 0x1.8p-23},
                               {sqrt, 1, 4, true, 0x1.8p-23},        {ex2, 1, 2, true, 0x1.8p-23},
                               {lg2, 0.5, 2, false, 0x1p-22},        {sin, 0x1p-30, 1, false, 0x1.6Ap-21},
                               {cos, 0x1p-30, 1, false, 0x1.6Ap-21}, {tanh, 0x1p-30, 16, true, 0x1p-11}};
  for (const Bound& b : kBounds)
    for (uint32_t x = code_of(b.first); x < code_of(b.last); x += 61) {
      const double exact = truth(b.function, value(x));
      const double error = std::fabs(value(special_function(b.function, x)) - exact);
      ASSERT_LE(error, b.relative ? b.bound * exact : b.bound)
          << "function " << static_cast<int>(b.function) << " of " << value(x);
    }
}

TEST(SpecialFunction, PowersAreExact) {
  for (int e = -60; e <= 60; ++e) {
    EXPECT_EQ(special_function(rcp, code_of(std::ldexp(1, e))), code_of(std::ldexp(1, -e)));
    EXPECT_EQ(special_function(rsqrt, code_of(std::ldexp(1, 2 * e))), code_of(std::ldexp(1, -e)));
    EXPECT_EQ(special_function(sqrt, code_of(std::ldexp(1, 2 * e))), code_of(std::ldexp(1, e)));
    EXPECT_EQ(special_function(ex2, code_of(e)), code_of(std::ldexp(1, e)));
  }
}

TEST(SpecialFunction, SpecialInputs) {
  constexpr uint32_t inf = 0x7F800000;
  constexpr uint32_t minus = 0x80000000;
  constexpr uint32_t one = 0x3F800000;
  for (const SpecialFunction f : {rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh})
    for (const uint32_t nan : {0x7F800001u, 0x7FC00000u, 0xFFFFFFFFu, 0xFF800001u})
      EXPECT_EQ(special_function(f, nan), 0x7FFFFFFFu);
  for (const uint32_t tiny : {0u, 1u, 0x7FFFFFu})
    for (const uint32_t sign : {0u, minus}) {
      EXPECT_EQ(special_function(rcp, tiny | sign), inf | sign);
      EXPECT_EQ(special_function(rsqrt, tiny | sign), inf | sign);
      EXPECT_EQ(special_function(sqrt, tiny | sign), sign);
      EXPECT_EQ(special_function(ex2, tiny | sign), one);
      EXPECT_EQ(special_function(lg2, tiny | sign), inf | minus);
      EXPECT_EQ(special_function(sin, tiny | sign), sign);
      EXPECT_EQ(special_function(cos, tiny | sign), one);
      EXPECT_EQ(special_function(tanh, tiny | sign), tiny | sign);
    }
  EXPECT_EQ(special_function(rcp, inf | minus), minus);
  EXPECT_EQ(special_function(rcp, 0x7F7FFFFF), 0u);  // 2^-128 is subnormal
  EXPECT_EQ(special_function(sqrt, inf), inf);
  EXPECT_EQ(special_function(sqrt, 0xBF800000), 0x7FFFFFFFu);
  EXPECT_EQ(special_function(ex2, inf | minus), 0u);
  EXPECT_EQ(special_function(ex2, 0x43000000), inf);          // 128
  EXPECT_EQ(special_function(ex2, 0xC2FC0000), 0x00800000u);  // -126
  EXPECT_EQ(special_function(ex2, 0xC2FC0001), 0u);
  EXPECT_EQ(special_function(lg2, one), 0u);
  EXPECT_EQ(special_function(lg2, one | minus), 0x7FFFFFFFu);
  EXPECT_EQ(special_function(lg2, inf), inf);
  EXPECT_EQ(special_function(sin, inf), 0x7FFFFFFFu);
  EXPECT_EQ(special_function(cos, inf | minus), 0x7FFFFFFFu);
  EXPECT_EQ(special_function(tanh, inf | minus), one | minus);
  // The fraction of a negative operand is complemented, not negated: H200.
  EXPECT_EQ(special_function(ex2, 0xBF7FFFFF), 0x3F000000u);
  EXPECT_EQ(special_function(ex2, 0xBF800000), 0x3F000000u);
  EXPECT_EQ(special_function(ex2, 0xBF800001), 0x3EFFFFFEu);
  EXPECT_EQ(special_function(ex2, 0xBFFFFFFF), 0x3E800000u);
}

}  // namespace
}  // namespace bitwell::number
