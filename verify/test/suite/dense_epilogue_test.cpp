// The oracle of what a GEMM does with its sums agrees with the model's formats, which share nothing with it.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"
#include "verify/oracle/epilogue.h"
#include "verify/oracle/gemv.h"
#include "verify/oracle/whole_scales.h"

namespace bitwell::suite {
namespace {

uint64_t defined(const number::Format& format, float value) {
  const number::Exact v = number::decode(number::f32, std::bit_cast<uint32_t>(value));
  if (v.is_nan()) return format.magnitude_mask();
  return number::encode(format,
                        number::round(format, v, number::Rounding::nearest_even, number::Overflow::saturate));
}

// Every code's value, the middle between neighbours, and what is next to them, of both signs; and beyond the
// range.
TEST(DenseEpilogue, NarrowCodesAreNearestTiesToEven) {
  for (int code = 0; code < 0x7F; ++code) {
    const auto value = [](int c) {
      const int field = c >> 3;
      return static_cast<float>(std::ldexp(field == 0 ? c : 8 + c % 8, (field == 0 ? 1 : field) - 10));
    };
    for (const float v : {value(code), (value(code) + value(code + 1)) / 2})
      for (const float near : {v, std::nextafterf(v, 0), std::nextafterf(v, 1e9f)})
        for (const float signed_near : {near, -near}) {
          EXPECT_EQ(oracle::to_e4m3(signed_near), defined(number::e4m3, signed_near)) << signed_near;
          EXPECT_EQ(oracle::to_e2m1(signed_near), defined(number::e2m1, signed_near)) << signed_near;
        }
  }
  for (const float v : {448.0f, 449.0f, 1e30f, 6.5f, std::numeric_limits<float>::infinity(), 1e-30f, 0.0f,
                        std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(oracle::to_e4m3(v), defined(number::e4m3, v)) << v;
    EXPECT_EQ(oracle::to_e2m1(v), defined(number::e2m1, v)) << v;
  }
}

TEST(DenseEpilogue, HalvesAreWhatTheirBitsSay) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const number::Exact v = number::decode(number::f16, code);
    const float got = oracle::half(static_cast<uint16_t>(code));
    if (v.is_nan())
      EXPECT_TRUE(std::isnan(got)) << code;
    else
      EXPECT_EQ(std::bit_cast<uint32_t>(got),
                number::encode(number::f32, number::round(number::f32, v, number::Rounding::nearest_even,
                                                          number::Overflow::ieee)))
          << code;
  }
}

TEST(DenseEpilogue, AGroupsScaleIsASixthOfItsLargest) {
  std::array<float, 16> v{};
  EXPECT_EQ(oracle::quantised(v).scale, 0);
  v[3] = -12;
  v[4] = 1;  // 0.5 under a scale of 2
  oracle::Nvfp4Group g = oracle::quantised(v);
  EXPECT_EQ(g.scale, 0x40);
  EXPECT_EQ(g.codes[3], 0xF);
  EXPECT_EQ(g.codes[4], 1);
  v[5] = std::numeric_limits<float>::quiet_NaN();
  g = oracle::quantised(v);
  EXPECT_EQ(g.scale, 0x7F);
  EXPECT_EQ(g.codes[4], 7);
  v[5] = -std::numeric_limits<float>::infinity();
  g = oracle::quantised(v);
  EXPECT_EQ(g.scale, 0x7E);
  EXPECT_EQ(g.codes[5], 0xF);
  v = {};
  v[0] = 1e-3f;  // its sixth is below the least scale
  EXPECT_EQ(oracle::quantised(v).scale, 0);
  EXPECT_EQ(oracle::quantised(v).codes[0], 0);
}

TEST(DenseEpilogue, CIsNotLookedAtWhereBetaIsZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(oracle::scaled(2, 3, 0, nan), 6);
  EXPECT_TRUE(std::isnan(oracle::scaled(2, 3, 1, nan)));
  // One rounding of alpha * sum + (beta * c).
  EXPECT_EQ(oracle::scaled(1 + 0x1p-12f, 1 + 0x1p-12f, -1, 1), 0x1p-11f + 0x1p-24f);
}

TEST(DenseEpilogue, WholeScalesGiveTheExactSum) {
  std::vector<uint8_t> a, b, sa, sb;
  for (int i = 0; i < 256; ++i) {
    a.push_back(static_cast<uint8_t>(i % 16));
    b.push_back(static_cast<uint8_t>(i / 16));
  }
  for (int g = 0; g < 16; ++g) {
    static constexpr uint8_t kScales[] = {0x00, 0x38, 0x40, 0x44};
    sa.push_back(kScales[g % 4]);
    sb.push_back(kScales[(g + g / 4) % 4]);
  }
  EXPECT_EQ(static_cast<double>(oracle::whole_dot(oracle::halves(a, sa), oracle::halves(b, sb))),
            std::ldexp(static_cast<double>(oracle::dot(a, b, sa, sb).units), -20));
  sa[2] = 0x39;
  EXPECT_THROW(oracle::halves(a, sa), std::domain_error);
}

}  // namespace
}  // namespace bitwell::suite
