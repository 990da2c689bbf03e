// Laws of the kernels for Hopper in families that are Blackwell's otherwise, and that their verdicts can
// fail.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "../bugs/planted.h"
#include "kernels/grouped/launch.h"
#include "kernels/svdquant/wgmma.h"
#include "verify/capture/captures.h"
#include "verify/suite/kernels/dual_wgmma.h"
#include "verify/suite/kernels/grouped_wgmma.h"
#include "verify/suite/kernels/svdquant_wgmma.h"
#include "verify/suite/same.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite::hopper_test {
namespace {

Build build() { return {capture::share_folder("kernels"), "sm_90a"}; }
std::string text_of(const std::string& family, const std::string& name) {
  return launch::read_file(build().file(kernel(suite(family), name).entries.front().module));
}

// What `chain` leaves where `expected` should be, or the fault it ends in; nothing where they are the same.
std::string complaint(Chain chain, size_t result, const std::vector<std::byte>& expected,
                      const run::Schedule& schedule) {
  static launch::Modules modules;
  run::Options options;
  options.schedule = schedule;
  try {
    simulate(chain, std::ref(modules), options, true);
  } catch (const machine::Fault& f) {
    return f.what();
  }
  return same_bits(chain.launches.back().buffers[result].bytes, expected) ? "" : "other bits";
}

// The default schedule, and another that the seed picks.
std::vector<run::Schedule> two_schedules(uint64_t seed) {
  return {{}, {run::kPolicies[1 + seed % (run::kPolicies.size() - 1)].policy, seed}};
}

RC_GTEST_PROP(GroupedOnHopper, ARandomLaunchGivesTheOraclesBits, ()) {
  GroupedCase c = grouped_random_case(*rc::gen::arbitrary<uint32_t>().as("seed"));
  for (int& k : c.k) k = 64 * (1 + k / 64 % 5);
  for (int& n : c.n) n = 1 + n % 130;
  for (int& m : c.m) m = 1 + m % 30;
  const GroupedProblem problem(c);
  const auto maker =
      *rc::gen::element(grouped::Maker::host, grouped::Maker::device).as("who makes tensor maps");
  for (const run::Schedule& schedule : two_schedules(c.seed)) {
    const std::string what = complaint(grouped_wgmma_chain(problem, build(), c.ctas, maker),
                                       kGroupedWgmmaResult, grouped_wgmma_expected(problem), schedule);
    if (!what.empty()) RC_FAIL(c.describe() + ": " + what);
  }
}

// Scale rows past m and n: whatever stands there, D is the same.
TEST(GroupedOnHopper, NoGarbageInThePaddingOfScalesReachesAnOutput) {
  GroupedProblem problem(
      {{40, 56, 64, 72}, {24, 136, 8, 130}, {128, 64, 320, 256}, OperandData::moderate, 7});
  const std::vector<std::byte> expected = grouped_wgmma_expected(problem);
  for (const uint8_t garbage : {0x00, 0x38, 0x7E, 0x7F, 0x80, 0xFF}) {
    for (auto* operands : {&problem.a, &problem.b})
      for (Nvfp4Operand& o : *operands)
        for (size_t at = 0; at < o.scales.size(); ++at) {
          const auto row = static_cast<int>(at / 512 / static_cast<size_t>(o.k / 64) * 128 + at / 4 % 4 * 32 +
                                            at % 512 / 16);
          if (row >= o.rows) o.scales[at] = std::byte{garbage};
        }
    EXPECT_EQ(complaint(grouped_wgmma_chain(problem, build(), 2), kGroupedWgmmaResult, expected, {}), "")
        << int{garbage};
  }
}

RC_GTEST_PROP(DualOnHopper, ARandomLaunchGivesTheOraclesBits, ()) {
  DualCase c = dual_random_case(128, *rc::gen::arbitrary<uint32_t>().as("seed"));
  c.m = 1 + c.m % 30;
  c.n = 1 + c.n % 140;
  c.k = 64 * (1 + c.k / 64 % 5);
  c.exact = false;
  const DualProblem problem(c);
  for (const run::Schedule& schedule : two_schedules(c.seed)) {
    const std::string what = complaint(dual_wgmma_chain(problem, build(), c.ctas), kDualWgmmaResult,
                                       dual_wgmma_expected(problem), schedule);
    if (!what.empty()) RC_FAIL(c.describe() + ": " + what);
  }
}

RC_GTEST_PROP(SvdquantOnHopper, ARandomLaunchGivesTheOraclesBits, ()) {
  const svdquant::HopperVariant& v =
      svdquant::kHopperVariants[*rc::gen::inRange<size_t>(0, std::size(svdquant::kHopperVariants))
                                     .as("variant")];
  SvdquantCase c = svdquant_random_case(*rc::gen::arbitrary<uint32_t>().as("seed"));
  c.m = 1 + c.m % 30;
  c.n = 1 + static_cast<int>(c.seed % 140);
  c.k = 64 * (1 + c.k / 64 % 5);
  const SvdquantProblem problem(c, v.bf16);
  for (const run::Schedule& schedule : two_schedules(c.seed)) {
    const std::string what = complaint(svdquant_wgmma_chain(problem, v, build(), 2), kSvdquantWgmmaResult,
                                       svdquant_wgmma_expected(problem, v), schedule);
    if (!what.empty()) RC_FAIL(std::string(v.name) + ", " + c.describe() + ": " + what);
  }
}

// What speeds are checked by: an element alone is what it is among all.
TEST(SvdquantOnHopper, AnElementIsThatOfTheWhole) {
  for (const svdquant::HopperVariant& v : svdquant::kHopperVariants) {
    const SvdquantProblem problem({3, 5, 192, 48, OperandData::moderate, 9}, v.bf16);
    const std::vector<std::byte> all = svdquant_wgmma_expected(problem, v);
    for (int m = 0; m < 3; ++m)
      for (int n = 0; n < 5; ++n) {
        const uint16_t word = svdquant_wgmma_element(problem, v, m, n);
        EXPECT_EQ(std::memcmp(&word, &all[static_cast<size_t>(2 * (m * 5 + n))], 2), 0) << v.name;
      }
  }
}

struct Mistake {
  const char* about;
  const char *family, *kernel;
  const char *pattern, *by;  // in its PTX
};
constexpr Mistake kMistakes[] = {
    {"a stage is given back while wgmma reads it", "grouped", "grouped_wgmma",
     "wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"},
    {"2^12 becomes 2^11", "grouped", "grouped_wgmma", "0f45800000", "0f45000000"},
    {"a stage is given back while wgmma reads it", "dual", "dual_wgmma", "wgmma.wait_group.sync.aligned 1;",
     "wgmma.wait_group.sync.aligned 2;"},
    {"a stage is given back while wgmma reads it", "svdquant", "svdquant_wgmma",
     "wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"},
    {"LoRA is added to a main sum 2^-12 as large", "svdquant", "svdquant_wgmma_bf16", "0f45800000",
     "0f3F800000"},
    {"y is cut", "svdquant", "svdquant_wgmma_apart", "fma\\.rn\\.f32", "fma.rz.f32"},
    {"both products have the first's operand", "dual", "dual_wgmma", "(mov\\.b64.*), dual_wgmma_param_2;",
     "$1, dual_wgmma_param_1;"},
    {"a stage is written while it is read", "grouped", "grouped_wgmma",
     "mbarrier\\.init\\.shared::cta\\.b64 \\[(%r\\d+)\\], (%r\\d+);",
     "mbarrier.init.shared::cta.b64 [$1], 1;"},
    {"a map keeps the first group's rows", "grouped", "grouped_wgmma_device",
     "tensormap\\.replace\\.tile\\.global_dim\\.shared::cta\\.b1024\\.b32 \\[%r\\d+\\], 1, %r\\d+;", ""},
    {"a map keeps the first group's pitch", "grouped", "grouped_wgmma_device",
     "tensormap\\.replace\\.tile\\.global_stride\\.shared::cta\\.b1024\\.b64 \\[%r\\d+\\], 0, %rd\\d+;", ""},
    {"maps are not published", "grouped", "grouped_wgmma_device", "tensormap\\.cp_fenceproxy[^;]*;", ""},
};

TEST(HopperVerdict, AMistakeFails) {
  for (const Mistake& m : kMistakes)
    EXPECT_NE(
        bugs::failure_of(m.family, m.kernel, bugs::replaced(text_of(m.family, m.kernel), m.pattern, m.by)),
        "")
        << m.kernel << ": " << m.about;
}

// A kernel for one target is not judged on another, and says so where it is asked for.
TEST(HopperVerdict, AKernelOfAnotherTargetIsNamed) {
  const Suite& grouped = suite("grouped");
  EXPECT_TRUE(grouped.judged_on(kernel(grouped, "grouped_wgmma"), "sm_90a"));
  EXPECT_FALSE(grouped.judged_on(kernel(grouped, "grouped_wgmma"), "sm_100a"));
  verdict::Plan plan;
  plan.kernels = {"grouped_wgmma"};
  plan.archs = {"sm_100a"};
  try {
    verdict::judge(grouped, plan);
    ADD_FAILURE() << "it was judged";
  } catch (const machine::InputError& e) {
    EXPECT_STREQ(e.what(), "'grouped_wgmma' is a kernel for sm_90a, which --arch leaves out");
  }
}

}  // namespace
}  // namespace bitwell::suite::hopper_test
