// What multiprocessors near each other read at about one time, L2 gives once.
#include "model/timing/neighbours.h"

#include <gtest/gtest.h>

#include "model/timing/launches.h"
#include "one_kernel.h"
#include "probed.h"
#include "verify/cost_probe/neighbours.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

// What one asks for again itself, or in another GPC, says nothing.
TEST(Neighbours, AreOthersOfTheSameGpc) {
  constexpr Time kNever = Neighbours::kNever;
  Neighbours all(2);
  EXPECT_EQ(all.apart(0, 0, 7, 100), kNever) << "the first";
  EXPECT_EQ(all.apart(0, 0, 7, 110), kNever) << "itself";
  EXPECT_EQ(all.apart(0, 1, 7, 130), 20);
  EXPECT_EQ(all.apart(0, 0, 7, 125), 5) << "earlier than the other";
  EXPECT_EQ(all.apart(1, 8, 7, 125), kNever) << "another GPC";
  EXPECT_EQ(all.apart(0, 1, 8, 140), kNever) << "another sector";
  EXPECT_EQ(all.apart(0, 0, 0, 0), kNever) << "sector 0";
  EXPECT_EQ(all.apart(0, 1, 0, 0), 0);
}

// Of a launch that is not run whole, the first CTAs of a GPC are: those that follow each other; of clusters
// each eighth one, as they go to eight GPCs in turn.
TEST(Neighbours, OfALaunchAreThoseThatTheDevicePutsSideBySide) {
  const double again = 2 * h200().value(Key::l2_gpc) / h200().value(Key::l2_own) - 1;
  ASSERT_GT(again, 0);
  ASSERT_LT(again, 0.5);
  const struct {
    const char* region;  // %r1 of CTA %r1
    uint32_t cluster, same;
  } rows[] = {{"", 1, 1},
              {"shr.u32 %r1, %r1, 1;\n", 1, 2},
              {"shr.u32 %r1, %r1, 2;\n", 1, 4},
              {"shr.u32 %r1, %r1, 3;\n", 1, 8},
              {"and.b32 %r1, %r1, 7;\n", 1, 1},  // the others that read it are in other GPCs
              {"", 2, 1},
              {"shr.u32 %r1, %r1, 1;\n", 2, 2},   // of the cluster
              {"shr.u32 %r1, %r1, 4;\n", 2, 2},   // those of the next clusters are elsewhere
              {"and.b32 %r1, %r1, 15;\n", 2, 4},  // one of each cluster
              {"shr.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 7;\n", 2, 8},
              {"shr.u32 %r1, %r1, 2;\nand.b32 %r1, %r1, 7;\n", 4, 16}};
  for (const auto& row : rows) {
    // 512 bytes at a time, of 8192.
    std::string body = std::string("mov.u32 %r1, %ctaid.x;\n") + row.region +
                       "mul.wide.u32 %a1, %r1, 8192;\nadd.u64 %a0, %a0, %a1;\nmul.wide.u32 %a1, %r0, 16;\n"
                       "add.u64 %a0, %a0, %a1;\n";
    for (int i = 0; i < 16; ++i)
      body += "ld.global.cg.v4.u32 {%r2, %r3, %r4, %r5}, [%a0+" + std::to_string(512 * i) + "];\n";
    launch::Launch l = launch_of(kernel(body), 256, 32, size_t{256} * 8192);
    l.shape.cluster = {row.cluster, 1, 1};
    Launches clocks(h200(), 1, {});
    clocks.look_at_neighbours();
    run_by(clocks, l);
    const std::vector<Shares> shares = clocks.shares();
    ASSERT_EQ(shares.at(0).size(), 1U);
    const double all = row.same;
    EXPECT_NEAR(shares[0].begin()->second.l2, (1 + (all - 1) * again) / all, 0.02)
        << row.region << row.cluster;
  }
}

// An H200 was asked the same, with all its multiprocessors; here are 16, and as much of L2 for each.
TEST(Neighbours, WaitForL2AsAnH200s) {
  constexpr uint32_t kCtas = 16, kTurns = 12;
  std::vector<Cost> costs(h200().costs.begin(), h200().costs.end());
  for (Cost& c : costs)
    if (c.key == Key::l2_bandwidth || c.key == Key::sms) c.value *= kCtas / h200().value(Key::sms);
  Device device = h200();
  device.costs = costs;
  const auto module = std::make_shared<const isa::Module>(cost_probe::reading_text());
  const auto of = [&](const cost_probe::Reading& what) {
    const auto cycles = [&](uint32_t turns) {
      launch::Launch l = cost_probe::reading(what, kCtas, turns);
      l.module = module;
      Launches clocks(device, 0, {});
      run_by(clocks, l);
      return clocks.timed().at(0).seen.cycles;
    };
    return (cycles(2 * kTurns) - cycles(kTurns)) / kTurns;
  };
  size_t asked = 0;
  for (const cost_probe::Row& r : cost_probe::neighbours(kCtas, of)) {
    const auto at = probes().find({r.what, r.with});
    ASSERT_NE(at, probes().end()) << r.with;
    EXPECT_NEAR(r.value, at->second, 0.1 * at->second) << r.with;
    ++asked;
  }
  EXPECT_EQ(asked, 11U);
}

// A sample is told what it does not see.
TEST(Neighbours, ASampleKnowsOf) {
  const auto module = std::make_shared<const isa::Module>(cost_probe::reading_text());
  const auto cycles = [&](const cost_probe::Reading& what) {
    launch::Launch l = cost_probe::reading(what, 1320, 112);
    l.module = module;
    session::TimeQuestion q = session::time_question(l);
    q.asks_ptxas = false;
    q.most = 1;
    q.whole_up_to = 0;
    const TimedLaunch answer = session::time_of(q).launches.at(0).launch;
    EXPECT_TRUE(answer.sampled);
    return answer.cycles;
  };
  const double own = cycles({1, 1, 0});
  EXPECT_LT(cycles({4, 2, 0}), 0.7 * own) << "two of a GPC";
  EXPECT_NEAR(cycles({1320, 660, 0}), own, 0.02 * own) << "far from each other";
}

}  // namespace
}  // namespace bitwell::timing
