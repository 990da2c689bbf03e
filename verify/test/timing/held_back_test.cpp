// What stands behind an instruction, or reaches what another one asked for, waits for it.
#include <gtest/gtest.h>

#include <cmath>

#include "one_kernel.h"
#include "probed.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

double in_full(const std::string& body, uint32_t threads) {
  const launch::Launch l = launch_of(kernel(body), 1, threads);
  session::TimeQuestion q = session::time_question(l);
  q.most = 0;  // in full
  return session::time_of(q).launches.at(0).launch.cycles;
}

std::string repeated(int n, const std::string& what) {
  std::string out;
  for (int i = 0; i < n; ++i) out += what;
  return out;
}

double probed(const char* what, const char* with) {
  const auto row = probes().find({what, with});
  return row == probes().end() ? std::nan("") : row->second;
}

// Warps that walk through memory, each step at the address that the last one gives, all in the same lines,
// take as long as one of them: nobody has a line before it has come.
TEST(HeldBack, WarpsInTheSameLinesWaitForThemTogether) {
  const std::string next = "ld.global.b32 %r1, [%a0];\ncvt.u64.u32 %a1, %r1;\nadd.u64 %a0, %a0, %a1;\n";
  const struct {
    const char* what;
    std::string first, step;
  } walks[] = {
      {"lanes at one address", "", "add.u64 %a0, %a0, 128;\n"},
      {"a row of lanes", "and.b32 %r2, %r0, 31;\nmul.wide.u32 %a1, %r2, 4;\nadd.u64 %a0, %a0, %a1;\n",
       "add.u64 %a0, %a0, 128;\n"},
      {"a sector at a time", "", "add.u64 %a0, %a0, 32;\n"},
      {"each lane in a line of its own",
       "and.b32 %r2, %r0, 31;\nmul.wide.u32 %a1, %r2, 8192;\nadd.u64 %a0, %a0, %a1;\n",
       "add.u64 %a0, %a0, 32;\n"},
  };
  constexpr int kSteps = 48;
  for (const auto& walk : walks) {
    const std::string body = walk.first + repeated(kSteps, next + walk.step) + "st.global.b32 [%a0], %r1;\n";
    const double alone = in_full(body, 32);
    for (const uint32_t warps : {2U, 5U, 16U})
      EXPECT_GE(in_full(body, 32 * warps), alone) << walk.what << ", " << warps << " warps";
    // Nor has who asked for it before.
    const std::string twice = walk.first +
                              repeated(kSteps, "ld.global.b32 %r3, [%a0];\n" + next + walk.step) +
                              "st.global.b32 [%a0], %r1;\n";
    EXPECT_GE(in_full(twice, 32), alone) << walk.what;
    // Lines that have come are there for all: once more they cost little.
    const std::string again = walk.first + "mov.u64 %a2, %a0;\n" + repeated(kSteps, next + walk.step) +
                              "mov.u64 %a0, %a2;\n" + repeated(kSteps, next + walk.step) +
                              "st.global.b32 [%a0], %r1;\n";
    EXPECT_LT(in_full(again, 32), 1.3 * alone) << walk.what;
  }
}

// Machine code has branches in a division that is rounded as IEEE 754 says. So one that needs nothing of the
// one before waits for it all the same. One that is rounded otherwise does not.
TEST(HeldBack, NoInstructionMovesOverABranchThatOnlyMachineCodeHas) {
  constexpr int kMany = 24;
  // By all lanes; by those whose guard holds; by those that came another way than the others.
  const struct {
    const char *before, *guard, *behind;
  } ways[] = {{"", "", ""},
              {"setp.lt.u32 %p0, %r0, 16;\n", "@%p0 ", ""},
              {"setp.lt.u32 %p0, %r0, 16;\n@%p0 bra over;\n", "", "over:\n"},
              {"", "", "shfl.sync.bfly.b32 %f4, %f4, 1, 31, -1;\n"}};
  const double one = probed("div.rn.f32", "latency: each needs the one before");
  ASSERT_GT(one, 50);
  for (const auto& way : ways) {
    const auto more = [&](const std::string& name) {
      const auto of = [&](int n) {
        return in_full(
            "mov.f32 %f1, 0f40400000;\nmov.f32 %f2, 0f40000000;\nmov.f32 %f4, %f1;\n" +
                std::string(way.before) +
                repeated(n, way.guard + name + " %f3, %f1, %f2;\n" + way.guard + "add.f32 %f4, %f4, %f3;\n") +
                way.behind + "st.global.f32 [%a0], %f4;\n",
            32);
      };
      return of(kMany) - of(0);
    };
    EXPECT_NEAR(more("div.rn.f32"), kMany * one, 0.2 * kMany * one) << way.before << way.guard << way.behind;
    EXPECT_LT(more("div.full.f32"), 0.5 * kMany * one) << way.before << way.guard << way.behind;
  }
}

// And it waits as long as what the division waits for.
TEST(HeldBack, WhatWaitsForADivisionWaitsForWhatThatWaitsFor) {
  const auto of = [](const std::string& load, const char* divide) {
    return in_full(load + std::string(divide) +
                       " %f3, %f1, %f2;\nadd.f32 %f4, %f5, %f5;\nld.global.f32 %f6, [%a0+65536];\n"
                       "add.f32 %f6, %f6, %f4;\nst.global.f32 [%a0+128], %f6;\n",
                   32);
  };
  const std::string there = "mov.f32 %f1, 0f40400000;\nmov.f32 %f2, 0f40000000;\n";
  const std::string late = "mov.f32 %f1, 0f40400000;\nld.global.f32 %f2, [%a0];\n";
  const double dram = probed("ld.global.cg", "latency, DRAM, 132 KiB apart");
  EXPECT_NEAR(of(late, "div.rn.f32") - of(there, "div.rn.f32"), dram, 0.15 * dram);
  EXPECT_LT(of(late, "div.full.f32") - of(there, "div.full.f32"), 0.3 * dram);
}

}  // namespace
}  // namespace bitwell::timing
