// Approximate instructions keep the bounds that the manual gives (PTX ISA 9.0, 9.7.3) over all exponents,
// with subnormal numbers and without them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

constexpr double kLeast = 0x1p-126;  // normal number

double ulp(double x) { return std::exp2(std::max(std::floor(std::log2(std::fabs(x))), -126.0) - 23); }

struct Bounded {
  const char* op;
  int operands;
  double (*exact)(double a, double b);
  // Whether `r` is near enough to what is exact, of operands that the bound is for.
  bool (*holds)(double a, double b, double exact, double r);
};

bool ulps(double exact, double r, double most) { return std::fabs(r - exact) <= most * ulp(exact); }
bool normal(double x) { return std::fabs(x) >= kLeast; }

const Bounded kBounded[] = {
    {"rcp.approx", 1, [](double a, double) { return 1 / a; },
     [](double, double, double exact, double r) { return ulps(exact, r, 1); }},
    {"sqrt.approx", 1, [](double a, double) { return std::sqrt(a); },
     [](double, double, double exact, double r) { return std::fabs(r / exact - 1) <= 0x1p-22; }},
    {"rsqrt.approx", 1, [](double a, double) { return 1 / std::sqrt(a); },
     [](double, double, double exact, double r) { return std::fabs(r / exact - 1) <= 0x1.2p-23; }},
    {"ex2.approx", 1, [](double a, double) { return std::exp2(a); },
     [](double, double, double exact, double r) { return ulps(exact, r, 2); }},
    {"lg2.approx", 1, [](double a, double) { return std::log2(a); },
     [](double a, double, double exact, double r) {
       return a > 0.5 && a < 2 ? std::fabs(r - exact) <= 0x1p-22 : std::fabs(r / exact - 1) <= 0x1p-22;
     }},
    {"div.full", 2, [](double a, double b) { return a / b; },
     [](double, double, double exact, double r) { return ulps(exact, r, 2); }},
    {"div.approx", 2, [](double a, double b) { return a / b; },
     [](double, double b, double exact, double r) { return std::fabs(b) > 0x1p126 || ulps(exact, r, 2); }}};

// 1,024 numbers of every exponent; for exponentials those that have a result.
std::vector<float> operands(const std::string& op, uint32_t seed, bool second) {
  std::mt19937 random(seed);
  std::vector<float> out(1024);
  const bool positive = op.starts_with("sqrt") || op.starts_with("rsqrt") || op.starts_with("lg2");
  for (size_t i = 0; i < out.size(); ++i) {
    if (op.starts_with("ex2")) {
      out[i] = static_cast<float>(-150 + 277.0 * static_cast<double>(i) / 1024);
      continue;
    }
    const int exponent = -149 + static_cast<int>(second ? random() % 277 : i % 277);
    const auto mantissa = 1 + static_cast<double>(random() % (1 << 23)) * 0x1p-23;
    out[i] =
        static_cast<float>(std::ldexp(mantissa, exponent)) * (!positive && random() % 2 != 0 ? -1.0F : 1.0F);
  }
  return out;
}

std::vector<std::byte> bytes_of(const std::vector<float>& v) {
  std::vector<std::byte> out(v.size() * 4);
  std::memcpy(out.data(), v.data(), out.size());
  return out;
}

TEST(ApproximateBounds, HoldOverAllExponents) {
  for (const Bounded& op : kBounded)
    for (const bool ftz : {false, true}) {
      const std::vector<float> a = operands(op.op, 3, false), b = operands(op.op, 4, true);
      const std::string name = std::string(op.op) + (ftz ? ".ftz.f32" : ".f32");
      const test::Kernel k{
          .parameters = ".param .u64 pa, .param .u64 pb, .param .u64 pout",
          .registers = ".reg .b32 %t; .reg .b64 %d<5>; .reg .f32 %f<3>;",
          .body =
              "ld.param.u64 %d0, [pa]; ld.param.u64 %d1, [pb]; ld.param.u64 %d2, [pout]; mov.u32 %t, "
              "%tid.x;\n"
              "mul.wide.u32 %d3, %t, 4; add.u64 %d0, %d0, %d3; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, "
              "%d3;\n"
              "ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d1]; " +
              name + " %f2, %f0" + (op.operands == 2 ? ", %f1" : "") + "; st.global.f32 [%d2], %f2;",
          .shape = {.block = {1024, 1, 1}},
          .buffers = {test::input(bytes_of(a)), test::input(bytes_of(b)), test::output(4096)}};
      const test::Left left = k.run();
      ASSERT_EQ(left.end(), "held") << name;
      const auto out = left.all<float>(2);
      size_t judged = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        const double x = a[i], y = op.operands == 2 ? b[i] : 1, exact = op.exact(x, y), r = out[i];
        // Flushed operands and results are zeros or what comes of zeros.
        if (ftz && (!normal(x) || !normal(y) || !normal(exact))) continue;
        if (std::fabs(exact) > 0x1.FFFFFCp127 || (op.operands == 2 && !normal(exact)) || exact == 0) continue;
        ++judged;
        EXPECT_TRUE(op.holds(x, y, exact, r))
            << name << " of " << x << " and " << y << ": " << r << ", not " << exact;
      }
      EXPECT_GT(judged, op.operands == 2 ? 200u : 600u) << name;
    }
}

// What is flushed: an operand is zero, a result too.
TEST(ApproximateBounds, FlushedNumbersAreZeros) {
  struct Flushed {
    const char* op;
    uint32_t of;
    float is;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Flushed& c :
       {Flushed{"rcp.approx.ftz.f32", 0x00400000, infinity},
        Flushed{"rcp.approx.ftz.f32", 0x80400000, -infinity}, Flushed{"rcp.approx.ftz.f32", 0x7F000001, 0.0F},
        Flushed{"sqrt.approx.ftz.f32", 0x00400000, 0.0F},
        Flushed{"rsqrt.approx.ftz.f32", 0x00400000, infinity},
        Flushed{"ex2.approx.ftz.f32", 0xC2FF0000, 0.0F}, Flushed{"lg2.approx.ftz.f32", 0x00400000, -infinity},
        Flushed{"rcp.approx.f32", 0x7F800000, 0.0F}, Flushed{"rcp.approx.f32", 0x00000000, infinity},
        Flushed{"ex2.approx.f32", 0xFF800000, 0.0F}, Flushed{"lg2.approx.f32", 0x00000000, -infinity}}) {
    const test::Kernel k{.parameters = ".param .u64 pout",
                         .registers = ".reg .b32 %r; .reg .b64 %d; .reg .f32 %f<2>;",
                         .body = "ld.param.u64 %d, [pout]; mov.u32 %r, " + std::to_string(c.of) +
                                 "; mov.b32 %f0, %r; " + c.op + " %f1, %f0; st.global.f32 [%d], %f1;",
                         .shape = {.block = {1, 1, 1}},
                         .buffers = {test::output(4)}};
    const test::Left left = k.run();
    ASSERT_EQ(left.end(), "held") << c.op;
    EXPECT_EQ(left.all<float>(0)[0], c.is) << c.op << std::hex << " of " << c.of;
  }
}

}  // namespace
}  // namespace bitwell::isa
