// What ptxas makes of several instructions of PTX costs what that costs.
#include <gtest/gtest.h>

#include <cmath>

#include "one_kernel.h"
#include "probed.h"
#include "verify/session/time.h"

namespace bitwell::timing::machine_code {
namespace {

double in_full(const std::string& body, uint32_t ctas, uint32_t threads) {
  const launch::Launch l = launch_of(kernel(body), ctas, threads);
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  q.most = 0;
  return session::time_of(q).launches.at(0).launch.cycles;
}

std::string repeated(int n, const std::string& what) {
  std::string out;
  for (int i = 0; i < n; ++i) out += what;
  return out;
}

// Eight warps of a quarter are bound by what they issue. Listings of ptxas 13.0 have LOP3, IADD3, LEA and
// FFMA for these.
TEST(MachineCode, OneInstructionOfItDoesTwoOfPtx) {
  const struct {
    const char* what;
    int of, to;  // so many instructions become so many
  } cases[] = {
      {"and.b32 %r2, %r1, %r3;\nxor.b32 %r4, %r2, %r5;\n", 2, 1},
      {"not.b32 %r2, %r1;\nand.b32 %r4, %r2, %r3;\nor.b32 %r6, %r4, %r5;\n", 3, 1},
      {"and.b32 %r2, %r1, %r3;\nand.b32 %r4, %r1, %r5;\nor.b32 %r6, %r2, %r4;\n", 3, 1},
      {"and.b32 %r2, %r1, %r3;\nand.b32 %r4, %r5, %r7;\nor.b32 %r6, %r2, %r4;\n", 3, 2},
      {"and.b32 %r2, %r1, %r3;\nxor.b32 %r4, %r2, %r5;\nxor.b32 %r6, %r2, %r4;\n", 3, 2},
      {"add.s32 %r2, %r1, %r3;\nadd.s32 %r4, %r2, %r5;\n", 2, 1},
      {"add.s32 %r2, %r1, %r3;\nadd.s32 %r4, %r2, %r5;\nadd.s32 %r6, %r4, %r7;\n", 3, 2},
      {"add.s32 %r2, %r1, %r3;\nxor.b32 %r4, %r2, %r5;\n", 2, 2},
      {"shl.b32 %r2, %r1, 3;\nadd.s32 %r4, %r2, %r5;\n", 2, 1},
      {"shf.l.wrap.b32 %r2, %r1, %r1, 7;\nadd.s32 %r4, %r2, %r5;\n", 2, 1},
      {"shf.l.wrap.b32 %r2, %r1, %r3, 7;\nadd.s32 %r4, %r2, %r5;\n", 2, 1},
      {"shl.b32 %r2, %r1, 3;\nadd.s32 %r4, %r2, %r5;\nadd.s32 %r6, %r4, %r7;\n", 3, 2},
      {"add.s32 %r2, %r1, %r3;\nshl.b32 %r4, %r5, 3;\nadd.s32 %r6, %r2, %r4;\n", 3, 2},
      {"mul.f32 %f2, %f1, %f3;\nadd.f32 %f4, %f2, %f5;\n", 2, 1},
      {"mul.f32 %f2, %f1, %f3;\nsub.f32 %f4, %f5, %f2;\n", 2, 1},
      {"mul.rn.f32 %f2, %f1, %f3;\nadd.f32 %f4, %f2, %f5;\n", 2, 2},
      {"mul.f32 %f2, %f1, %f3;\nadd.rn.f32 %f4, %f2, %f5;\n", 2, 2},
      {"mul.f32 %f2, %f1, %f3;\nadd.f32 %f4, %f2, %f5;\nadd.f32 %f6, %f2, %f7;\n", 3, 2},
  };
  constexpr int kMany = 64, kThreads = 1024;
  std::string set;
  for (int i = 1; i < 8; ++i)
    set += "mov.b32 %r" + std::to_string(i) + ", %r0;\nmov.f32 %f" + std::to_string(i) + ", 0f3F800000;\n";
  // By one pipe each, of which each instruction takes the same time.
  for (const auto& c : cases) {
    const auto of = [&](int n) { return in_full(set + repeated(n, c.what), 1, kThreads); };
    const bool floats = std::string(c.what).find(".f32") != std::string::npos;
    const bool logic = std::string(c.what).find("add.s32") == std::string::npos;
    const double interval = floats ? 1.04 : logic ? 2.04 : 0;
    const double each = (of(2 * kMany) - of(kMany)) / kMany / (kThreads / 32 / 4.0);
    if (interval != 0) {
      EXPECT_NEAR(each, c.to * interval, 0.15 * c.to) << c.what;
    } else {  // a sum takes one place of issue, a shift or logic two of its pipe
      EXPECT_GT(each, 0.95 * c.to) << c.what;
      EXPECT_LT(each, 2.2 * c.to) << c.what;
    }
  }
}

// A branch that waits for a load holds back what stands behind it. Over a few instructions there is none.
TEST(MachineCode, HasNoBranchOverAFewInstructions) {
  const auto sums = [](int n) { return repeated(n, "fma.rn.f32 %f2, %f2, %f2, %f2;\n"); };
  const std::string load = "ld.global.f32 %f3, [%a1];\n", store = "st.global.f32 [%a0+256], %f2;\n";
  const struct {
    const char* what;
    std::string over;
    bool branch;
  } cases[] = {
      {"one", sums(1), false},
      {"seven", sums(7), false},
      {"eight", sums(8), true},
      {"a load", load + "add.f32 %f2, %f2, %f3;\n", false},
      {"two loads", load + load + "add.f32 %f2, %f2, %f3;\n", true},
      {"a store", store, false},
      {"a reduction", "red.global.add.f32 [%a0+256], %f2;\n", true},
      {"a division", "div.rn.f32 %f2, %f2, %f3;\n", true},
      {"a place to which others come",
       "fma.rn.f32 %f2, %f2, %f2, %f2;\nin:\nfma.rn.f32 %f2, %f2, %f2, %f2;\n", true},
  };
  const double dram = []() {
    const auto row = probes().find({"ld.global.cg", "latency, DRAM, 132 KiB apart"});
    return row == probes().end() ? std::nan("") : row->second;
  }();
  ASSERT_GT(dram, 500);
  for (const auto& c : cases) {
    const std::string begin =
        "ld.param.u64 %a1, [x];\nmov.f32 %f2, 0f3F800000;\nmov.f32 %f3, %f2;\nld.global.u32 %r1, [%a0];\n"
        "setp.ne.u32 %p0, %r1, 0;\nsetp.gt.u32 %p1, %r0, 4096;\n";
    const std::string last = "ld.global.nc.f32 %f1, [%a0+65536];\nst.global.f32 [%a0+128], %f1;\n";
    // A branch that waits for nothing leads to the place to which others come.
    const std::string in = c.over.find("in:") != std::string::npos ? "@%p1 bra in;\n" : "";
    const double with = in_full(begin + in + "@%p0 bra over;\n" + c.over + "over:\n" + last, 1, 32);
    const double without = in_full(begin + in + c.over + last, 1, 32);
    if (c.branch)
      EXPECT_GT(with - without, 0.7 * dram) << c.what;
    else
      EXPECT_LT(with - without, 0.3 * dram) << c.what;
  }
}

// What stands under a predicate waits for it.
TEST(MachineCode, WaitsForThePredicateOfABranchThatIsNone) {
  const auto of = [](const char* predicate) {
    return in_full("ld.global.u32 %r1, [%a0];\nmov.u32 %r2, 0;\nmov.u64 %a1, 0;\n" + std::string(predicate) +
                       "@%p0 bra over;\nmov.u64 %a1, 65536;\nadd.u64 %a1, %a1, 4;\nover:\n"
                       "add.u64 %a1, %a1, %a0;\nld.global.u32 %r3, [%a1];\nst.global.u32 [%a0+128], %r3;\n",
                   1, 32);
  };
  EXPECT_GT(of("setp.ne.u32 %p0, %r1, 0;\n") - of("setp.ne.u32 %p0, %r2, 0;\n"), 400);
}

// An atomic whose result nobody uses is a reduction.
TEST(MachineCode, ReducesWhereNobodyUsesWhatWasThere) {
  const auto of = [](const std::string& what, const std::string& last) {
    return in_full(repeated(64, what) + last, 1, 256);
  };
  const double red = of("red.global.add.u32 [%a0], 1;\n", "");
  const double unused = of("atom.global.add.u32 %r1, [%a0], 1;\n", "");
  const double used = of("atom.global.add.u32 %r1, [%a0], 1;\n", "st.global.u32 [%a0+128], %r1;\n");
  EXPECT_NEAR(unused, red, 0.05 * red + 1000);
  EXPECT_GT(used, 2 * red);
  // The register may hold another value later, of which that says nothing; under a predicate it may not.
  const auto and_then = [&](const char* next) {
    return of("atom.global.add.u32 %r1, [%a0], 1;\n", std::string(next) + "st.global.u32 [%a0+128], %r1;\n");
  };
  EXPECT_NEAR(and_then("mov.u32 %r1, %r0;\n"), red, 0.05 * red + 1000);
  EXPECT_GT(and_then("setp.ne.u32 %p0, %r0, 0;\n@%p0 mov.u32 %r1, %r0;\n"), 2 * red);
  // Behind a branch somebody may read it: for each lane L2 then takes 0.13 cycles more, of all warps of a
  // device.
  constexpr int kTimes = 8;
  constexpr uint32_t kCtas = 132, kWarps = 32;
  std::string across = "mov.u32 %r1, 0;\nmov.u32 %r3, 0;\nsetp.eq.u32 %p0, %r0, 4096;\n";
  for (int i = 0; i < kTimes; ++i)
    across += "atom.global.add.u32 %r1, [%a0], 1;\n@%p0 bra over" + std::to_string(i) +
              ";\nbar.sync 0;\nover" + std::to_string(i) + ":\nadd.u32 %r3, %r3, %r1;\n";
  EXPECT_GT(in_full(across + "st.global.u32 [%a0+128], %r3;\n", kCtas, 32 * kWarps),
            kTimes * kCtas * kWarps * 4);
}

// Lanes that exchange a word, or count up to a bound, come one after the other: what each leaves hangs on
// who was there before. An H200 takes 46.3 cycles for a warp. Sums are summed up first: 1.45 in L2.
TEST(MachineCode, WhatHangsOnTheOrderIsDoneLaneByLane) {
  const auto a_warp = [](const char* update) {
    const auto of = [&](int n) { return in_full(repeated(n, update), 1, 256); };
    return (of(128) - of(64)) / 64 / 8;
  };
  EXPECT_LT(a_warp("red.global.add.u32 [%a0], 1;\n"), 3);
  EXPECT_LT(a_warp("red.global.max.u32 [%a0], %r0;\n"), 3);
  EXPECT_NEAR(a_warp("red.global.inc.u32 [%a0], 7;\n"), 46.3, 2);
  EXPECT_NEAR(a_warp("red.global.dec.u32 [%a0], 7;\n"), 46.3, 2);
  EXPECT_GT(a_warp("atom.global.exch.b32 %r1, [%a0], %r0;\n"), 40);
}

// What is stored leaves a multiprocessor by one sector a cycle, or a line in two: an H200's probe has 64
// cycles for a warp whose lanes have a line each. A launch lasts until all of it has left; a load that L1
// misses goes behind it; and a warp goes on until 32 such stores are under way.
TEST(MachineCode, StoresLeaveOneAfterTheOther) {
  const auto of = [](int n, const std::string& apart, const std::string& last) {
    std::string body = "mad.wide.u32 %a1, %r0, " + apart + ", %a0;\n";
    for (int i = 0; i < n; ++i) body += "st.global.u32 [%a1+" + std::to_string(8192 * i) + "], %r0;\n";
    return in_full(body + last, 1, 32);
  };
  const auto each = [&](const char* apart, const std::string& last) {
    return (of(24, apart, last) - of(8, apart, last)) / 16;
  };
  EXPECT_NEAR(each("4", ""), 4, 0.5);
  EXPECT_NEAR(each("32", ""), 32, 2);
  EXPECT_NEAR(each("128", ""), 64, 2);
  const std::string load = "ld.global.u32 %r1, [%a0+1000000];\nst.shared.u32 [tile], %r1;\n";
  EXPECT_NEAR(each("128", load), 64, 2);
  EXPECT_GT(of(16, "128", load) - of(16, "128", ""), 200);
  // Behind them the warp computes for longer than they need.
  std::string sums;
  for (int i = 0; i < 1500; ++i) sums += "add.f32 %f1, %f1, %f1;\n";
  const auto computes = [&](int n) { return of(n, "128", "mov.f32 %f1, 0f3F800000;\n" + sums); };
  EXPECT_NEAR(computes(32) - computes(16), 16 * 4, 64);
  EXPECT_NEAR(computes(64) - computes(32), 32 * 64, 200);
}

// Warps that compute for long and reach no memory take their places of issue from one another all the time.
TEST(MachineCode, WarpsThatOnlyComputeShareTheirQuarterForAsLongAsTheyDo) {
  constexpr int kSums = 240, kRounds = 3000;
  std::string sums;
  for (int i = 0; i < kSums; ++i) {
    const std::string row = "%f" + std::to_string(1 + i % 4);
    sums += "add.f32 " + row + ", " + row + ", %f0;\n";
  }
  for (const uint32_t warps : {16U, 32U}) {
    const double expected = double{kSums} * kRounds * warps / 4;
    EXPECT_NEAR(in_full("mov.f32 %f0, 0f3F800000;\nmov.u32 %r1, 0;\nagain:\n" + sums +
                            "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, " + std::to_string(kRounds) +
                            ";\n@%p0 bra again;\nst.global.f32 [%a0], %f1;\n",
                        1, 32 * warps),
                expected, 0.08 * expected)
        << warps;
  }
}

}  // namespace
}  // namespace bitwell::timing::machine_code
