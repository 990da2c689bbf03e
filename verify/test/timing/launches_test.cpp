// What is made of the clusters that were run: all of a launch, and how much of its memory L2 has.
#include "model/timing/launches.h"

#include <gtest/gtest.h>

#include "model/timing/cost.h"
#include "one_kernel.h"

namespace bitwell::timing {
namespace {

TimedLaunch run(const launch::Launch& l, uint32_t most, const Device& device = h200()) {
  Launches clocks(device, most, {});
  run_by(clocks, l);
  return clocks.timed().at(0);
}

// CTAs that compute alone, of which one is on a multiprocessor at a time, all take the same; so so many
// waves are so many times one. Of few waves the last is a whole one, of many its part counts.
TEST(LaunchesByHand, WavesOfTheSameTakeTheSame) {
  std::string chain;
  for (int i = 0; i < 50; ++i) chain += "add.f32 %f0, %f0, %f0;\n";
  const auto of = [&](uint32_t ctas) {
    launch::Launch l = launch_of(kernel(chain), ctas, 32, 64);
    l.shape.dynamic_shared = 120 << 10;  // and 8 KiB: two do not fit
    return l;
  };
  const TimedLaunch first = run(of(132), 0);
  EXPECT_EQ(first.extent.residents, 1U);
  EXPECT_FALSE(first.sampled);
  const double one = first.cycles;
  EXPECT_GT(one, 50 * 4);
  const double turn = h200().value(Key::cta_turn);  // between two waves
  EXPECT_NEAR(run(of(132 * 5), 0).cycles, 5 * one + 4 * turn, 1e-6 * one);
  struct Row {
    uint32_t ctas, most;
    double waves;
    size_t run;
  };
  const Row rows[] = {{132, 1, 1, 1},          // no more than there are
                      {132 * 2, 1, 2, 2},      // 3 at least, where there are as many
                      {132 * 3 + 1, 1, 4, 3},  // the last wave is a whole one
                      {132 * 4, 1, 4, 3},
                      {132 * 7 + 66, 4, 8, 4},
                      {132 * 8, 4, 8, 4},
                      {132 * 8 + 66, 4, 8.5, 4},  // of more than 8 waves the part counts
                      {132 * 20 + 33, 6, 20.25, 6}};
  for (const Row& r : rows) {
    const TimedLaunch l = run(of(r.ctas), r.most);
    EXPECT_EQ(l.seen.ends.size(), r.run) << r.ctas;
    EXPECT_NEAR(l.cycles, r.waves * one + (r.waves - 1) * turn, 1e-5 * one) << r.ctas;
    EXPECT_EQ(l.sampled, r.ctas != r.run) << r.ctas;
    EXPECT_EQ(l.ctas, r.ctas);
    EXPECT_EQ(l.clusters, r.ctas);
    EXPECT_EQ(l.groups, 132U);
  }
}

// One CTA is on one multiprocessor; three are on three of them, each alone.
TEST(LaunchesByHand, FewCtasLieOnAMultiprocessorEach) {
  for (const uint32_t ctas : {1U, 3U, 131U, 132U, 133U}) {
    const TimedLaunch l = run(launch_of(kernel("st.global.u32 [%a0], %r0;\n"), ctas, 32, 64), 0);
    EXPECT_EQ(l.groups, std::min(ctas, 132U));
    EXPECT_EQ(l.extent.active_sms, std::min(ctas, 132U));
    EXPECT_EQ(l.extent.groups, l.groups);
    EXPECT_EQ(l.extent.residents, ctas == 133 ? 2U : 1U);
    EXPECT_EQ(l.seen.ends.size(), ctas);
  }
}

// Shared memory is taken from the 256 KiB that L1 has else: in units of 128 bytes, by each CTA that is there.
TEST(LaunchesByHand, SharedMemoryIsTakenFromTheFirstCache) {
  const auto l1 = [](uint32_t dynamic, uint32_t ctas) {
    launch::Launch l =
        launch_of(kernel("st.shared.u32 [tile], %r0;\nst.shared.u32 [bar], %r0;\n"), ctas, 32, 64);
    l.shape.dynamic_shared = dynamic;
    const TimedLaunch t = run(l, 0);
    EXPECT_EQ(t.extent.residents, ctas / 132);
    return t.extent.l1_bytes;
  };
  // 8192 bytes and 8 are the kernel's own, and dynamic ones begin at a multiple of 16: 112 more are in the
  // last unit.
  EXPECT_LT(l1(0, 132), (256u << 10) - 8192);
  EXPECT_EQ(l1(0, 132) - l1(112, 132), 0U);
  EXPECT_EQ(l1(0, 132) - l1(113, 132), 128U);
  EXPECT_EQ(l1(0, 132) - l1(128 * 300, 132), 128U * 300);
  EXPECT_EQ(l1(0, 264) - l1(128 * 300, 264), 2 * 128U * 300);
}

// Columns of tensor memory by what stands in the PTX: a number, or a register that was last made one by a
// move. What is computed limits nothing.
TEST(LaunchesByHand, ColumnsAreReadFromTheCode) {
  const auto residents = [](const std::string& before, const std::string& columns,
                            const std::string& more = "") {
    std::string text = kernel(before + "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], " +
                              columns + ";\n" + more);
    text.replace(text.find("sm_90a"), 6, "sm_100a");
    launch::Launch l = launch_of(text, 148 * 16, 32, 64);
    Launches clocks(b200(), 1, {});
    run::Options options;
    options.checked = false;
    options.chooser = &clocks;
    try {
      launch::simulate(l, options, false, [](const auto&, const launch::Step*, const machine::Memory*) {});
    } catch (const machine::Fault&) {  // its columns are not freed
    }
    return clocks.timed().at(0).extent.residents;
  };
  const uint32_t by_others = residents("mov.u32 %r1, 16;\nadd.u32 %r1, %r1, %r1;\n", "%r1");
  EXPECT_EQ(by_others, 16U) << "as many as there are for each";
  EXPECT_EQ(residents("", "512"), 1U);
  EXPECT_EQ(residents("", "128"), 4U);
  EXPECT_EQ(residents("", "64"), 8U);
  EXPECT_EQ(residents("mov.u32 %r1, 128;\n", "%r1"), 4U);
  EXPECT_EQ(residents("mov.u32 %r1, 128;\nmov.u32 %r2, 64;\n", "%r1"), 4U) << "another register";
  EXPECT_EQ(residents("mov.u32 %r1, 32;\nmov.u32 %r1, 256;\n", "%r1"), 2U) << "the last counts";
  EXPECT_EQ(residents("", "64", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile+8], 128;\n"),
            4U)
      << "the larger of two";
}

// What the first launch brings from DRAM once for all, the second finds in L2 if the first wrote there, and
// what it wrote stays there: half of L2 at most.
TEST(LaunchesByHand, WhatWasWrittenIsInL2ForTheNext) {
  // Each CTA reads all of 8192 bytes, by lanes of 4 bytes side by side.
  std::string read = "shl.b32 %r1, %r0, 2;\ncvt.u64.u32 %a1, %r1;\nadd.u64 %a1, %a0, %a1;\n";
  for (int i = 0; i < 64; ++i) read += "ld.global.cg.u32 %r2, [%a1+" + std::to_string(128 * i) + "];\n";
  const auto parts = [](const std::string& body, uint32_t ctas, double megabytes) {
    const Other device{{Key::l2_bytes, megabytes}};
    const launch::Launch l = launch_of(kernel(body), ctas, 32, 8192);
    Launches clocks(device.device, 0, {});
    run_by(clocks, l);
    run_by(clocks, l);
    std::vector<double> out;
    for (const Shares& d : clocks.shares()) {
      EXPECT_EQ(d.size(), 1U);
      out.push_back(d.begin()->second.dram);
    }
    return out;
  };
  using Parts = std::vector<double>;
  const std::string write = "st.global.u32 [%a0], %r0;\n";
  EXPECT_EQ(parts(read, 1, 50), (Parts{1, 1})) << "nobody wrote";
  EXPECT_EQ(parts(read, 4, 50), (Parts{0.25, 0.25})) << "one of four fetches it";
  EXPECT_EQ(parts(read + write, 4, 50), (Parts{0.25, 0}));
  EXPECT_EQ(parts(read + write, 1, 0.016385), (Parts{1, 0})) << "a little more than twice its bytes";
  EXPECT_EQ(parts(read + write, 1, 0.016384), (Parts{1, 1})) << "exactly half";
}

// A launch begins when the one before has ended.
TEST(LaunchesByHand, LaunchesFollowEachOther) {
  const launch::Launch l = launch_of(kernel("st.global.u32 [%a0], %r0;\n"), 1, 32, 64);
  Launches clocks(h200(), 0, {});
  run_by(clocks, l);
  const double one = clocks.timed().at(0).seen.cycles, clock = h200().value(Key::clock);
  EXPECT_GT(one, 0);
  EXPECT_DOUBLE_EQ(clocks.instant().now, one / clock);
  const double begin = clocks.instant().begin;  // of its last turn
  EXPECT_LT(begin, one / clock);
  run_by(clocks, l);
  EXPECT_DOUBLE_EQ(clocks.instant().begin, begin + one / clock);
  EXPECT_DOUBLE_EQ(clocks.instant().now, 2 * one / clock);
  run_by(clocks, l);
  EXPECT_DOUBLE_EQ(clocks.instant().begin, begin + 2 * one / clock);
  EXPECT_EQ(clocks.timed().size(), 3U);
}

// A model of PTX is as far off as such models are by what binds; latencies do where nothing is busy for long.
TEST(LaunchesByHand, TheRangeIsThatOfWhatBinds) {
  const struct {
    double Seen::*share;
    double of;
    const char* kind;
    double error;
  } rows[] = {{&Seen::tensor, 0.9, "tensor cores", 0.15},
              {&Seen::dram, 0.9, "DRAM", 0.20},
              {&Seen::l2, 0.9, "L2", 0.15},
              {&Seen::issue, 0.9, "instructions", 0.35},
              {&Seen::memory, 0.9, "instructions", 0.35},
              {&Seen::dram, 0.39, "latency", 0.35}};
  for (const auto& r : rows) {
    TimedLaunch l;
    l.ctas = l.clusters = 132;
    l.cycles = 100000;
    l.seen.*r.share = r.of;
    const Estimate e = estimate(h200(), l);
    EXPECT_EQ(e.kind, r.kind);
    EXPECT_NEAR(e.low, e.us * (1 - r.error), 1e-9 * e.us) << r.kind;
    EXPECT_NEAR(e.high, e.us * (1 + r.error), 1e-9 * e.us) << r.kind;
  }
}

// Power lowers the clock of busy tensor cores, and further where launch follows launch; what binds elsewhere
// it does not slow down.
TEST(LaunchesByHand, OneAmongOthersIsFasterByItsTensorCores) {
  TimedLaunch l;
  l.ctas = l.clusters = 132;
  l.cycles = 100000;
  const double launch = h200().value(Key::launch);
  for (const double busy : {0.0, 0.5, 1.0}) {
    l.seen.tensor = busy;
    const Estimate e = estimate(h200(), l);
    EXPECT_NEAR(e.us - launch, 100000 / (1980 - busy * (1980 - 1450)), 1e-9);
    EXPECT_NEAR(e.alone - launch, 100000 / (1980 - busy * (1980 - 1646.86)), 1e-9);
  }
  const Estimate locked = estimate(*device("b200@1300"), l);
  EXPECT_EQ(locked.us, locked.alone);
}

}  // namespace
}  // namespace bitwell::timing
