// What holds of every family of kernels.
#include "verify/suite/suite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "kernels/gemm/launch.h"
#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite {
namespace {

TEST(Suites, EveryKernelIsBuiltForEveryArchitectureWithItsEntries) {
  for (const Suite& suite : suites())
    for (const Kernel& kernel : suite.kernels)
      for (const std::string& arch : suite.archs_of(kernel)) {
        const Build build{capture::share_folder("kernels"), arch};
        ASSERT_FALSE(kernel.entries.empty()) << kernel.full_name;
        for (const Entry& e : kernel.entries) {
          EXPECT_NE(launch::read_file(build.file(e.module)).find(".entry " + e.entry + "("),
                    std::string::npos)
              << e.name << ", " << arch;
          if (!e.unlike.empty()) {
            EXPECT_NO_THROW(launch::read_file(build.file(e.unlike))) << e.name;
          }
        }
      }
}

TEST(Suites, NamesTellKernelsEntriesAndRecordedCasesApart) {
  std::set<std::string> suite_names, kernels, entries;
  for (const Suite& suite : suites()) {
    EXPECT_TRUE(suite_names.insert(suite.name).second) << suite.name;
    for (const Kernel& kernel : suite.kernels) {
      EXPECT_TRUE(kernels.insert(kernel.full_name).second) << kernel.full_name;
      EXPECT_EQ(&suite::kernel(suite, kernel.name), &kernel);
      for (const Entry& e : kernel.entries) EXPECT_TRUE(entries.insert(e.name).second) << e.name;
      std::set<std::string> cases;
      bool known = false;  // from a GPU
      for (const PlannedCase& c : kernel.cases()) {
        EXPECT_TRUE(cases.insert(c.name).second) << kernel.full_name << ", " << c.name;
        EXPECT_FALSE(c.schedules.empty()) << kernel.full_name << ", " << c.name;
        known = known || c.recorded || c.published;
      }
      // Nobody published NVFP4 that a B200's GEMM made.
      EXPECT_TRUE(known || kernel.name.find("nvfp4") != std::string::npos) << kernel.full_name;
    }
  }
}

// A case's first launch is of the build that was asked for, and its result is an output as long as what is
// expected.
TEST(Suites, ACaseIsLaunchedFromTheBuildThatIsAskedFor) {
  for (const Suite& suite : suites()) {
    const Kernel& kernel = suite.kernels.front();
    const PlannedCase planned = kernel.cases().front();
    const DrawnCase drawn = planned.draw();
    for (const std::string& arch : suite.archs_of(kernel)) {
      const SuiteCase c = suite_case(planned, drawn, {"folder", arch});
      EXPECT_EQ(c.name, planned.name);
      for (const launch::Launch& l : c.chain.launches) {
        EXPECT_EQ(l.ptx.rfind("folder/" + suite.name + "/", 0), 0u) << l.ptx;
        EXPECT_NE(l.ptx.find("." + arch + ".ptx"), std::string::npos) << l.ptx;
      }
      const launch::Buffer& result = c.chain.launches.back().buffers.at(c.result);
      EXPECT_TRUE(result.output);
      EXPECT_EQ(result.bytes.size(), c.expected.size());
      EXPECT_EQ(drawn.errors_ulp(c.expected).size(), c.expected.size() / c.element);
    }
  }
}

TEST(Suites, WhatThereIsNotIsRefusedWithWhatThereIs) {
  const auto refusal = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([] { suite("gemn"); }),
            "no suite 'gemn'; there are gemv, gemm, dense, dual, grouped, svdquant, quantise, rtx; did you "
            "mean 'gemv'?");
  EXPECT_NE(
      refusal([] { kernel(suite("gemv"), "fastest"); }).find("no GEMV kernel 'fastest'; there are naive, "),
      std::string::npos);
  verdict::Plan plan;
  plan.archs = {"sm_100a"};
  EXPECT_EQ(refusal([&] { verdict::judge(suite("gemm"), plan); }),
            "the suite 'gemm' is not judged on 'sm_100a'");
}

// gemm's order of k, as hosts know it, moves every element of a step to one place.
// A kernel that counts on the special-function unit, and the same for a target whose unit nobody has
// recorded.
TEST(Suites, AVerdictSaysThatApproximateInstructionsAreAnH200s) {
  Suite one = suite("quantise");
  one.kernels = {kernel(one, "quantise_fbgemm")};
  one.kernels[0].archs = {"sm_90a", "sm_100a"};
  one.kernels[0].cases = [of = one.kernels[0].cases] { return std::vector<PlannedCase>{of().front()}; };
  verdict::Plan plan;
  plan.ptx = testing::TempDir() + "approximate_kernels";
  plan.captures = capture::share_folder("captures");
  const std::string text =
      launch::read_file(capture::share_folder("kernels") + "/quantise/quantise_fbgemm.sm_90a.ptx");
  std::filesystem::create_directories(plan.ptx + "/quantise");
  for (const std::string arch : {"sm_90a", "sm_100a"}) {
    std::string of_arch = text;
    of_arch.replace(of_arch.find("sm_90a"), 6, arch);
    std::ofstream(plan.ptx + "/quantise/quantise_fbgemm." + arch + ".ptx") << of_arch;
  }
  const std::vector<verdict::Verdict> verdicts = verdict::judge(one, plan);
  ASSERT_EQ(verdicts.size(), 2u);
  for (const verdict::Verdict& v : verdicts) EXPECT_TRUE(v.holds || v.arch == "sm_90a") << v.first_mismatch;
  EXPECT_EQ(verdicts[0].evidence.find("approximate"), std::string::npos) << verdicts[0].evidence;
  EXPECT_EQ(verdicts[1].evidence, "manual; bits = sm_90a; approximate instructions as an H200's");
}

TEST(GemmLaunch, ElementsOfAStepAreEachAtOnePlace) {
  std::set<int> seen;
  for (int place = 0; place < gemm::kStep; ++place) {
    const int k = gemm::element_at(place);
    EXPECT_GE(k, 0);
    EXPECT_LT(k, gemm::kStep);
    EXPECT_TRUE(seen.insert(k).second) << place;
  }
}

// A whole number of stores makes what a CTA of a split finishes.
TEST(GemmLaunch, StoresMakeUpTheRowsOfASplit) {
  for (const gemm::Variant& v : gemm::kTiles)
    for (const int element : {2, 4}) {
      const int rows = gemm::up(v.m / 16, v.split) * 16;
      EXPECT_EQ(rows % gemm::stored_rows(v, element), 0) << v.m << ", split " << v.split;
    }
}

}  // namespace
}  // namespace bitwell::suite
