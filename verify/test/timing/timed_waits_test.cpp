// Runs in the order of time whose clusters wait: for memory that another one writes, for what gives up, and
// for what never comes.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "verify/launch/start.h"
#include "verify/schedules/given.h"

namespace bitwell::timing {
namespace {

// %r0 is the thread, %r1 the CTA, %a0 the buffer, all 0 before.
test::Kernel waiting(const std::string& body, uint32_t ctas) {
  test::Kernel k;
  k.parameters = ".param .u64 out";
  k.registers = ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<4>;\n";
  k.shared = ".shared .align 8 .b64 bar;\n";
  k.start = "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\n";
  k.body = body;
  k.shape.grid = {ctas, 1, 1};
  k.shape.block = {1, 1, 1};
  k.buffers = {{"out", std::vector<std::byte>(256), true, false, true}};
  return k;
}
// The words that it leaves, or the fault that it ends in.
test::Left in_time(const test::Kernel& k) {
  launch::Launch l = k.launch();
  l.module = test::module_of(k.text());
  const launch::Start start(l);
  run::Options options;
  schedules::Given timed("timed", 0, start, options);
  timed.attach(options);
  test::Left left;
  try {
    launch::Ran ran = start.run(options, true);
    ran.keep(l);
  } catch (const machine::Fault& e) {
    left.fault = e.what();
  }
  left.buffers = std::move(l.buffers);
  return left;
}

// The first counts, and then sets the flag that the others poll.
TEST(TimedWaits, ClustersGoOnWhenAnotherHasWritten) {
  const test::Kernel k = waiting(
      "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra poll;\ncount: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, "
      "3000;\n@%p1 bra "
      "count;\nst.volatile.global.u32 [%a0], %r2;\nret;\npoll: ld.volatile.global.u32 %r3, "
      "[%a0];\nsetp.eq.u32 %p1, "
      "%r3, 0;\n@%p1 bra poll;\nmul.wide.u32 %a1, %r1, 4;\nadd.u64 %a1, %a1, %a0;\nst.global.u32 [%a1], "
      "%r3;\n",
      5);
  const test::Left left = in_time(k);
  EXPECT_EQ(left.end(), "held");
  const std::vector<uint32_t> words = left.all<uint32_t>(0);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(words[i], 3000U) << i;
}

// One after the other, the last first.
TEST(TimedWaits, ARowOfClustersIsWokenOneByOne) {
  const test::Kernel k = waiting(
      "mul.wide.u32 %a1, %r1, 4;\nadd.u64 %a1, %a1, %a0;\nsetp.eq.u32 %p0, %r1, 11;\n@%p0 bra give;\npoll: "
      "ld.volatile.global.u32 %r3, [%a1+4];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra poll;\nadd.u32 %r2, %r3, "
      "0;\ngive: "
      "add.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%a1], %r2;\n",
      12);
  const test::Left left = in_time(k);
  EXPECT_EQ(left.end(), "held");
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(left.all<uint32_t>(0)[i], 12 - i);
}

const std::string kWait = "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n";

// A wait that gives up is looked at again, by a loop that counts how often.
TEST(TimedWaits, AWaitGivesUpWhereNobodyCanGoOn) {
  const test::Left left = in_time(
      waiting("mbarrier.init.shared.b64 [bar], 1;\nagain: add.u32 %r2, %r2, 1;\n" + kWait +
                  "@%p1 bra done;\nsetp.lt.u32 %p2, %r2, 50;\n@%p2 bra again;\ndone: st.global.u32 [%a0], "
                  "%r2;\n",
              1));
  EXPECT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[0], 50U);
}

TEST(TimedWaits, WhatNeverComesIsADeadlock) {
  const std::string end =
      in_time(waiting("mbarrier.init.shared.b64 [bar], 1;\nagain: " + kWait + "@!%p1 bra again;\n", 2)).end();
  EXPECT_NE(end.find("deadlock"), std::string::npos) << end;
  const std::string polls =
      in_time(
          waiting("poll: ld.volatile.global.u32 %r3, [%a0];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra poll;\n", 2))
          .end();
  EXPECT_NE(polls, "held");
}

}  // namespace
}  // namespace bitwell::timing
