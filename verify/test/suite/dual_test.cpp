// Laws of the gated dual GEMM, of the fast oracle behind it, and that its verdicts can fail.
#include "verify/suite/kernels/dual.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "../bugs/planted.h"
#include "../kernel.h"
#include "kernels/dual/launch.h"
#include "model/machine/failure.h"
#include "nvfp4_laws.h"
#include "verify/capture/captures.h"
#include "verify/oracle/gated.h"
#include "verify/oracle/scaled_rows.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/suite/same.h"

namespace bitwell::suite::dual_test {
namespace {

using dual::Variant;

Build build() { return {capture::share_folder("kernels"), "sm_100a"}; }
std::string text_of(const char* name) { return launch::read_file(build().file("dual/" + std::string(name))); }

// Step after step of a row by the plain rule.
uint32_t by_steps(const Nvfp4Operand::Row& a, const Nvfp4Operand::Row& b) {
  const auto padded = [](const auto& of, size_t to, auto mask) {
    std::vector<std::decay_t<decltype(mask)>> out;
    for (size_t i = 0; i < to; ++i) out.push_back(i < of.size() ? of[i] & mask : 0);
    return out;
  };
  const size_t k = (a.codes.size() + 63) / 64 * 64;
  const auto x = padded(a.codes, k, uint32_t{15}), y = padded(b.codes, k, uint32_t{15});
  const auto sx = padded(a.scales, k / 16, uint8_t{0x7F}), sy = padded(b.scales, k / 16, uint8_t{0x7F});
  uint32_t sum = 0;
  for (size_t i = 0; i < k; i += 64)
    sum = oracle::scaled_fp4_dot(std::span(x).subspan(i, 64), std::span(y).subspan(i, 64), sum, false,
                                 std::span(sx).subspan(i / 16, 4), std::span(sy).subspan(i / 16, 4));
  return sum;
}

// The fast sums of 64-bit integers are those of unbounded ones, on data that cancels, overflows, vanishes and
// is none.
TEST(ScaledRows, GiveTheBitsOfTheRuleInUnboundedIntegers) {
  std::vector<std::pair<OperandData, std::string_view>> all(kOperandData.begin(), kOperandData.end());
  all.insert(all.end(), kLaterData.begin(), kLaterData.end());
  for (const auto& [data, name] : all)
    for (const int k : {16, 64, 80, 256, 1600}) {
      OperandSource source(data, static_cast<uint64_t>(k));
      const Nvfp4Operand a(source, true, 6, k, 1, ScaleLayout::row_major);
      const Nvfp4Operand b(source, false, 6, k, 1, ScaleLayout::row_major);
      for (int m = 0; m < 6; ++m)
        for (int n = 0; n < 6; ++n) {
          const Nvfp4Operand::Row x = a.row(0, m), y = b.row(0, n);
          EXPECT_EQ(oracle::scaled_sum({x.codes, x.scales}, {y.codes, y.scales}, 0, 0, x.codes.size()),
                    by_steps(x, y))
              << name << ", k = " << k << ", " << m << ", " << n;
        }
    }
}

// Of the rounded e^-x half of its unit, of the sum and the quotient each half: about 2.5 units in all.
TEST(Silu, IsWithinThreeUnitsOfTheExactFunction) {
  const auto wrong = [](float x) {
    const long double exact = x / (1 + std::exp(-static_cast<long double>(x)));
    const auto got = static_cast<long double>(oracle::silu(x));
    const long double unit = std::ldexp(1.0L, std::max(std::ilogb(exact), -126) - 23);
    return std::fabs(got - exact) > 3 * unit;
  };
  for (const float x :
       {1e-45f, 1e-38f, 1e-6f, 0.34657359f, 0.5f, 1.0f, 17.0f, 87.0f, 88.0f, 103.0f, 130.0f, 131.0f, 3e38f}) {
    EXPECT_FALSE(wrong(x)) << x;
    EXPECT_FALSE(x < 80 && wrong(-x)) << -x;
  }
  for (int i = -80 * 1024; i < 140 * 1024; i += 3)
    EXPECT_FALSE(wrong(static_cast<float>(i) / 1024 + 0.0001f)) << i;
}

TEST(Silu, OfWhatIsNoOrdinaryNumber) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(std::bit_cast<uint32_t>(oracle::silu(0.0f)), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(oracle::silu(-0.0f)), 0x80000000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(oracle::silu(-1000.0f)), 0x80000000u);
  EXPECT_EQ(oracle::silu(kInfinite), kInfinite);
  EXPECT_TRUE(std::isnan(oracle::silu(-kInfinite)));
  EXPECT_TRUE(std::isnan(oracle::silu(std::numeric_limits<float>::quiet_NaN())));
}

// A launch leaves the expected bits under the default schedule and another, each byte of D written once; and
// both products are within the proven bound of exact arithmetic.
void check(const Variant& v, const DualCase& c) {
  const DualProblem problem(c);
  const std::vector<std::byte> want = problem.expected();
  const std::string who = std::string(v.name) + ", " + c.describe();
  for (const bool counts : {true, false}) {
    const run::PolicyName& policy = run::kPolicies[counts ? 0 : 1 + c.seed % (run::kPolicies.size() - 1)];
    Writes writes;
    run::Options options = counts ? writes.options() : run::Options{};
    options.schedule = {policy.policy, c.seed};
    launch::Launch launch = problem.launch(v, build());
    try {
      test::run_file(launch, options);
    } catch (const machine::Fault& f) {
      RC_FAIL(who + ", schedule " + std::string(policy.name) + ": " + f.what());
    }
    if (!same_bits(launch.buffers[kDualResult].bytes, want))
      RC_FAIL(who + ", schedule " + std::string(policy.name) + ": other bits");
    if (counts && !writes.complaint(want.size()).empty()) RC_FAIL(who + ": " + writes.complaint(want.size()));
  }
  const std::shared_ptr<const DualSums> sums = problem.sums();
  for (const auto& [all, b] : {std::pair{&sums->gate, &problem.b1}, std::pair{&sums->up, &problem.b2}})
    for (size_t i = 0; i < all->exact.size(); i += 7) {
      if (all->exact[i].is_nan) continue;
      const auto n = static_cast<size_t>(c.n), m = static_cast<size_t>(c.m);
      const auto batch = static_cast<int>(i / n / m);
      const double exact = std::ldexp(static_cast<double>(all->exact[i].units), -20);
      const auto sum = static_cast<double>(std::bit_cast<float>(all->sums[i]));
      RC_ASSERT(std::fabs(sum - exact) <= nvfp4_bound(problem.a.row(batch, static_cast<int>(i / n % m)),
                                                      b->row(batch, static_cast<int>(i % n)), 1));
    }
}

RC_GTEST_PROP(Dual, ARandomLaunchGivesTheOraclesBitsOnce, ()) {
  const Variant& v = dual::kVariants[*rc::gen::inRange<size_t>(0, std::size(dual::kVariants)).as("variant")];
  DualCase c = dual_random_case(v.n, *rc::gen::arbitrary<uint32_t>().as("seed"));
  if (c.m > 130) c.m = 129 + c.m % 2;
  if (c.n > 80) c.n = 65 + c.n % 16;
  if (c.k > 512) c.k = 64 * (1 + c.k % 9);
  check(v, c);
}

struct Mistake {
  const char* about;
  const char* kernel;
  const char *pattern, *by;  // in its PTX
  const char* says;          // part of the report
};
constexpr Mistake kMistakes[] = {
    {"the second product is the first one's sums", "dual_n64",
     "(tcgen05\\.ld.*)\\[(%r\\d+)\\];((?:.*\\n)*?.*tcgen05\\.ld.*)\\[(%r\\d+)\\];", "$1[$2];$3[$2];",
     "expected 0x"},
    {"every MMA adds to what stood there", "dual_n128", "setp\\.ne\\.b32 adds, %r\\d+, 0;",
     "setp.eq.b32 adds, 0, 0;", "never written"},
    {"silu is a product with a rounded reciprocal", "dual_n64",
     "div\\.rn\\.f32 (%f\\d+), (%f\\d+), (%f\\d+);", "rcp.rn.f32 $1, $3; mul.rn.f32 $1, $1, $2;",
     "expected 0x"},
    {"both CTAs of a pair hold the first half of each B", "dual_n128_pair",
     "and\\.b32 (\\s*%r\\d+), (%r\\d+), 64;", "and.b32 $1, $2, 0;", "expected 0x"},
    {"a pair's barrier counts the bytes of one CTA", "dual_n128_pair", "mov\\.b32 (\\s*%r\\d+), 77824;",
     "mov.b32 $1, 38912;", "never written"},
    {"each CTA of a pair keeps to itself that sums were read", "dual_n64_pair",
     "mapa\\.shared::cluster\\.u32 (%r\\d+), (%r\\d+), "
     "%r\\d+;(?=(?:.*\\n){0,8}.*mbarrier\\.arrive\\.release)",
     "mov.u32 $1, $2;", "deadlock"},
};

TEST(DualVerdict, AMistakeIsNamed) {
  for (const Mistake& m : kMistakes) {
    const std::string what =
        bugs::failure_of("dual", m.kernel, bugs::replaced(text_of(m.kernel), m.pattern, m.by));
    EXPECT_NE(what, "") << m.about;
    EXPECT_NE(what.find(m.says), std::string::npos) << m.about << ": " << what;
  }
}

// Each wait for an mbarrier is there for something; the last, for stages that nobody multiplies any more,
// keeps a commit from a CTA that has ended, which these schedules need not show.
TEST(DualVerdict, NoOtherWaitCanBeLeftOut) {
  for (const char* kernel : {"dual_n64_fixed", "dual_n64_pair"}) {
    const std::string text = text_of(kernel), wait = "mbarrier.try_wait";
    int held = 0, all = 0;
    std::string which;
    for (size_t at = text.find(wait); at != std::string::npos; at = text.find(wait, at + 1), ++all) {
      std::string without = text;
      without.replace(at, text.find(';', at) - at, "mov.pred done, 1");
      if (!bugs::failure_of("dual", kernel, without).empty()) continue;
      ++held;
      which += "\n  wait " + std::to_string(all) + " of those in the text";
    }
    EXPECT_GE(all, 5);
    EXPECT_LE(held, 1) << kernel << which;
  }
}

std::string refusal(const DualCase& c) {
  try {
    DualProblem{c};
  } catch (const machine::InputError& e) {
    return e.what();
  }
  return "";
}

TEST(DualInput, WhatItCannotTakeIsNamedWithTheWayOut) {
  constexpr OperandData kData = OperandData::moderate;
  EXPECT_EQ(refusal({4, 4, 0, 1, kData, 1}),
            "dual takes k a positive multiple of 64; got k = 0: pad A, B1 and B2 with zeros");
  EXPECT_EQ(refusal({4, 4, 96, 1, kData, 1}),
            "dual takes k a positive multiple of 64; got k = 96: pad A, B1 and B2 with zeros");
  EXPECT_EQ(refusal({0, 4, 64, 1, kData, 1}), "dual takes m, n and l of at least 1; got m = 0, n = 4, l = 1");
  EXPECT_EQ(refusal({4, 4, 64, 1, kData, 1, 0}), "dual's CTAs are 1 or more; got 0");
}

}  // namespace
}  // namespace bitwell::suite::dual_test
