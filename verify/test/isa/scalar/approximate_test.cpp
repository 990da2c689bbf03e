// Which bits approximate instructions have under each mode and target (isa::Approximate). Those that an H200
// gave are compared by instructions_test.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// y[i] = instruction(i) for all 16-bit codes i.
test::Kernel of_every_code(const std::string& instruction, const std::string& target) {
  return {.target = target,
          .parameters = ".param .u64 out",
          .registers = ".reg .b32 %r<4>; .reg .b64 %a<3>; .reg .b16 %h, %y;",
          .start =
              "ld.param.u64 %a0, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
              "mad.lo.u32 %r3, %r1, 256, %r2;\ncvt.u16.u32 %h, %r3;",
          .body = instruction + " %y, %h;",
          .finish = "mad.wide.u32 %a1, %r3, 2, %a0;\nst.global.b16 [%a1], %y;",
          .shape = {.grid = {256, 1, 1}, .block = {256, 1, 1}},
          .buffers = {{"out", std::vector<std::byte>(131072), false, false, true}}};
}

std::vector<uint16_t> results(const std::string& instruction, const std::string& target, Approximate mode) {
  const test::Kernel k = of_every_code(instruction, target);
  launch::Launch l = k.launch();
  l.approximate = mode;
  return k.held(l).all<uint16_t>(0);
}

struct Narrow {
  const char* name;
  int exponent_bits, fraction_bits;
};
constexpr Narrow kHalf{"f16", 5, 10}, kBfloat{"bf16", 8, 7};

double value(const Narrow& format, uint32_t code) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>((code & 0x7FFF) >> format.fraction_bits);
  const auto fraction = static_cast<int>(code & ((1u << format.fraction_bits) - 1));
  const int hidden = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const double magnitude = std::ldexp(fraction + hidden, std::max(exponent, 1) - bias - format.fraction_bits);
  return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

// No neighbour of a result is nearer to the true value, of any finite operand.
TEST(Approximate, NearestIsNearestInHalfPrecision) {
  for (const Narrow& format : {kHalf, kBfloat})
    for (const bool exponential : {false, true}) {
      const bool flushes = exponential && format.fraction_bits == 7;
      const std::string instruction =
          std::string(exponential ? "ex2.approx." : "tanh.approx.") + (flushes ? "ftz." : "") + format.name;
      const auto got = results(instruction, "sm_90a", Approximate::nearest);
      const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
      for (uint32_t x = 0; x < 65536; ++x) {
        if ((x & 0x7FFF) >= infinity) continue;
        const double exact = exponential ? std::exp2(value(format, x)) : std::tanh(value(format, x));
        if (flushes && exact < 0x1p-126) {
          ASSERT_EQ(got[x], 0) << instruction << " of " << x;
          continue;
        }
        const double error = std::fabs(value(format, got[x]) - exact);
        if ((got[x] & 0x7FFF) < infinity)
          for (const uint32_t neighbour : {got[x] + 1u, got[x] - 1u})
            ASSERT_LE(error, std::fabs(value(format, neighbour & 0xFFFF) - exact))
                << instruction << " of " << x;
        else
          ASSERT_GE(exact, value(format, infinity - 1)) << instruction << " of " << x;
      }
    }
}

// FNV-1a of 64 bits over what an H200 gave for all operands, a result at a time.
TEST(Approximate, HalfPrecisionIsTheH200s) {
  const std::pair<const char*, uint64_t> kInstructions[] = {{"tanh.approx.f16", 0xAD1F254087177B9D},
                                                            {"tanh.approx.bf16", 0x0483E97475BF5A09},
                                                            {"ex2.approx.f16", 0x80729AC6AD55E21A},
                                                            {"ex2.approx.ftz.bf16", 0x70809A4DEA78138A}};
  for (const auto& [instruction, h200] : kInstructions) {
    uint64_t digest = 0xCBF29CE484222325;
    for (const uint16_t y : results(instruction, "sm_90a", Approximate::captured))
      digest = (digest ^ y) * 0x100000001B3;
    EXPECT_EQ(digest, h200) << instruction;
  }
}

// What an H200 gave is taken for every target, as is usual, and where its own are asked for refused by name.
TEST(Approximate, TheH200sBitsAreForItsTarget) {
  for (const std::string instruction :
       {"tanh.approx.f16", "tanh.approx.bf16", "ex2.approx.f16", "ex2.approx.ftz.bf16"}) {
    const auto captured = results(instruction, "sm_90a", Approximate::captured);
    for (const std::string target : {"sm_100a", "sm_120a"}) {
      EXPECT_EQ(results(instruction, target, Approximate::h200), captured) << instruction;
      EXPECT_NE(results(instruction, target, Approximate::nearest), captured) << instruction;
      EXPECT_EQ(of_every_code(instruction, target).program()->approximations.size(), 1u) << instruction;
      try {
        results(instruction, target, Approximate::captured);
        FAIL() << instruction << " was not refused";
      } catch (const machine::Unsupported& e) {
        EXPECT_NE(std::string(e.what()).find("'" + instruction + "': its result is approximate"),
                  std::string::npos);
      }
    }
    EXPECT_TRUE(of_every_code(instruction, "sm_90a").program()->approximations.empty()) << instruction;
  }
}

}  // namespace
}  // namespace bitwell::isa
