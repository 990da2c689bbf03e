// What warps execute before its time takes the time that it would take else.
#include <gtest/gtest.h>

#include "one_kernel.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

// Whoever watches has each turn executed in its time: the plain way.
void expect_as_each_turn_in_its_time(const launch::Launch& l) {
  session::TimeQuestion q = session::time_question(l);
  q.asks_ptxas = false;
  q.most = 0;
  const timing::TimedLaunch fast = session::time_of(q).launches.at(0).launch;
  bool asked = false;
  q.observer = [&](const timing::Launches&) {
    asked = true;
    return machine::Observer{[](const machine::Event&) {}};
  };
  const timing::TimedLaunch plain = session::time_of(q).launches.at(0).launch;
  ASSERT_TRUE(asked);
  EXPECT_EQ(fast.cycles, plain.cycles);
  EXPECT_EQ(fast.seen.ends, plain.seen.ends);
  EXPECT_EQ(fast.seen.issue, plain.seen.issue);
  ASSERT_EQ(fast.seen.path.size(), plain.seen.path.size());
  for (size_t i = 0; i < fast.seen.path.size(); ++i) {
    EXPECT_EQ(fast.seen.path[i].cycles, plain.seen.path[i].cycles);
    EXPECT_EQ(fast.seen.path[i].line, plain.seen.path[i].line);
  }
}

// Loads in a loop that some lanes leave early, stores between them, guards that hold for some or for none,
// values of other lanes, a barrier, stores that later loads read.
TEST(TimedAhead, WhatIsExecutedBeforeItsTimeCostsTheSame) {
  const launch::Launch l = launch_of(kernel(R"(mov.u32 %r6, %ctaid.x;
and.b32 %r6, %r6, 127;
mad.lo.u32 %r1, %r6, 4096, 0;
mad.lo.u32 %r1, %r0, 16, %r1;
cvt.u64.u32 %a1, %r1;
add.u64 %a1, %a0, %a1;
mov.u32 %r2, 0;
mov.u32 %r5, 0;
and.b32 %r7, %r0, 3;
add.u32 %r7, %r7, 3;
again: ld.global.u32 %r3, [%a1];
setp.eq.u32 %p1, %r3, 12345;
@%p1 ld.global.u32 %r3, [%a1+64];
setp.lt.u32 %p2, %r0, 7;
@%p2 ld.global.nc.u32 %r4, [%a1+8];
@%p2 add.u32 %r5, %r5, %r4;
shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
add.u32 %r5, %r5, %r4;
st.global.u32 [%a1+12], %r5;
@%p1 st.global.u32 [%a1+4], %r5;
add.u64 %a1, %a1, 8192;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p3, %r2, 9;
@%p3 bra again;
rest: ld.global.u32 %r3, [%a1];
add.u32 %r5, %r5, %r3;
add.u32 %r2, %r2, 1;
add.u64 %a1, %a1, 128;
setp.lt.u32 %p3, %r2, %r7;
@%p3 bra rest;
mov.u32 %r4, tile;
shl.b32 %r3, %r0, 2;
add.u32 %r4, %r4, %r3;
st.shared.u32 [%r4], %r5;
bar.sync 0;
xor.b32 %r3, %r3, 124;
mov.u32 %r4, tile;
add.u32 %r4, %r4, %r3;
ld.shared.u32 %r3, [%r4];
ld.global.u32 %r5, [%a1+4];
add.u32 %r3, %r3, %r5;
st.global.u32 [%a1], %r3;
)"),
                                     300, 96);
  expect_as_each_turn_in_its_time(l);
}

// Barriers in a loop, before which some lanes do more than others, in branches and in rounds; one by which
// warps come from two places; warps and lanes that have ended before the last ones; a vote at a barrier.
TEST(TimedAhead, WhatIsExecutedThroughBarriersCostsTheSame) {
  const std::string body = R"(mov.u32 %r6, %ctaid.x;
and.b32 %r6, %r6, 127;
mad.lo.u32 %r1, %r6, 4096, 0;
mad.lo.u32 %r1, %r0, 16, %r1;
cvt.u64.u32 %a1, %r1;
add.u64 %a1, %a0, %a1;
shl.b32 %r3, %r0, 2;
mov.u32 %r4, tile;
add.u32 %r4, %r4, %r3;
shr.u32 %r7, %r0, 5;
mov.u32 %r2, 1;
again: bar.sync 0;
setp.ge.u32 %p0, %r0, %r2;
@%p0 bra none;
ld.shared.u32 %r5, [%r4];
ld.global.u32 %r3, [%a1];
add.u32 %r5, %r5, %r3;
st.shared.u32 [%r4], %r5;
bra next;
none: setp.eq.u32 %p1, %r0, 40;
@%p1 st.global.u32 [%a1+4], %r5;
next: mov.u32 %r6, 0;
and.b32 %r3, %r0, 3;
few: st.shared.u32 [%r4], %r6;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p1, %r6, %r3;
@%p1 bra few;
add.u32 %r2, %r2, %r2;
setp.lt.u32 %p3, %r2, 160;
@%p3 bra again;
setp.eq.u32 %p1, %r7, 1;
@%p1 bra there;
ld.global.u32 %r5, [%a1+8];
bar.sync 0;
add.u32 %r5, %r5, 1;
bra both;
there: bar.sync 0;
st.shared.u32 [%r4], %r5;
both: setp.eq.u32 %p2, %r7, 2;
@%p2 ret;
setp.eq.u32 %p2, %r0, 7;
@%p2 ret;
BAR
ld.shared.u32 %r3, [%r4];
add.u32 %r3, %r3, %r5;
st.global.u32 [%a1], %r3;
)";
  // The last two let no warp through.
  for (const std::string bar :
       {"bar.red.popc.u32 %r5, 0, %p0;", "bar.sync 1, 128;", "atom.add.global.u32 %r5, [%a0], 1;"}) {
    std::string text = body;
    text.replace(text.find("BAR"), 3, bar);
    SCOPED_TRACE(bar);
    expect_as_each_turn_in_its_time(launch_of(kernel(text), 300, 160));
  }
}

// A warp that ends while others wait for it at a barrier, and others still load; more clusters than are
// resident at once, which begin when all warps of another have ended by their time.
TEST(TimedAhead, EndsThatAreExecutedBeforeTheirTimeCountThen) {
  expect_as_each_turn_in_its_time(launch_of(kernel(R"(shr.u32 %r7, %r0, 5;
mul.lo.u32 %r1, %r0, 16;
cvt.u64.u32 %a1, %r1;
add.u64 %a1, %a0, %a1;
mov.u32 %r2, 0;
again: ld.global.u32 %r3, [%a1];
add.u32 %r2, %r2, %r3;
add.u32 %r2, %r2, 1;
add.u64 %a1, %a1, 8192;
setp.lt.u32 %p3, %r2, 3;
@%p3 bra again;
setp.ne.u32 %p1, %r7, 1;
@%p1 bra meet;
late: ld.global.u32 %r3, [%a1];
add.u32 %r2, %r2, %r3;
add.u32 %r2, %r2, 1;
add.u64 %a1, %a1, 128;
setp.lt.u32 %p3, %r2, 9;
@%p3 bra late;
bra over;
meet: bar.sync 0;
st.global.u32 [%a1+4], %r2;
over: mov.u32 %r2, 0;
)"),
                                            9000, 160));
}

// Lanes side by side, all at one place, and apart; of shared memory with and without conflicts; of several
// sizes.
TEST(TimedAhead, EachKindOfAccessCostsTheSame) {
  for (const std::string size :
       {"u8 %r5", "u32 %r5", "b64 %a3", "v2.u32 {%r5, %r6}", "v4.u32 {%r3, %r5, %r6, %r7}"}) {
    const std::string type = size.substr(0, size.find(' ')), value = size.substr(size.find(' ') + 1);
    const uint32_t bytes = type == "u8" ? 1 : type == "u32" ? 4 : type[1] == '4' ? 16 : 8;
    std::string body =
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r4, tile;\nmov.b64 %a3, 0;\nmov.b64 %a2, 0;\nagain:\n";
    for (const uint32_t apart : {bytes, 0u, 2 * bytes, 128u}) {
      const std::string lane = "mul.lo.u32 %r2, %r0, " + std::to_string(apart) + ";\n";
      const std::string where = lane + "mad.lo.u32 %r2, %r1, 4096, %r2;\ncvt.u64.u32 %a1, %r2;\n" +
                                "add.u64 %a1, %a0, %a1;\n" + lane + "add.u32 %r2, %r2, %r4;\n";
      body += where;
      for (const std::string at : {"global ld [%a1]", "global st [%a1+262144]", "shared st [%r2]",
                                   "shared ld [%r2]", "global ld [%a1+262144]", "shared st [%r2]"}) {
        const std::string space = at.substr(0, 6), place = at.substr(10);
        body += at[7] == 's' ? "st." + space + "." + type + " " + place + ", " + value + ";\n"
                             : "ld." + space + "." + type + " " + value + ", " + place + ";\n";
      }
    }
    body += "add.u64 %a0, %a0, 65536;\nadd.u64 %a2, %a2, 1;\nsetp.lt.u64 %p0, %a2, 3;\n@%p0 bra again;\n";
    SCOPED_TRACE(size);
    expect_as_each_turn_in_its_time(launch_of(kernel(body), 60, 32));
  }
}

// Lanes that have used up their turn in a loop, whose others are ahead of them and come round to where they
// are.
TEST(TimedAhead, LanesThatPassOthersByCostTheSame) {
  expect_as_each_turn_in_its_time(launch_of(kernel(R"(mov.u32 %r2, 0;
shl.b32 %r4, %r0, 2;
mov.u32 %r3, tile;
add.u32 %r4, %r4, %r3;
st.shared.u32 [%r4], %r0;
and.b32 %r3, %r0, 1;
setp.eq.u32 %p0, %r3, 1;
setp.lt.u32 %p3, %r0, 16;
again: red.global.add.u32 [%a0], 1;
@%p0 bra odd;
ld.shared.u32 %r5, [%r4];
mov.u32 %r6, 0;
@%p3 st.shared.u32 [%r4], %r5;
inner: ld.shared.u32 %r5, [%r4];
add.u32 %r5, %r5, 1;
st.shared.u32 [%r4], %r5;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p1, %r6, 40;
@%p1 bra inner;
odd: add.u32 %r2, %r2, 1;
st.shared.u32 [%r4], %r5;
setp.lt.u32 %p2, %r2, 40;
@%p2 bra again;
)"),
                                            3, 64));
}

}  // namespace
}  // namespace bitwell::timing
