// The schedule that holds stores back shows a place in shared memory that is written again while a store may
// still read it: others let the store go first, since it was issued first.
#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"
#include "verify/schedules/schedules.h"

namespace bitwell::isa {
namespace {

// The word that a bulk store brings from 'tile', which holds 1 when the store is issued and, after a copy
// into another place and `wait`, 2.
uint32_t stored(const std::string& wait, run::Policy policy) {
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {1, 1, 1};
  l.add_buffer({"in", std::vector<std::byte>(16), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(16), true, false, true});
  run::Options options;
  options.schedule = {policy, 1};
  test::run_ptx(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %q<2>;
.shared .align 16 .b8 tile[16]; .shared .align 16 .b8 loaded[16]; .shared .align 8 .b64 bar;
ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout];
mbarrier.init.shared.b64 [bar], 1;
mov.u32 %r0, 1;
st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};
fence.proxy.async.shared::cta;
cp.async.bulk.global.shared::cta.bulk_group [%q1], [tile], 16;
cp.async.bulk.commit_group;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [loaded], [%q0], 16, [bar];
W: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
@!%p bra W;
)" + wait + R"(
mov.u32 %r0, 2;
st.shared.v4.u32 [tile], {%r0, %r0, %r0, %r0};
cp.async.bulk.wait_group 0;
ret;
}
)",
                l, options);
  uint32_t out = 0;
  std::memcpy(&out, l.buffers[1].bytes.data(), sizeof out);
  return out;
}

TEST(StarvedStores, APlaceWrittenTooEarlyShows) {
  EXPECT_EQ(stored("", run::Policy::lazy), 1u);
  EXPECT_EQ(stored("", run::Policy::starve_producer), 1u);
  EXPECT_EQ(stored("", run::Policy::starve_consumer), 1u);
  EXPECT_EQ(stored("", run::Policy::starve_stores), 2u);
}
TEST(StarvedStores, APlaceWrittenAfterItsWaitNeverDoes) {
  for (const run::Schedule& s : launch::schedules(9))
    EXPECT_EQ(stored("cp.async.bulk.wait_group.read 0;", s.policy), 1u) << launch::describe(s);
}

}  // namespace
}  // namespace bitwell::isa
