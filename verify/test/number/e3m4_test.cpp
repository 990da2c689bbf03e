// E3M4 (8 bits, IEEE's rules, bias 3): every code against values made without the table's arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

namespace bitwell::number {
namespace {

double as_double(const Exact& v) {
  if (v.is_nan()) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude =
      v.is_infinity() ? HUGE_VAL
                      : std::ldexp(static_cast<double>(static_cast<uint64_t>(v.significand)), v.exponent);
  return v.negative ? -magnitude : magnitude;
}

// Magnitudes by counting: 32 steps of 1/64 (subnormals, then the first binade), 16 steps of each size twice
// the last up to 15.5, infinity, and 15 NaNs.
TEST(E3m4, EveryCodeIsTheValueThatCountingGives) {
  double value = 0;
  double step = 1.0 / 64;
  for (uint32_t code = 0; code < 0x70; ++code) {
    if (code >= 0x20 && code % 0x10 == 0) step *= 2;
    EXPECT_EQ(as_double(decode(e3m4, code)), value) << code;
    EXPECT_EQ(as_double(decode(e3m4, code | 0x80)), -value) << code;
    EXPECT_TRUE(std::signbit(as_double(decode(e3m4, code | 0x80)))) << code;
    value += step;
  }
  EXPECT_EQ(value, 16);  // what comes after 15.5
  EXPECT_EQ(as_double(decode(e3m4, 0x70)), HUGE_VAL);
  EXPECT_EQ(as_double(decode(e3m4, 0xF0)), -HUGE_VAL);
  for (uint32_t code = 0x71; code < 0x80; ++code)
    EXPECT_TRUE(decode(e3m4, code).is_nan() && decode(e3m4, code | 0x80).is_nan()) << code;
}

TEST(E3m4, RoundsAtItsEnds) {
  const auto code = [](double v, Overflow overflow) {
    return encode(e3m4,
                  round(e3m4, decode(f64, std::bit_cast<uint64_t>(v)), Rounding::nearest_even, overflow));
  };
  EXPECT_EQ(code(15.5, Overflow::ieee), 0x6Fu);
  EXPECT_EQ(code(15.74, Overflow::ieee), 0x6Fu);
  EXPECT_EQ(code(15.75, Overflow::ieee), 0x70u);  // a tie: to the even one, which is infinity
  EXPECT_EQ(code(-15.75, Overflow::saturate), 0xEFu);
  EXPECT_EQ(code(1.0 / 128, Overflow::ieee), 0u);  // half of the least
  EXPECT_EQ(code(std::nextafter(1.0 / 128, 1), Overflow::ieee), 1u);
  EXPECT_EQ(code(-1.0 / 256, Overflow::ieee), 0x80u);
}

}  // namespace
}  // namespace bitwell::number
