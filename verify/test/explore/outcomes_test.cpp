// What waits, and what is waited for: loops, barriers, locks, copies.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "warps.h"

namespace bitwell::explore {
namespace {

constexpr uint64_t kMostOutcomes = 1 << 14;

// Of two warps, whose first lanes go on; the rest of the kernel is given. %a0: two words that are 0 and as
// many outputs as there are warps.
schedules::Exhausted outcomes_of(const std::string& body, uint32_t warps = 2) {
  const std::string ptx =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .u64 pout)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;\n.shared .align 8 .b64 bar;\n"
      "ld.param.u64 %a0, [pout];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nmul.wide.u32 %a1, %r1, 4;\n"
      "add.u64 %a1, %a0, %a1;\nsetp.eq.u32 %p1, %r1, 0;\nand.b32 %r0, %r0, 31;\n" +
      body + "}\n";
  return schedules::exhaust(explore::launch_of(ptx, warps, 8), {}, kMostOutcomes);
}

TEST(Outcomes, ABarrierLeavesOneTrace) {
  const schedules::Exhausted e = outcomes_of("bar.sync 0;\nbar.sync 0;\nbar.sync 0;\nret;\n", 4);
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.runs, 1u);
  EXPECT_EQ(e.pruned, 0u);
}

// Warps that end are not waited for, and make no difference.
TEST(Outcomes, ABarrierThatSomeDoNotReachLeavesOneTrace) {
  const schedules::Exhausted e = outcomes_of("@%p1 ret;\nbar.sync 0;\nst.global.u32 [%a1], 1;\nret;\n", 3);
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.runs, 1u);
  EXPECT_EQ(e.pruned, 0u);
}

TEST(Outcomes, WhatABarrierOrdersHasOne) {
  const schedules::Exhausted e = outcomes_of(
      "@%p1 st.global.u32 [%a0], 7;\nbar.sync 0;\n"
      "ld.global.u32 %r2, [%a0];\nst.global.u32 [%a1+8], %r2;\nret;\n",
      3);
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.runs, 1u);
  EXPECT_EQ(e.pruned, 0u);
  EXPECT_EQ(explore::words_of(e.ends.at(0).buffers[0]), (Words{7, 0, 7, 7, 7, 0, 0, 0}));
}

TEST(Outcomes, ALoopThatWaitsForAFlagEnds) {
  const schedules::Exhausted e = outcomes_of(
      "@%p1 bra give;\nagain:\nld.volatile.global.u32 %r2, [%a0];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra "
      "again;\n"
      "st.global.u32 [%a0+8], %r2;\nret;\ngive:\nst.volatile.global.u32 [%a0], 3;\nret;\n");
  EXPECT_TRUE(e.complete);
  EXPECT_LE(e.runs, 3u);  // the flag is there at the first look, at the second, or behind them
  ASSERT_EQ(e.ends.size(), 1u);
  EXPECT_EQ(explore::words_of(e.ends[0].buffers[0])[2], 3u);
}

TEST(Outcomes, ALostUpdateIsOneOfTwo) {
  const schedules::Exhausted e = outcomes_of(
      "ld.volatile.global.u32 %r2, [%a0];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%a0], %r2;\nret;\n");
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.ends.size(), 2u);
}

// A spin lock: each warp's first lane takes it, adds one, and gives it back.
std::string locked(const std::string& first, const std::string& second) {
  const auto take = [](const std::string& word, const std::string& label) {
    return label + ":\natom.global.cas.b32 %r2, [%a0+" + word +
           "], 0, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra " + label + ";\n";
  };
  const auto both = [&](const std::string& x, const std::string& y, const std::string& label) {
    return take(x, label + "x") + take(y, label + "y") +
           "ld.volatile.global.u32 %r3, [%a0+8];\nadd.u32 %r3, %r3, 1;\nst.volatile.global.u32 [%a0+8], "
           "%r3;\n"
           "atom.global.exch.b32 %r2, [%a0+" +
           y + "], 0;\natom.global.exch.b32 %r2, [%a0+" + x + "], 0;\nret;\n";
  };
  return "setp.ne.u32 %p2, %r0, 0;\n@%p2 ret;\n@%p1 bra other;\n" + both("0", "4", "a") + "other:\n" +
         both(first, second, "b");
}

TEST(Outcomes, LocksInOneOrderCountRight) {
  const schedules::Exhausted e = outcomes_of(locked("0", "4"));
  EXPECT_TRUE(e.complete);
  ASSERT_EQ(e.ends.size(), 1u);
  EXPECT_EQ(explore::words_of(e.ends[0].buffers[0])[2], 2u);
}

TEST(Outcomes, LocksInTwoOrdersDeadlockInSome) {
  const schedules::Exhausted e = outcomes_of(locked("4", "0"));
  EXPECT_TRUE(e.complete);
  size_t deadlocks = 0, right = 0;
  for (const schedules::Ended& end : e.ends)
    if (end.fault.find("deadlock") != std::string::npos)
      ++deadlocks;
    else
      right += explore::words_of(end.buffers.at(0))[2] == 2 ? 1 : 0;
  EXPECT_GE(deadlocks, 1u);
  EXPECT_EQ(right, 1u);
}

// Who fails to take a lock changes nothing, and wakes nobody.
TEST(Outcomes, ALockThatNobodyGivesBackIsADeadlock) {
  const schedules::Exhausted three = outcomes_of(
      "setp.ne.u32 %p2, %r0, 0;\n@%p2 ret;\n"
      "again:\natom.global.cas.b32 %r2, [%a0], 0, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra again;\nret;\n",
      3);
  EXPECT_TRUE(three.complete);
  for (const schedules::Ended& end : three.ends) EXPECT_NE(end.fault.find("deadlock"), std::string::npos);
}

// A fault ends a run, but not what others would have done before it.
TEST(Outcomes, AFaultHidesNoOther) {
  const schedules::Exhausted e = outcomes_of(
      "@%p1 bra other;\nst.volatile.global.u32 [%a0], 1;\nret;\n"
      "other:\nld.volatile.global.u32 %r2, [%a0];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 trap;\nret;\n");
  EXPECT_TRUE(e.complete);
  ASSERT_EQ(e.ends.size(), 2u);
  EXPECT_NE(e.ends[0].fault.empty(), e.ends[1].fault.empty());
}

}  // namespace
}  // namespace bitwell::explore
