// A case is data: it can be printed, read again, and run in another process.
#include "verify/suite/case.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite {
namespace {

TEST(Case, IsItsText) {
  std::set<std::string> texts;
  size_t all = 0, read = 0;
  for (const Suite& suite : suites())
    for (const Kernel& kernel : suite.kernels)
      for (const std::string& arch : suite.archs_of(kernel))
        for (const Case& c : cases_of(suite, kernel, arch, true)) {
          const std::string text = text_of(c);
          EXPECT_EQ(text.find('\n'), std::string::npos) << text;
          EXPECT_TRUE(texts.insert(text).second) << text;
          if (all++ % 7 != 0) continue;  // each reading makes the kernel's list again
          ++read;
          EXPECT_EQ(read_case(text), c) << text;
          EXPECT_EQ(planned(c).name, c.of);
        }
  EXPECT_GT(read, 200u);
}

TEST(Case, OfASeedIsWhatTheKernelDrawsOfIt) {
  for (const Suite& suite : suites())
    for (const Kernel& kernel : suite.kernels) {
      const Case c =
          read_case(suite.name + "/" + kernel.name + "." + suite.archs_of(kernel).front() + ": another 3");
      EXPECT_EQ(planned(c).name, kernel.another(3).name);
      EXPECT_NE(planned(c).name, kernel.another(4).name) << kernel.full_name;
    }
}

TEST(Case, ListsLeaveOutFullOnesUnlessTheyAreAskedFor) {
  const Suite& gemv = suite("gemv");
  const size_t some = cases_of(gemv, kernel(gemv, "fused"), "sm_90a", false).size();
  EXPECT_EQ(cases_of(gemv, kernel(gemv, "fused"), "sm_90a", true).size(), some + 3);  // the contest's shapes
}

TEST(Case, WhatIsNoneIsRefusedWithWhatThereIs) {
  const auto refused = [](const std::string& text) {
    try {
      read_case(text);
    } catch (const machine::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const char* none : {"", "gemv", "gemv/fused", "gemv/fused.sm_90a", "gemv.fused/sm_90a: another 1",
                           "fused.sm_90a: another 1", "gemv/fused.sm_90a:another 1"})
    EXPECT_NE(refused(none).find("SUITE/KERNEL.ARCH: CASE"), std::string::npos) << none;
  EXPECT_NE(refused("gem/fused.sm_90a: another 1").find("there are gemv, gemm"), std::string::npos);
  EXPECT_NE(refused("gemv/fuse.sm_90a: another 1").find("there are naive"), std::string::npos);
  EXPECT_NE(refused("gemv/fused.sm_80: another 1").find("judged on sm_90a, sm_100a"), std::string::npos);
  for (const char* none : {"another 0", "another -1", "another 1 ", "another", "another 99999999999999999999",
                           "m=1 k=128 l=1", ""})
    EXPECT_NE(refused(std::string("gemv/fused.sm_90a: ") + none).find("has no such case"), std::string::npos)
        << none;
}

// What the command says of that case alone, in a process of its own.
nlohmann::json said_of(const std::string& text) {
  const std::string command = "'" BITWELL_COMMAND "' verify all --json --case '" + text + "'";
  std::FILE* const out = popen(command.c_str(), "r");
  std::string said;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) said += static_cast<char>(c);
  EXPECT_EQ(pclose(out), 0) << said;
  return nlohmann::json::parse(said);
}

TEST(Case, IsRunInAnotherProcessWithTheSameBits) {
  std::vector<std::string> texts{"quantise/quantise_vllm.sm_90a: another 5",
                                 "quantise/quantise_vllm.sm_90a: another 6"};
  const Suite& gemv = suite("gemv");
  for (const Case& c : cases_of(gemv, kernel(gemv, "fused"), "sm_100a", false))
    if (c.of.starts_with("m=65 k=64 ")) texts.push_back(text_of(c));
  ASSERT_EQ(texts.size(), 4u);  // by the layout of scales
  std::set<std::string> digests;
  for (const std::string& text : texts) {
    const Case c = read_case(text);
    const SuiteCase drawn = draw(c, capture::share_folder("kernels"));
    launch::Modules modules;
    const Tried here = try_case(drawn, drawn.schedules.front(), std::ref(modules));
    ASSERT_FALSE(here.failure) << here.failure->what;
    const nlohmann::json there = said_of(text);
    ASSERT_EQ(there["verdicts"].size(), 1u) << there.dump(2);
    const nlohmann::json& verdict = there["verdicts"][0];
    EXPECT_EQ(verdict["digest"], verdict::recorded_digest(suite(c.suite), {here.result})) << text;
    EXPECT_EQ(verdict["arch"], c.arch);
    EXPECT_EQ(verdict["cases"], 1);
    EXPECT_EQ(verdict["mismatches"], 0);
    digests.insert(verdict["digest"].get<std::string>());
  }
  EXPECT_EQ(digests.size(), texts.size());
}

}  // namespace
}  // namespace bitwell::suite
