// Programmatic launches: until griddepcontrol.wait nothing orders them behind the launch before.
#include <gtest/gtest.h>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "verify/hazard/watch.h"

namespace bitwell::verify {
namespace {

// Threads of two warps, `a` the place of each in the first buffer and `b` in the second.
isa::Program program(const std::string& body) {
  return isa::compile(ptx::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 first, .param .u64 second)
{
.reg .b32 %r<8>;
.reg .b64 %a, %b, %t;
.reg .pred %p<4>;
.shared .align 128 .b8 tile[256];
.shared .align 8 .b64 full;
ld.param.u64 %a, [first];
ld.param.u64 %b, [second];
mov.u32 %r0, %tid.x;
mul.wide.u32 %t, %r0, 4;
add.u64 %a, %a, %t;
add.u64 %b, %b, %t;
setp.eq.u32 %p0, %r0, 0;
)" + body + "\nret;\n}\n"),
                      "k");
}

// What the race check says of the second of two launches on the same buffers.
std::string said(const std::string& first, const std::string& second, bool programmatic = true) {
  const isa::Program programs[] = {program(first), program(second)};
  isa::Shape shape;
  shape.block = {64, 1, 1};
  machine::Memory memory;
  std::vector<std::vector<std::byte>> arguments;
  for (const char* name : {"first", "second"}) {
    machine::Region& r = memory.allocate(name, 256);
    r.mark_all_defined();
    const uint64_t address = r.base();
    const auto* bytes = reinterpret_cast<const std::byte*>(&address);
    arguments.emplace_back(bytes, bytes + sizeof address);
  }
  Watch watch;
  isa::Options options;
  options.observers.push_back(watch.observer());
  for (size_t i = 0; i < 2; ++i) {
    watch.begin(programs[i], shape, i == 1 && programmatic);
    machine::Region constants = isa::place_variables(programs[i], memory);
    isa::run(programs[i], constants, shape, arguments, memory, options);
  }
  const Watch::Error error = watch.error();
  EXPECT_EQ(error.launch, error.what.empty() ? 0u : 1u) << error.what;
  return error.what;
}

constexpr const char* kStores = "st.global.u32 [%a], %r0;\ngriddepcontrol.launch_dependents;";
constexpr const char* kLoads = "ld.global.u32 %r1, [%a];";
constexpr const char* kWait = "griddepcontrol.wait;\n";

bool is_early(const std::string& error) { return error.find("error grid-wait") == 0; }

TEST(Programmatic, ReadsWaitForWhatTheLaunchBeforeWrites) {
  const std::string early = said(kStores, kLoads);
  EXPECT_TRUE(is_early(early)) << early;
  EXPECT_NE(early.find("the launch before this one: write, PTX line 18"), std::string::npos) << early;
  EXPECT_EQ(said(kStores, std::string(kWait) + kLoads), "");
  EXPECT_TRUE(is_early(said(kStores, std::string(kLoads) + "\n" + kWait)));
}

TEST(Programmatic, WritesWaitForWhatTheLaunchBeforeReadsOrWrites) {
  EXPECT_TRUE(is_early(said(kLoads, kStores)));
  EXPECT_TRUE(is_early(said(kStores, kStores)));
  EXPECT_EQ(said(kLoads, std::string(kWait) + kStores), "");
}

TEST(Programmatic, WhatTheTwoDoNotShareNeedsNoWait) {
  EXPECT_EQ(said(kLoads, kLoads), "");
  EXPECT_EQ(said(kStores, "ld.global.u32 %r1, [%b];\nst.global.u32 [%b], %r1;"), "");
  EXPECT_EQ(said("@%p0 st.global.u32 [%a], 1;", "@!%p0 ld.global.u32 %r1, [%a];"), "");
}

TEST(Programmatic, AnyOtherLaunchIsBehindTheOneBefore) {
  EXPECT_EQ(said(kStores, kLoads, false), "");
  EXPECT_EQ(said(kLoads, kStores, false), "");
}

TEST(Programmatic, OneThreadsWaitCountsBehindABarrier) {
  const std::string one = std::string("@%p0 ") + kWait;
  EXPECT_EQ(said(kStores, one + "bar.sync 0;\n" + kLoads), "");
  EXPECT_TRUE(is_early(said(kStores, one + kLoads)));
  EXPECT_TRUE(is_early(said(kStores, one + "bar.warp.sync -1;\n" + kLoads)));  // the other warp
}

TEST(Programmatic, ACopyReadsWhenItIsIssued) {
  const std::string copy = R"(mov.u32 %r2, 0;
@%p0 mbarrier.init.shared.b64 [full], 1;
@%p0 fence.mbarrier_init.release.cluster;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
)";
  const std::string issue =
      "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 256, [full];\n";
  const std::string wait = R"(
bar.sync 0;
wait:
mbarrier.try_wait.parity.shared.b64 %p1, [full], 0;
@!%p1 bra wait;
)";
  EXPECT_EQ(said(kStores, copy + kWait + issue + wait), "");
  EXPECT_TRUE(is_early(said(kStores, copy + issue + kWait + wait)));
}

}  // namespace
}  // namespace bitwell::verify
