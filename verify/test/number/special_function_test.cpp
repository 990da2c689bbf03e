// Laws of the special-function unit that its tables must keep whoever recorded them. Their bits are compared
// with the GPU in verify/test/device, and through the digests of the instruction probes.
#include "model/number/special_function.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace bitwell::number {
namespace {

using enum SpecialFunction;

double value(uint32_t code) { return static_cast<double>(std::bit_cast<float>(code)); }

double truth(SpecialFunction f, double x) {
  switch (f) {
    case rcp: return 1 / x;
    case rsqrt: return 1 / std::sqrt(x);
    case sqrt: return std::sqrt(x);
    default: return std::exp2(x);
  }
}

// PTX ISA 9.0, 9.7.3: rcp within 1 ulp, rsqrt and sqrt within a relative 2^-22.4, ex2 within 2 ulp.
TEST(SpecialFunction, EveryEntryIsWithinTheManualsBound) {
  for (const SpecialFunction f : {rcp, rsqrt, sqrt, ex2}) {
    const TableShape shape = table_shape(f);
    for (uint32_t i = 0; i < shape.size; ++i) {
      const uint32_t x = shape.first_input + i;
      const double exact = truth(f, value(x));
      const double error = std::fabs(value(special_function(f, x)) - exact) / exact;
      ASSERT_LE(error, f == rcp ? 0x1p-23 : 0x1.8p-23)
          << "function " << static_cast<int>(f) << " of " << value(x);
    }
  }
}

TEST(SpecialFunction, PowersAreExact) {
  for (int e = -60; e <= 60; ++e) {
    const auto code = [](double v) { return std::bit_cast<uint32_t>(static_cast<float>(v)); };
    EXPECT_EQ(special_function(rcp, code(std::ldexp(1, e))), code(std::ldexp(1, -e)));
    EXPECT_EQ(special_function(rsqrt, code(std::ldexp(1, 2 * e))), code(std::ldexp(1, -e)));
    EXPECT_EQ(special_function(sqrt, code(std::ldexp(1, 2 * e))), code(std::ldexp(1, e)));
    EXPECT_EQ(special_function(ex2, code(e)), code(std::ldexp(1, e)));
  }
}

TEST(SpecialFunction, SpecialInputs) {
  constexpr uint32_t inf = 0x7F800000;
  constexpr uint32_t minus = 0x80000000;
  for (const SpecialFunction f : {rcp, rsqrt, sqrt, ex2})
    for (const uint32_t nan : {0x7F800001u, 0x7FC00000u, 0xFFFFFFFFu, 0xFF800001u})
      EXPECT_EQ(special_function(f, nan), 0x7FFFFFFFu);
  for (const uint32_t tiny : {0u, 1u, 0x7FFFFFu}) {
    EXPECT_EQ(special_function(rcp, tiny), inf);
    EXPECT_EQ(special_function(rcp, tiny | minus), inf | minus);
    EXPECT_EQ(special_function(rsqrt, tiny), inf);
    EXPECT_EQ(special_function(rsqrt, tiny | minus), inf | minus);
    EXPECT_EQ(special_function(sqrt, tiny), 0u);
    EXPECT_EQ(special_function(sqrt, tiny | minus), minus);
    EXPECT_EQ(special_function(ex2, tiny | minus), 0x3F800000u);
  }
  EXPECT_EQ(special_function(rcp, inf | minus), minus);
  EXPECT_EQ(special_function(rcp, 0x7F7FFFFF), 0u);  // 2^-128 is subnormal
  EXPECT_EQ(special_function(sqrt, inf), inf);
  EXPECT_EQ(special_function(sqrt, 0xBF800000), 0x7FFFFFFFu);
  EXPECT_EQ(special_function(ex2, inf | minus), 0u);
  EXPECT_EQ(special_function(ex2, 0x43000000), inf);          // 128
  EXPECT_EQ(special_function(ex2, 0xC2FC0000), 0x00800000u);  // -126
  EXPECT_EQ(special_function(ex2, 0xC2FC0001), 0u);
  // The fraction of a negative operand is complemented, not negated: H200.
  EXPECT_EQ(special_function(ex2, 0xBF7FFFFF), 0x3F000000u);
  EXPECT_EQ(special_function(ex2, 0xBF800000), 0x3F000000u);
  EXPECT_EQ(special_function(ex2, 0xBF800001), 0x3EFFFFFEu);
  EXPECT_EQ(special_function(ex2, 0xBFFFFFFF), 0x3E800000u);
}

}  // namespace
}  // namespace bitwell::number
