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
  q.asks_ptxas = false;
  q.most = 0;  // in full
  q.costs = even_dram_costs();
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

// ptxas leaves a load behind a store whose bytes it may read; then the load waits for what the store waits
// for. So say its listings for each of these.
TEST(HeldBack, ALoadStandsBehindAStoreThatItMayRead) {
  const double dram = probed("ld.global.cg", "latency, DRAM, 132 KiB apart");
  ASSERT_GT(dram, 500);
  const struct {
    const char *what, *store, *load;
    bool waits;
  } pairs[] = {
      {"two registers", "st.global.f32 [%a1], %f1;\n", "ld.global.f32 %f2, [%a0+65536];\n", true},
      {"past L1", "st.global.f32 [%a1], %f1;\n", "ld.global.cg.f32 %f2, [%a0+65536];\n", true},
      {"a reduction", "red.global.add.f32 [%a1], %f1;\n", "ld.global.f32 %f2, [%a0+65536];\n", true},
      {"a store to anywhere", "st.f32 [%a1], %f1;\n", "ld.global.f32 %f2, [%a0+65536];\n", true},
      {"a load from anywhere", "st.shared.f32 [%r1], %f1;\n", "ld.f32 %f2, [%a0+65536];\n", true},
      {"one register, made anew between", "st.global.f32 [%a1], %f1;\nadd.u64 %a1, %a1, %a3;\n",
       "ld.global.f32 %f2, [%a1+65536];\n", true},
      {"what nobody writes", "st.global.f32 [%a1], %f1;\n", "ld.global.nc.f32 %f2, [%a0+65536];\n", false},
      {"two spaces", "st.shared.f32 [%r1], %f1;\n", "ld.global.f32 %f2, [%a0+65536];\n", false},
      {"one register, further", "st.global.v2.f32 [%a0+65528], {%f1, %f1};\n",
       "ld.global.f32 %f2, [%a0+65536];\n", false},
      {"one register, less far", "st.global.f32 [%a0+65540], %f1;\n", "ld.global.f32 %f2, [%a0+65536];\n",
       false},
      {"a sum of it", "st.global.f32 [%a0+128], %f1;\n", "ld.global.f32 %f2, [%a2];\n", false},
      {"a sum of it, the same bytes", "st.global.v2.f32 [%a0+65528], {%f1, %f1};\n",
       "ld.global.f32 %f2, [%a2+-4];\n", true},
  };
  for (const auto& p : pairs) {
    const std::string first =
        "mov.u32 %r1, tile;\nld.param.u64 %a1, [x];\nmov.u64 %a3, 0;\nadd.u64 %a2, %a0, "
        "65536;\nld.global.f32 %f1, [%a0];\n";
    const std::string last = "st.global.f32 [%a0+128], %f2;\n";
    const double once = in_full(first + "mov.f32 %f2, %f1;\n" + p.store + last, 32);
    EXPECT_NEAR(in_full(first + p.store + p.load + last, 32) - once, p.waits ? dram : 0, 0.3 * dram)
        << p.what;
    // Before the store it waits for nothing.
    EXPECT_NEAR(in_full(first + p.load + p.store + last, 32) - once, 0, 0.3 * dram) << p.what;
  }
}

// Shared memory is a space of its own.
TEST(HeldBack, ALoadOfSharedMemoryStandsBehindItsStores) {
  const auto of = [](const char* store) {
    return in_full("mov.u32 %r1, tile;\nmov.u32 %r2, %r1;\nld.global.b32 %r3, [%a0];\n" + std::string(store) +
                       "ld.shared.b32 %r4, [%r2+64];\ncvt.u64.u32 %a1, %r4;\nadd.u64 %a1, %a0, %a1;\n"
                       "ld.global.b32 %r5, [%a1+65536];\nst.global.b32 [%a0+128], %r5;\n",
                   32);
  };
  const double dram = probed("ld.global.cg", "latency, DRAM, 132 KiB apart");
  EXPECT_NEAR(
      of("st.shared.b32 [%r1+64], 0;\nst.shared.b32 [%r1], %r3;\n") - of("st.shared.b32 [%r1+64], 0;\n"),
      dram, 0.3 * dram);
}

// Two rows of one block come late. What comes of the one that is there soon does not wait for the other.
TEST(HeldBack, ARowWaitsForWhatItComesOfAlone) {
  const std::string chain = repeated(24, "ld.shared.b32 %r2, [%r4];\nadd.s32 %r4, %r2, %r3;\n");
  const std::string set = "mov.b32 %r3, tile;\n", soon = "ld.shared.b32 %r2, [%r3];\n";
  const std::string late = "ld.global.b32 %r1, [%a0];\n";
  const std::string sums = "add.f32 %f2, %f1, %f1;\nadd.s32 %r5, %r1, %r0;\nadd.s32 %r4, %r2, %r3;\n";
  const std::string kept = "st.global.b32 [%a0+512], %r5;\n";
  const double memory = in_full(set + soon + late + sums + kept, 32);
  const double walk = in_full(set + soon + "mov.b32 %r1, %r0;\n" + sums + chain, 32);
  const double both = in_full(set + soon + late + sums + chain + kept, 32);
  EXPECT_GT(walk, 500);
  EXPECT_GT(memory, 500);
  EXPECT_LT(both, std::max(memory, walk) + 100);
}

// A sum that is joined with the next one has no time of its own; it is there when both of its terms are.
TEST(HeldBack, AJoinedSumWaitsForEachOfItsTerms) {
  for (const std::string terms : {"%r1, %r0", "%r0, %r1"}) {
    const auto walk = [&](const std::string& from) {
      return in_full("mov.b32 %r3, 128;\n" + from + "add.s32 %r2, " + terms +
                         ";\nadd.s32 %r4, %r2, %r3;\ncvt.u64.u32 %a1, %r4;\nadd.u64 %a0, %a0, %a1;\n"
                         "ld.global.b32 %r5, [%a0];\nadd.s32 %r6, %r5, %r5;\nst.global.b32 [%a0], %r6;\n",
                     32);
    };
    EXPECT_GT(walk("ld.global.b32 %r1, [%a0];\n"), walk("mov.b32 %r1, %r0;\n") + 500) << terms;
  }
}

}  // namespace
}  // namespace bitwell::timing
