// Clusters and warps that wait for each other as they seldom do: what a wait that gives up leads to, what is
// printed before others have ended, and deadlocks of which several are to blame.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "model/run/turns/residency.h"

namespace bitwell::run {
namespace {

// %r0: the thread; %r1: the warp; %r2: the CTA; %a0: `out`, 64 words; %p0: the first thread of a warp.
test::Kernel waiting(const std::string& body, uint32_t threads, uint32_t ctas = 1) {
  return {.parameters = ".param .u64 out",
          .registers = ".reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %a<8>;",
          .shared = ".shared .align 8 .b64 a; .shared .align 8 .b64 b; .shared .align 8 .b64 c;",
          .start =
              "ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, %ctaid.x;\n"
              "and.b32 %r3, %r0, 31; setp.eq.u32 %p0, %r3, 0; setp.eq.u32 %p1, %r0, 0;",
          .body = body,
          .shape = {.grid = {ctas, 1, 1}, .block = {threads, 1, 1}},
          .buffers = {{"out", std::vector<std::byte>(256), true, false, true}}};
}
bool within(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
const std::string kInit =
    "@%p1 mbarrier.init.shared.b64 [a], 2; @%p1 mbarrier.init.shared.b64 [b], 2; @%p1 "
    "mbarrier.init.shared.b64 "
    "[c], 2;\nbar.sync 0;\n";
std::string waits(const std::string& barrier, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p3, [" + barrier + "], 0; @!%p3 bra " + label +
         ";\n";
}

// Warp 0 has arrived where warp 1 waits, and waits where nobody ever arrives; warp 2 waits where nobody ever
// does, too. Whichever of them is asked first.
TEST(SeldomSchedules, WhoWaitsAtTheWrongPhaseIsToldBesideOthersWhoWait) {
  for (const char* middle : {"1", "2"}) {
    const std::string end =
        waiting(kInit + "setp.eq.u32 %p4, %r1, 0; @%p4 bra first; setp.eq.u32 %p4, %r1, " + middle +
                    "; @%p4 bra second;\n@!%p0 ret;\n" + waits("c", "W3") + "ret;\n" +
                    "first: @!%p0 ret;\nmbarrier.arrive.shared.b64 _, [b];\n" + waits("a", "W1") + "ret;\n" +
                    "second: @!%p0 ret;\n" + waits("b", "W2"),
                96)
            .run()
            .end();
    EXPECT_TRUE(within(end, "deadlock")) << end;
    EXPECT_TRUE(within(end, "others wait where this warp has arrived")) << middle << end;
  }
}

// Two warps take the phases of one mbarrier in turn: whoever waits for the fifth has not been lapped.
TEST(SeldomSchedules, WhoTakesPhasesInTurnIsNotLapped) {
  const auto arrives = [](const char* warp, int phase) {
    const std::string n = std::to_string(phase), skip = "S" + n;
    return "setp.ne.u32 %p4, %r1, " + std::string(warp) + "; @%p4 bra " + skip +
           ";\n@%p0 mbarrier.arrive.shared.b64 _, [a];\nW" + n +
           ": mbarrier.try_wait.parity.shared.b64 %p3, [a], " + std::to_string(phase % 2) + "; @!%p3 bra W" +
           n + ";\n" + skip + ": bar.sync 0;\n";
  };
  const std::string end = waiting("@%p1 mbarrier.init.shared.b64 [a], 1;\nbar.sync 0;\n" + arrives("0", 0) +
                                      arrives("1", 1) + arrives("0", 2) + arrives("1", 3) +
                                      "setp.ne.u32 %p4, %r1, 0; @%p4 bra E;\nL: "
                                      "mbarrier.try_wait.parity.shared.b64 %p3, [a], 0; @!%p3 "
                                      "bra L;\nE: bar.sync 0;",
                                  64)
                              .run()
                              .end();
  EXPECT_TRUE(within(end, "under-arrival: 1 of 1 arrival never come")) << end;
  EXPECT_FALSE(within(end, "lapped phase")) << end;
  EXPECT_FALSE(within(end, "parity not flipped")) << end;
}

// Half of a warp at an aligned barrier, the others at one that is for each thread.
TEST(SeldomSchedules, AnAlignedBarrierBesideOneThatIsNot) {
  const std::string end = waiting(
                              "setp.lt.u32 %p4, %r0, 16; @%p4 bra low;\nbar.sync 1, 64; bra end;\n"
                              "low: barrier.sync 2, 64;\nend:",
                              32)
                              .run()
                              .end();
  EXPECT_TRUE(within(end, "divergent barrier: 'bar.sync' is for all threads of a warp at once; 16 threads"))
      << end;
}

// Two instructions that are no two halves of one: nobody meets.
TEST(SeldomSchedules, DifferentCollectivesAreADeadlock) {
  const auto with = [](const std::string& low, const std::string& high) {
    return waiting("setp.lt.u32 %p4, %r0, 16; @%p4 bra low;\n" + high + "bra end;\nlow: " + low + "end:", 32)
        .run()
        .end();
  };
  const std::string vote = "vote.sync.ballot.b32 %r4, %p0, -1;\n",
                    match = "match.any.sync.b32 %r4, %r0, -1;\n";
  EXPECT_TRUE(within(with(vote, match), "deadlock")) << with(vote, match);
  EXPECT_EQ(with(vote, vote), "held");
}

// The second warp of one CTA counts how often its wait has given up, and then sets the flag that its first
// warp and the other CTA poll: all wait, and those of one CTA alone are let go.
TEST(SeldomSchedules, AWaitThatGivesUpGoesOnBesideClustersThatPoll) {
  for (const char* counts : {"0", "1"}) {
    const test::Left left =
        waiting("@%p1 mbarrier.init.shared.b64 [a], 1; mov.u32 %r4, 0; bar.sync 0; setp.ne.u32 %p4, %r2, " +
                    std::string(counts) +
                    ";\n@%p4 bra polls; setp.ne.u32 %p4, %r0, 32; @%p4 bra polls;\n"
                    "again: add.u32 %r4, %r4, 1; mbarrier.try_wait.parity.shared.b64 %p3, [a], 0;\n"
                    "setp.lt.u32 %p3, %r4, 50; @%p3 bra again;\nst.volatile.global.u32 [%a0], %r4; ret;\n"
                    "polls: ld.volatile.global.u32 %r5, [%a0]; setp.eq.u32 %p3, %r5, 0; @%p3 bra polls;\n"
                    "@%p1 st.global.u32 [%a0+4], %r5;",
                33, 2)
            .run();
    ASSERT_EQ(left.end(), "held") << counts;
    EXPECT_EQ(left.all<uint32_t>(0)[0], 50u) << counts;
    EXPECT_EQ(left.all<uint32_t>(0)[1], 50u) << counts;
  }
}

// CTA 1 prints and lets CTA 0 go on, which prints and ends; then CTA 1 prints again: in the order of the
// CTAs.
TEST(SeldomSchedules, WhatWasPrintedBeforeTheFirstEndedComesBehindIt) {
  const auto print = [](const char* which) {
    return "{ .param .b64 f; .param .b64 v; .param .b32 r; mov.u64 %a2, " + std::string(which) +
           "; cvta.global.u64 %a2, %a2; mov.u64 %a3, 0; st.param.b64 [f], %a2; st.param.b64 [v], %a3;\n"
           "call.uni (r), vprintf, (f, v); }\n";
  };
  const auto until = [](const char* label, const char* at, int value) {
    return std::string(label) + ": ld.volatile.global.u32 %r5, [%a0+" + at + "]; setp.ne.u32 %p3, %r5, " +
           std::to_string(value) + "; @%p3 bra " + label + ";\n";
  };
  test::Kernel k =
      waiting("setp.ne.u32 %p4, %r2, 0; @%p4 bra second;\n" + until("U", "0", 1) + print("zero") +
                  "st.volatile.global.u32 [%a0+4], 1; ret;\nsecond: " + print("one") +
                  "st.volatile.global.u32 [%a0], 1;\n" + until("V", "4", 1) +
                  // CTA 2 has to come, and goes
                  "st.volatile.global.u32 [%a0+8], 1;\n" + until("W", "12", 1) + print("two") + "ret;\n",
              1, 3);
  const std::string from = "second: ";
  k.body.replace(k.body.find(from), from.size(), "second: setp.eq.u32 %p4, %r2, 2; @%p4 bra third;\n");
  k.body += "third: " + until("X", "8", 1) + print("three") + "st.volatile.global.u32 [%a0+12], 1;\n";
  k.module = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n";
  for (const auto& [name, code] : {std::pair{"zero", 48}, {"one", 49}, {"two", 50}, {"three", 51}})
    k.module += ".global .align 1 .b8 " + std::string(name) + "[2] = {" + std::to_string(code) + ", 0};\n";
  std::string printed;
  k.options.print = [&](std::string_view text) { printed += text; };
  EXPECT_EQ(k.run().end(), "held");
  EXPECT_EQ(printed, "0123");
}

// As many clusters as the GPCs hold: that they hold no more matters where there are more.
TEST(SeldomSchedules, TheRoomOfTheGpcsIsToldWhereItIsTooLittle) {
  // Where a multiprocessor has room for one CTA each, clusters of 4: 8 GPCs of 18 take 32, 132 would take 33.
  test::Kernel k = waiting("", 32);
  k.module = ".extern .shared .align 16 .b8 much[];\n";
  const std::shared_ptr<const isa::Program> program = k.program();
  const auto at = [&](uint32_t clusters) {
    return residency(
        *program,
        {.grid = {4 * clusters, 1, 1}, .block = {32, 1, 1}, .cluster = {4, 1, 1}, .dynamic_shared = 200000});
  };
  const uint64_t room = at(10000).room;
  EXPECT_EQ(room, 32u);
  EXPECT_TRUE(within(at(10000).rests_on, "GPCs of")) << at(10000).rests_on;
  const auto some = [&](uint64_t n) { return at(static_cast<uint32_t>(n)).rests_on; };
  EXPECT_TRUE(within(some(room + 1), "GPCs of")) << some(room + 1);
  EXPECT_FALSE(within(some(room), "GPCs of")) << some(room);
  EXPECT_FALSE(within(some(room - 1), "GPCs of")) << some(room - 1);
}

}  // namespace
}  // namespace bitwell::run
