// Barriers for some of the warps (bar.sync a, b): who meets whom hangs on who comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../kernel.h"
#include "warps.h"

namespace bitwell::explore {
namespace {

constexpr uint64_t kMostMeetings = 1 << 14;

// Of so many warps; `body` has %r1, the warp, and %a0, the words.
schedules::Exhausted meetings_of(const std::string& body, uint32_t warps) {
  const std::string ptx =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .u64 pout)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;\nld.param.u64 %a0, [pout];\nmov.u32 %r0, %tid.x;\n"
      "shr.u32 %r1, %r0, 5;\nmul.wide.u32 %a1, %r1, 4;\nadd.u64 %a1, %a0, %a1;\n" +
      body + "ret;\n}\n";
  return schedules::exhaust(explore::launch_of(ptx, warps, 8), {}, kMostMeetings);
}

// Two of three meet; each may be the one that is left.
TEST(PartialBarriers, EachOfThreeWarpsMayBeLeftByABarrierForTwo) {
  const schedules::Exhausted e = meetings_of("bar.sync 1, 64;\n", 3);
  EXPECT_TRUE(e.complete);
  for (const char* left :
       {"thread (0,0,0)", "thread (32,0,0)", "thread (64,0,0)", "warp 0, ", "warp 1, ", "warp 2, "})
    EXPECT_TRUE(std::any_of(e.ends.begin(), e.ends.end(), [&](const schedules::Ended& end) {
      return end.fault.find(left) != std::string::npos;
    })) << left;
}

// Of four the first two that come are let go, and each says so: every pair may be the first.
TEST(PartialBarriers, EachPairOfFourMayBeTheFirst) {
  const schedules::Exhausted e = meetings_of(
      "bar.sync 1, 64;\nand.b32 %r2, %r0, 31;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 ret;\n"
      "atom.global.add.u32 %r3, [%a0+16], 1;\nst.global.u32 [%a1], %r3;\n",
      4);
  EXPECT_TRUE(e.complete);
  std::set<std::set<size_t>> first;
  for (const schedules::Ended& end : e.ends) {
    ASSERT_EQ(end.fault, "");
    const Words words = explore::words_of(end.buffers.at(0));
    std::set<size_t> pair;
    for (size_t w = 0; w < 4; ++w)
      if (words[w] < 2) pair.insert(w);
    first.insert(pair);
  }
  EXPECT_EQ(first.size(), 6u);
  EXPECT_EQ(e.ends.size(), 24u);  // in any order among themselves
}

}  // namespace
}  // namespace bitwell::explore
