// A launch under many orders of turns.
#include "verify/session/orders.h"

#include <gtest/gtest.h>

#include "../kernel.h"
#include "verify/session/session.h"

namespace bitwell::session {
namespace {

// Two warps. Each stores its number to the word that its first lane's %r2 says, of two.
test::Kernel storing(const std::string& place) {
  test::Kernel k;
  k.parameters = ".param .u64 out";
  k.registers = ".reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p;";
  k.body =
      "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nand.b32 %r0, %r0, 31;\n"
      "setp.ne.u32 %p, %r0, 0;\n@%p ret;\n" +
      place + "\nmul.wide.u32 %a1, %r2, 4;\nadd.u64 %a1, %a0, %a1;\nst.global.u32 [%a1], %r1;";
  k.shape.block = {64, 1, 1};
  return k;
}

struct Case {
  explicit Case(const test::Kernel& k) {
    launch.module = test::module_of(k.text());
    launch.entry = "k";
    launch.shape = k.shape;
    launch.add_buffer(test::output(8));
  }
  launch::Launch launch;
};

TEST(Orders, AgreeWhereEachWarpHasAPlace) {
  Case c(storing("mov.u32 %r2, %r1;"));
  const EveryOrder orders = every_order(c.launch, {}, 1000);
  EXPECT_TRUE(orders.agree());
  orders.keep(c.launch);
  EXPECT_EQ(c.launch.buffers[0].bytes[4], std::byte{1});
  EXPECT_FALSE(compare(c.launch, {}, 8));
}

TEST(Orders, SayWhereTwoEndsPart) {
  Case c(storing("mov.u32 %r2, 0;"));
  const EveryOrder orders = every_order(c.launch, {}, 1000);
  EXPECT_FALSE(orders.agree());
  ASSERT_EQ(orders.all.ends.size(), 2u);
  const EveryOrder::Difference d = orders.difference(orders.all.ends[1], c.launch);
  EXPECT_EQ(d.buffer, c.launch.buffers[0].name);
  EXPECT_EQ(d.byte, 0u);
  EXPECT_NE(d.here, d.of_first);
}

// The second warp to come reads the word that the first has written, and goes where nothing is.
TEST(Orders, FaultsStandBehindWhatEnds) {
  Case c(storing("ld.global.u32 %r2, [%a0];\nmul.lo.u32 %r2, %r2, 1000;"));
  const EveryOrder orders = every_order(c.launch, {}, 1000);
  EXPECT_FALSE(orders.agree());
  ASSERT_GE(orders.all.ends.size(), 2u);
  ASSERT_NE(orders.first(), nullptr);
  EXPECT_EQ(orders.first(), orders.all.ends.data());
  bool fault = false;
  for (const schedules::Ended& e : orders.all.ends) {
    EXPECT_FALSE(fault && e.fault.empty());
    fault = fault || !e.fault.empty();
  }
  EXPECT_TRUE(fault);
}

TEST(Orders, WithNothingButFaultsHaveNoFirst) {
  Case c(storing("mov.u32 %r2, 1000;"));
  const EveryOrder orders = every_order(c.launch, {}, 1000);
  EXPECT_FALSE(orders.agree());
  EXPECT_EQ(orders.first(), nullptr);
}

TEST(Orders, KeepNoMoreThanTheManualPromisesWhereOneIsStrict) {
  run::Options options;
  EXPECT_EQ(order_kept(options), machine::Promise::devices);
  options.strict = true;
  EXPECT_EQ(order_kept(options), machine::Promise::manual);
  options.strict = false;
  options.schedule.kept = machine::Promise::manual;
  EXPECT_EQ(order_kept(options), machine::Promise::manual);
}

}  // namespace
}  // namespace bitwell::session
