// The pipeline kernel and its mistakes: each is found under every schedule, and named.
#include <gtest/gtest.h>

#include <cstring>
#include <ostream>

#include "../../kernel.h"
#include "verify/capture/captures.h"

namespace bitwell::isa {
namespace {

constexpr int kTiles = 8;
constexpr size_t kWords = 256;  // of a tile

launch::Launch launch() {
  launch::Launch l;
  l.entry = "pipeline";
  l.shape.block = {64, 1, 1};
  std::vector<std::byte> words(4 * kWords * kTiles);
  for (uint32_t i = 0; i < words.size() / 4; ++i) std::memcpy(&words[4 * i], &i, 4);
  l.add_buffer({"words", words, true, true, false});
  l.add_buffer({"sums", std::vector<std::byte>(128), false, false, true});
  l.add_scalar(int32_t{kTiles});
  return l;
}

std::string outcome(const std::string& name, run::Schedule schedule, std::vector<std::byte>* sums = nullptr) {
  launch::Launch l = launch();
  run::Options options;
  options.schedule = schedule;
  options.step_limit = 1 << 20;
  const std::string text = launch::read_file(capture::share_folder("kernels") + "/hang/" + name + ".ptx");
  try {
    test::run_ptx(text, l, options);
  } catch (const machine::Fault& e) {
    return e.what();
  }
  if (sums != nullptr) *sums = l.buffers[1].bytes;
  return "held";
}

TEST(Pipeline, TheCorrectOneGivesTheSumsUnderEverySchedule) {
  for (const run::PolicyName& p : run::kPolicies)
    for (uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<std::byte> sums;
      ASSERT_EQ(outcome("correct", {p.policy, seed}, &sums), "held") << p.name << ", seed " << seed;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        uint32_t expected = 0;
        for (uint32_t w = lane; w < kWords * kTiles; w += 32) expected += w;
        uint32_t got = 0;
        std::memcpy(&got, &sums[4 * lane], 4);
        EXPECT_EQ(got, expected) << p.name << ", seed " << seed << ", lane " << lane;
      }
    }
}

struct Mistake {
  const char* kernel;
  std::vector<std::string> report;  // parts of it
};
void PrintTo(const Mistake& c, std::ostream* out) { *out << c.kernel; }

class PipelineMistake : public testing::TestWithParam<Mistake> {};

TEST_P(PipelineMistake, IsNamed) {
  for (const run::PolicyName& p : run::kPolicies) {
    // Who laps whom hangs on the order: the one that signals must run first.
    if (std::string(GetParam().kernel) == "lapped_phase" && p.policy != run::Policy::lazy) continue;
    const std::string text = outcome(GetParam().kernel, {p.policy, 7});
    EXPECT_NE(text.find("PTX line "), std::string::npos) << text;
    EXPECT_NE(text.find("mbarrier.cuh:"), std::string::npos) << text;
    for (const std::string& part : GetParam().report)
      EXPECT_NE(text.find(part), std::string::npos) << p.name << ": '" << part << "' is not in: " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hang, PipelineMistake,
    testing::Values(
        Mistake{"wrong_initial_phase",
                {"deadlock", "'pipeline::empty'", "parity 0", "phase 0", "pending 32 of 32 arrivals",
                 "wrong initial phase"}},
        Mistake{"count_mismatch",
                {"deadlock", "count mismatch: initialised for 64 arrivals a phase, and only 32 came",
                 "the cycle: warp 0 -> warp 1 -> warp 0"}},
        Mistake{"under_arrival",
                {"deadlock", "'pipeline::empty' + 8", "under-arrival: 16 of 32 arrivals never come",
                 "the cycle: warp 0 -> warp 1 -> warp 0"}},
        Mistake{"byte_mismatch",
                {"deadlock", "'pipeline::full'", "1024 bytes arrived of 2048 expected", "byte mismatch"}},
        Mistake{"lapped_phase", {"deadlock", "lapped phase: the barrier ended 4 phases"}},
        Mistake{"uninitialised", {"no mbarrier at shared address", "never initialised"}},
        Mistake{"exited_peer", {"deadlock", "exited peer"}},
        Mistake{"over_arrival", {"over-arrival: 3 more", "needs 2 of its 32"}},
        Mistake{"byte_overflow", {"expect_tx of 1048576 bytes", "the limit is 1048575"}}),
    [](const auto& mistake) { return std::string(mistake.param.kernel); });

// Loops that no instruction of theirs ends: proven by registers and memory that repeat, not by a time limit.
std::string spinning(const std::string& body, run::Schedule schedule, uint32_t ctas = 1) {
  test::Kernel k{.parameters = ".param .u64 flag",
                 .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<4>;",
                 .shared = ".shared .align 8 .b64 bar;",
                 .start =
                     "ld.param.u64 %q0, [flag]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;\n"
                     "@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;",
                 .body = body,
                 .shape = {.grid = {ctas, 1, 1}, .block = {64, 1, 1}},
                 .buffers = {test::output(8)}};
  k.options.schedule = schedule;
  k.options.step_limit = uint64_t{1} << 24;
  const test::Left left = k.run();
  return left.fault.empty() ? "held " + std::to_string(left.all<uint8_t>(0)[0]) : left.fault;
}

// The loop of a function that is called again and again looks the same at every visit; its caller's does not.
TEST(Spin, ALoopInACalleeIsNotTheCallersLoop) {
  for (int before = 0; before < 4; ++before) {
    const test::Kernel k{
        .module =
            ".func f() { .reg .u32 %a; .reg .pred %q; mov.u32 %a, 0;\n"
            "M: add.u32 %a, %a, 1; setp.lt.u32 %q, %a, 3; @%q bra M; ret; }",
        .registers = ".reg .pred %p; .reg .b32 %r<2>;",
        .body = "mov.u32 %r1, 0;\nX: add.u32 %r1, %r1, 1; setp.le.u32 %p, %r1, " + std::to_string(before) +
                "; @%p bra X;\nmov.u32 %r0, 0;\n"
                "L: call f, (); add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 200000; @%p bra L;",
        .shape = {.block = {1, 1, 1}}};
    EXPECT_EQ(k.run().end(), "held") << before;
  }
}

TEST(Spin, ALoopThatNothingEndsIsFoundAndNamed) {
  for (const run::PolicyName& p : run::kPolicies) {
    const std::string flag =
        spinning("L: ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n", {p.policy});
    EXPECT_NE(flag.find("in a loop that nothing can end any more"), std::string::npos)
        << p.name << ": " << flag;
    const std::string barrier =
        spinning("L: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n", {p.policy});
    EXPECT_NE(barrier.find("mbarrier 'bar'"), std::string::npos) << p.name << ": " << barrier;
    EXPECT_NE(barrier.find("pending 1 of 1 arrival"), std::string::npos) << p.name << ": " << barrier;
  }
}
TEST(Spin, ALoopThatAnotherWarpEndsHolds) {
  const std::string flag =
      "setp.lt.u32 %p2, %r0, 32;\n@%p2 bra W;\nmov.u32 %r3, 0;\n"
      // The other warp takes its time: several turns of arithmetic only.
      "S: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 400000;\n@%p3 bra S;\nst.volatile.global.u32 [%q0], "
      "%r3;\nbra E;\n"
      "W: ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\nE:\n";
  for (const run::PolicyName& p : run::kPolicies) EXPECT_EQ(spinning(flag, {p.policy}), "held 128") << p.name;
}

// Atomics that leave memory as it is are no change: a lock that nobody gives back is found at once.
TEST(Spin, PollingByAnAtomicThatChangesNothingIsProvenEndless) {
  for (const char* poll : {"atom.global.cas.b32 %r1, [%q0], 1, 0;", "atom.global.exch.b32 %r1, [%q0], 0;",
                           "atom.global.or.b32 %r1, [%q0], 0;", "atom.global.add.u32 %r1, [%q0], 0;",
                           "atom.global.max.u32 %r1, [%q0], 0;"}) {
    const std::string loop = "L: " + std::string(poll) + "\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra L;\n";
    for (const run::Policy policy : {run::Policy::lazy, run::Policy::random}) {
      const std::string text = spinning(loop, {policy});
      EXPECT_NE(text.find("in a loop that nothing can end any more"), std::string::npos)
          << poll << ": " << text;
    }
  }
}
// What another CTA could change is a deadlock when all that are resident wait for it.
TEST(Spin, AWaitForAnotherClusterEndsWhenAllWait) {
  const std::string poll = "L: ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n";
  for (const run::PolicyName& p : run::kPolicies) {
    const std::string text = spinning(poll, {p.policy}, 3);
    EXPECT_EQ(text.find("PTX line 10, CTA (0,0,0)"), 0u) << p.name << ": " << text;
    EXPECT_NE(text.find("and so do all 3 clusters that are resident"), std::string::npos) << text;
    EXPECT_EQ(text.find("it may wait for CTA"), std::string::npos) << text;  // all have started
    const std::string last = "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p2, %r2, 2;\n@%p2 bra E;\n" + poll + "E:\n";
    EXPECT_EQ(spinning(last, {p.policy}, 3).find("PTX line 12, CTA (2,0,0)"), 0u)
        << spinning(last, {p.policy}, 3);
    // Other CTAs do not reach shared memory: found at once.
    const std::string shared = "L: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n";
    EXPECT_EQ(spinning(shared, {p.policy}, 3).find("PTX line 1"), 0u) << spinning(shared, {p.policy}, 3);
    EXPECT_EQ(spinning(shared, {p.policy}, 3).find("resident"), std::string::npos);
  }
}

// A loop of which only some lanes poll before they meet the others.
TEST(Spin, PollingIsRememberedWhereLanesMeet) {
  const std::string body =
      "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p2, %r2, 0;\n@%p2 bra E;\n"
      "L: @!%p0 bra M;\nld.volatile.global.u32 %r1, [%q0];\nM: shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n"
      "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\nE:\n";
  // CTA 1 ends it.
  EXPECT_EQ(spinning("mov.u32 %r1, 0;\nand.b32 %r2, %r0, 31; setp.eq.u32 %p0, %r2, 0;\n"
                     "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 1;\n"
                     "@%p2 st.volatile.global.u32 [%q0], 6;\n" +
                         body,
                     {}, 2),
            "held 6");
}
// A try_wait gives up after a while: what its loop counts or looks at then may end it.
TEST(Spin, AWaitThatGivesUpEndsALoopThatAllowsForIt) {
  for (const run::PolicyName& p : run::kPolicies) {
    EXPECT_EQ(spinning("mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1; setp.eq.u32 %p2, %r3, 10;\n@%p2 bra E;\n"
                       "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\nE:\n",
                       {p.policy}),
              "held 0")
        << p.name;
    // Until a flag says that nothing will come.
    EXPECT_EQ(spinning("setp.lt.u32 %p2, %r0, 32;\n@%p2 bra W;\nst.volatile.global.u32 [%q0], 5;\nbra E;\n"
                       "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@%p1 bra E;\n"
                       "ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\nE:\n",
                       {p.policy}),
              "held 5")
        << p.name;
  }
  // Or CTA 1 says so.
  EXPECT_EQ(spinning("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\n"
                     "st.volatile.global.u32 [%q0], 7;\nbra E;\n"
                     "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@%p1 bra E;\n"
                     "ld.volatile.global.u32 %r1, [%q0]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\nE:\n",
                     {}, 2),
            "held 7");
}

// Lanes that leave a branch table one target after the other are fewer each time, wherever the turn ends.
TEST(Spin, LanesThatLeaveATableInTurnDoNotSpin) {
  for (int turns = 0; turns < 160; ++turns)
    EXPECT_EQ(spinning("ld.volatile.global.u32 %r1, [%q0]; mov.u32 %r2, 0;\n"
                       "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, " +
                           std::to_string(turns) +
                           ";\n@%p1 bra L;\nand.b32 %r3, %r0, 3;\n"
                           "T: .branchtargets A, B, C, D;\nbrx.idx %r3, T;\n"
                           "A: bra E;\nB: bra E;\nC: bra E;\nD: bra E;\nE: bar.sync 0;\n",
                       {}),
              "held 0")
        << turns;
}

// The random schedule stops warps at accesses to memory: what one reads another may write before it goes on.
TEST(Preemption, ALostUpdateShowsUnderARandomSchedule) {
  const std::string update =
      "and.b32 %r2, %r0, 31; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra E;\n"
      "ld.volatile.global.u32 %r1, [%q0]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%q0], %r1;\nE:\n";
  int lost = 0;
  for (uint64_t seed = 0; seed < 32; ++seed)
    lost += spinning(update, {run::Policy::random, seed}) == "held 1" ? 1 : 0;
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 32);
  EXPECT_EQ(spinning(update, {}), "held 2");
}
TEST(Preemption, TwoLocksTakenInOppositeOrderShowUnderARandomSchedule) {
  // Warp 0 takes the lock at 0, then that at 4; warp 1 the other way about.
  const std::string locks =
      "and.b32 %r2, %r0, 31; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra E;\n"
      "shr.u32 %r3, %r0, 5; mul.wide.u32 %q1, %r3, 4; add.u64 %q1, %q0, %q1;\n"
      "xor.b32 %r4, %r3, 1; mul.wide.u32 %q2, %r4, 4; add.u64 %q2, %q0, %q2;\n"
      "A: atom.global.cas.b32 %r1, [%q1], 0, 1; setp.ne.u32 %p1, %r1, 0;\n@%p1 bra A;\n"
      "B: atom.global.cas.b32 %r1, [%q2], 0, 1; setp.ne.u32 %p1, %r1, 0;\n@%p1 bra B;\n"
      "atom.global.exch.b32 %r1, [%q2], 0; atom.global.exch.b32 %r1, [%q1], 0;\nE:\n";
  int stuck = 0;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    const std::string text = spinning(locks, {run::Policy::random, seed});
    const bool deadlock = text.find("in a loop that nothing can end any more") != std::string::npos;
    EXPECT_TRUE(deadlock || text == "held 0") << text;
    stuck += deadlock ? 1 : 0;
  }
  EXPECT_GT(stuck, 0);
  EXPECT_EQ(spinning(locks, {}), "held 0");
}

// A run that hangs still says that it runs.
TEST(Progress, IsReportedWithinACluster) {
  test::Kernel k{.registers = ".reg .b32 %r<2>;", .body = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; bra L;"};
  k.options.step_limit = uint64_t{1} << 25;
  int reports = 0;
  k.options.progress = [&](const run::Progress& p) {
    EXPECT_EQ(p.done, 0u);
    EXPECT_EQ(p.all, 1u);
    reports += p.warp_instructions != 0 ? 1 : 0;
  };
  EXPECT_THROW(k.held(), machine::Fault);
  EXPECT_GT(reports, 3);
}

}  // namespace
}  // namespace bitwell::isa
