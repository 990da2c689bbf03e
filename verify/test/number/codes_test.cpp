// Laws of decode, round and encode, over every code of every format up to 16 bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

using namespace bitwell::number;

namespace {

double as_double(const Exact& v) {
  const double magnitude = std::ldexp(static_cast<double>(static_cast<uint64_t>(v.significand)), v.exponent);
  return v.negative ? -magnitude : magnitude;
}

// The values of OCP FP4, typed out from the standard.
constexpr double kE2m1[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};

TEST(Codes, E2m1HasTheStandardsSixteenValues) {
  for (unsigned code = 0; code < 16; ++code) {
    EXPECT_EQ(as_double(decode(e2m1, code)), kE2m1[code]);
    EXPECT_EQ(std::signbit(as_double(decode(e2m1, code))), code >= 8);
  }
}

TEST(Codes, LimitsAreTheStandards) {
  const auto limit = [](const Format& f) { return as_double(decode(f, f.max_code() << f.ignored_low)); };
  EXPECT_EQ(limit(e2m1), 6);
  EXPECT_EQ(limit(e2m3), 7.5);
  EXPECT_EQ(limit(e3m2), 28);
  EXPECT_EQ(limit(e4m3), 448);
  EXPECT_EQ(limit(ue4m3), 448);
  EXPECT_EQ(limit(e5m2), 57344);
  EXPECT_EQ(limit(ue8m0), std::ldexp(1, 127));
  EXPECT_EQ(limit(f16), 65504);
  EXPECT_EQ(limit(f32), 0x1.fffffep127);
  EXPECT_TRUE(decode(e4m3, 0x7F).is_nan());
  EXPECT_TRUE(decode(e4m3, 0xFF).is_nan());
  EXPECT_TRUE(decode(ue4m3, 0xFF).is_nan());
  EXPECT_EQ(as_double(decode(ue4m3, 0xB8)), 1);  // the top bit is ignored
  EXPECT_TRUE(decode(ue8m0, 0xFF).is_nan());
  EXPECT_EQ(as_double(decode(ue8m0, 0)), 0x1p-127);
  EXPECT_TRUE(decode(tf32, 0x7F800001).is_infinity());  // the low 13 bits go before classification
}

// As large as they are: neither branch of round() gives a value that encode() has to refuse.
TEST(Codes, WhatHasNoSignRoundsMagnitudes) {
  for (const Format* f : {&ue4m3, &ue8m0})
    for (const double magnitude : {1.0, 1.3, 300.0, 1e9, 1e300, HUGE_VAL})
      for (const Rounding way :
           {Rounding::nearest_even, Rounding::toward_negative, Rounding::toward_positive}) {
        const auto code = [&](double v) {
          return encode(*f, round(*f, decode(f64, std::bit_cast<uint64_t>(v)), way, Overflow::saturate));
        };
        EXPECT_EQ(code(-magnitude), code(magnitude)) << f->name << " " << magnitude;
      }
  EXPECT_EQ(encode(ue4m3, round(ue4m3, {Kind::nan, true}, Rounding::nearest_even, Overflow::saturate)),
            0x7Fu);
  EXPECT_TRUE(has_sign_of(e4m3, {Kind::finite, true, 1, 0}));
  EXPECT_FALSE(has_sign_of(ue4m3, {Kind::finite, true, 1, 0}));
  EXPECT_FALSE(has_sign_of(ue4m3, {Kind::infinity, true}));
  EXPECT_TRUE(has_sign_of(ue4m3, {Kind::finite, true}));
  EXPECT_TRUE(has_sign_of(ue8m0, {Kind::nan, true}));
}

TEST(Codes, EncodingADecodedCodeGivesTheCodeBack) {
  for (const Format* f : formats) {
    if (f->bits > 16) continue;
    for (uint64_t code = 0; code < uint64_t{1} << f->bits; ++code) {
      const Exact value = decode(*f, code);
      if (value.is_nan())
        EXPECT_EQ(encode(*f, value), f->canonical_nan()) << f->name << " " << code;
      else
        EXPECT_EQ(encode(*f, value), code) << f->name << " " << code;
    }
  }
}

TEST(Codes, RoundingAValueOfTheFormatChangesNothingInAnyMode) {
  for (const Format* f : formats) {
    if (f->bits > 16) continue;
    for (uint64_t code = 0; code < uint64_t{1} << f->bits; ++code) {
      const Exact value = decode(*f, code);
      if (value.is_nan()) continue;
      for (const Rounding mode : {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero,
                                  Rounding::toward_negative, Rounding::toward_positive})
        EXPECT_EQ(encode(*f, round(*f, value, mode, Overflow::ieee)), code) << f->name << " " << code;
    }
  }
}

// Between two neighbouring codes: the midpoint and the points just below and above it, in every mode.
TEST(Codes, PointsBetweenNeighboursRoundAsEachModeSays) {
  for (const Format* f : formats) {
    if (f->bits > 16 || f->special == Special::scale) continue;
    for (uint64_t code = 0; code < f->max_code(); ++code) {
      const Exact low = decode(*f, code);
      const Exact mid = add(low, decode(*f, code + 1));  // twice the midpoint
      for (const bool negative : {false, true}) {
        if (negative && !f->is_signed) continue;
        const auto code_of = [&](int nudge, Rounding mode) {
          const int up = 127 - bit_width(mid.significand);  // so that one unit is far below the format's grid
          Exact v{Kind::finite, negative, mid.significand << up, mid.exponent - up - 1};
          v.significand = nudge < 0 ? v.significand - 1 : v.significand + static_cast<unsigned>(nudge);
          return encode(*f, round(*f, v, mode, Overflow::ieee)) & f->magnitude_mask();
        };
        for (const int nudge : {-1, 0, 1}) {
          const uint64_t nearest = nudge < 0 ? code : nudge > 0 ? code + 1 : code + (code & 1);
          EXPECT_EQ(code_of(nudge, Rounding::nearest_even), nearest)
              << f->name << " " << code << " " << nudge;
          EXPECT_EQ(code_of(nudge, Rounding::nearest_away), nudge < 0 ? code : code + 1);
          EXPECT_EQ(code_of(nudge, Rounding::toward_zero), code);
          EXPECT_EQ(code_of(nudge, Rounding::toward_negative), negative ? code + 1 : code);
          EXPECT_EQ(code_of(nudge, Rounding::toward_positive), negative ? code : code + 1);
        }
      }
    }
  }
}

TEST(Codes, OverflowFollowsTheFormatAndTheMode) {
  const Exact huge{Kind::finite, false, 1, 200};
  const Exact minus_huge{Kind::finite, true, 1, 200};
  const auto code = [](const Format& f, const Exact& v, Rounding mode, Overflow o) {
    return encode(f, round(f, v, mode, o));
  };
  EXPECT_EQ(code(f16, huge, Rounding::nearest_even, Overflow::ieee), 0x7C00u);
  EXPECT_EQ(code(f16, huge, Rounding::toward_zero, Overflow::ieee), 0x7BFFu);
  EXPECT_EQ(code(f16, huge, Rounding::toward_negative, Overflow::ieee), 0x7BFFu);
  EXPECT_EQ(code(f16, minus_huge, Rounding::toward_negative, Overflow::ieee), 0xFC00u);
  EXPECT_EQ(code(f16, minus_huge, Rounding::toward_positive, Overflow::ieee), 0xFBFFu);
  EXPECT_EQ(code(e4m3, huge, Rounding::nearest_even, Overflow::ieee), 0x7Fu);
  EXPECT_EQ(code(e4m3, huge, Rounding::nearest_even, Overflow::saturate), 0x7Eu);
  EXPECT_EQ(code(e4m3, {Kind::infinity, true}, Rounding::nearest_even, Overflow::saturate), 0xFEu);
  EXPECT_EQ(code(e2m1, {Kind::infinity, true}, Rounding::nearest_even, Overflow::saturate), 0xFu);
  EXPECT_EQ(code(e4m3, {Kind::finite, false, 464, 0}, Rounding::nearest_even, Overflow::ieee), 0x7Eu);
  EXPECT_EQ(code(e4m3, {Kind::finite, false, 465, 0}, Rounding::nearest_even, Overflow::ieee), 0x7Fu);
}

TEST(Codes, ValuesOutsideAFormatAreRefusedNotBent) {
  EXPECT_THROW(encode(e2m1, {Kind::nan}), std::logic_error);
  EXPECT_THROW(encode(e4m3, {Kind::infinity}), std::logic_error);
  EXPECT_THROW(encode(e2m1, {Kind::finite, false, 5, 0}), std::logic_error);
  EXPECT_THROW(encode(e2m1, {Kind::finite, false, 8, 0}), std::logic_error);
  EXPECT_THROW(encode(ue4m3, {Kind::finite, true, 1, 0}), std::logic_error);
}

}  // namespace
