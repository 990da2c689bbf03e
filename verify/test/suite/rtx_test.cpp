// The kernels for RTX Blackwell cards: mistakes planted into their PTX fail, random problems give the
// oracle's bits, what they reserve is what such a card has, and a verdict says whose findings it rests on.
#include <gtest/gtest.h>

#include "../bugs/planted.h"
#include "kernels/rtx/launch.h"
#include "model/machine/arch.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite::rtx_test {
namespace {

std::string text_of(const char* name) {
  return launch::read_file(
      Build{capture::share_folder("kernels"), "sm_120a"}.file("rtx/" + std::string(name)));
}

struct Mistake {
  const char* about;
  const char* kernel;
  const char *pattern, *by;  // in its PTX
};
constexpr Mistake kMistakes[] = {
    {"a block of rows has the other's scales", "rtx_gemm_n128_f16", "\\{0, 1\\}, (%r\\d+), \\{",
     "{0, 0}, $1, {"},
    {"a block of columns has its neighbour's scales", "rtx_gemm_n64_f32", "\\{0, 3\\};", "{0, 2};"},
    {"a stage is written while it is read", "rtx_gemm_n64_bf16",
     "mbarrier\\.init\\.shared::cta\\.b64 \\[(%r\\d+)\\], (%r\\d+);",
     "mbarrier.init.shared::cta.b64 [$1], 1;"},
    {"sums are read before they are there", "rtx_gemv", "bar\\.sync[ \\t]+0;", ""},
    {"sums of warps are cut", "rtx_gemv", "add\\.rn\\.f32", "add.rz.f32"},
};

TEST(RtxVerdict, AMistakeFails) {
  for (const Mistake& m : kMistakes)
    EXPECT_NE(bugs::failure_of("rtx", m.kernel, bugs::replaced(text_of(m.kernel), m.pattern, m.by)), "")
        << m.kernel << ": " << m.about;
}

TEST(RtxVerdict, RandomProblemsGiveTheOraclesBits) {
  const Suite& rtx = suite("rtx");
  for (const Kernel& k : rtx.kernels) {
    launch::Modules modules;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const PlannedCase planned = k.another(seed);
      const SuiteCase c = suite_case(planned, planned.draw(), {capture::share_folder("kernels"), "sm_120a"});
      for (const run::Schedule& schedule : c.schedules) {
        const Tried tried = try_case(c, schedule, std::ref(modules));
        EXPECT_FALSE(tried.failure.has_value()) << k.name << ", " << c.name << ": " << tried.failure->what;
      }
    }
  }
}

TEST(RtxVerdict, KernelsReserveWhatTheirTargetHas) {
  for (const int sm : {120, 121})
    EXPECT_EQ(machine::arch(sm).shared, uint64_t{kernels::kRtxSharedLimit}) << sm;
  for (const rtx::Variant& v : rtx::kVariants) {
    EXPECT_LE(v.shared_bytes(), kernels::kRtxSharedLimit) << v.name;
    EXPECT_GE(v.stages(), 2) << v.name;
  }
}

TEST(RtxVerdict, ItsEvidenceNamesThePublishedModel) {
  verdict::Plan plan;
  plan.ptx = capture::share_folder("kernels");
  plan.captures = capture::share_folder("captures");
  plan.kernels = {"rtx_gemv"};
  for (const verdict::Verdict& v : verdict::judge(suite("rtx"), plan)) {
    EXPECT_TRUE(v.holds) << v.first_mismatch;
    EXPECT_EQ(v.evidence, "published (MMA-Sim, of an RTX PRO 6000); rest manual");
  }
}

}  // namespace
}  // namespace bitwell::suite::rtx_test
