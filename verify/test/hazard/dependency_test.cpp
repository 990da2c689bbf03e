// Programmatic launches: until griddepcontrol.wait nothing orders them behind the launch before.
#include <gtest/gtest.h>

#include <deque>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "verify/session/weigh.h"

namespace bitwell::hazard {
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

// What the race check says of launches on the same buffers, each but the first programmatic.
std::vector<findings::Found> found(const std::vector<std::string>& bodies, bool programmatic = true) {
  static std::deque<isa::Program> programs;  // findings refer to them
  run::Shape shape;
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
  static std::deque<findings::Watch> watches;  // likewise
  findings::Watch& watch = watches.emplace_back();
  run::Options options;
  options.observers.push_back(watch.observer());
  for (size_t i = 0; i < bodies.size(); ++i) {
    const isa::Program& p = programs.emplace_back(program(bodies[i]));
    watch.begin(p, shape, i != 0 && programmatic);
    machine::Region constants = run::place_variables(p, memory);
    run::run(p, constants, shape, arguments, memory, options);
  }
  const std::vector<session::Weighed> weighed = session::weigh(watch);
  if (const session::Weighed* error = session::first_error(weighed)) {
    EXPECT_EQ(std::get<0>(session::site_of(*error)), bodies.size() - 1) << findings::describe(error->found);
  }
  return watch.findings();
}
// The first error of two.
std::string said(const std::string& first, const std::string& second, bool programmatic = true) {
  for (const findings::Found& f : found({first, second}, programmatic))
    if (hazard::row_of(f.finding.kind).level == Level::error) return findings::describe(f);
  return "";
}
// Of the last of several: "grid-wait 2" where it is not behind the second before it; empty: nothing.
std::string last_said(const std::vector<std::string>& bodies) {
  std::string out;
  for (const findings::Found& f : found(bodies))
    out += (out.empty() ? "" : ", ") + std::string(hazard::row_of(f.finding.kind).name) + " " +
           std::to_string(f.later->number - f.earlier->number);
  return out;
}

constexpr const char* kStores = "st.global.u32 [%a], %r0;\ngriddepcontrol.launch_dependents;";
constexpr const char* kLoads = "ld.global.u32 %r1, [%a];";
constexpr const char* kWait = "griddepcontrol.wait;\n";

bool is_early(const std::string& error) { return error.find("error grid-wait") == 0; }

TEST(Programmatic, ReadsWaitForWhatTheLaunchBeforeWrites) {
  const std::string early = said(kStores, kLoads);
  EXPECT_TRUE(is_early(early)) << early;
  EXPECT_NE(
      early.find(
          "\n  launch 1, 'k': write, PTX line 18 st.global.u32, by CTA (0,0,0), warp 0, thread (0,0,0)"),
      std::string::npos)
      << early;
  EXPECT_NE(early.find("\n  launch 2, 'k': read, PTX line 18 ld.global.u32"), std::string::npos) << early;
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

// Of two atomics, or accesses that are strong in the device's scope, neither need wait for the other.
TEST(Programmatic, StrongAccessesOfTheDevicesScopeMeet) {
  // What the thread did before, plainly, its own atomic does not hide.
  EXPECT_TRUE(
      is_early(said(std::string(kLoads) + "\nred.global.add.u32 [%a], 1;", "red.global.add.u32 [%a], 1;")));
  EXPECT_TRUE(
      is_early(said("st.global.u32 [%a], 0;\nred.global.add.u32 [%a], 1;", "red.global.add.u32 [%a], 1;")));
  const std::string add = "red.global.add.u32 [%a], 1;", own = "red.relaxed.cta.global.add.u32 [%a], 1;";
  EXPECT_EQ(said(add, add), "");
  EXPECT_EQ(said(add, "ld.relaxed.gpu.global.u32 %r1, [%a];"), "");
  EXPECT_TRUE(is_early(said(own, add)));
  EXPECT_TRUE(is_early(said(add, own)));
  EXPECT_TRUE(is_early(said(kLoads, add)));
}

// C behind B behind A: B's wait is what its end, and so C's wait, says of A; without it the H200 does.
TEST(Programmatic, AWaitCountsForALaunchFurtherBackIfThoseBetweenWait) {
  const std::string lets = "griddepcontrol.launch_dependents;\n";
  const std::string reads = std::string(kWait) + kLoads;
  EXPECT_EQ(last_said({kStores, lets + kWait, reads}), "");
  EXPECT_EQ(last_said({kStores, lets, reads}), "grid-between 2");
  EXPECT_EQ(last_said({kStores, lets + "@%p0 " + kWait, reads}), "");
  EXPECT_EQ(last_said({kStores, lets, lets + kWait, reads}), "grid-between 3");
  EXPECT_EQ(last_said({kStores, lets + kWait, lets, reads}), "grid-between 3");
  EXPECT_EQ(last_said({kStores, lets, kLoads}), "grid-wait 2");
  EXPECT_EQ(last_said({kStores, "", kLoads}), "grid-wait 2");
}

// C starts when B lets it: if that is behind B's wait, A is over.
TEST(Programmatic, ALaunchThatIsOverWhenThisOneStartsIsANote) {
  const std::string lets = "griddepcontrol.launch_dependents;\n";
  EXPECT_EQ(last_said({kStores, std::string(kWait) + lets, kLoads}), "grid-between 2");
  EXPECT_EQ(last_said({kStores, kWait, kLoads}), "grid-between 2");
  EXPECT_EQ(last_said({kStores, lets + kWait, kLoads}), "grid-wait 2");
  EXPECT_EQ(last_said({kStores, "@%p0 " + (kWait + ("bar.sync 0;\n" + lets)), kLoads}), "grid-between 2");
  // The other warp may let it start before the one that waits has.
  EXPECT_EQ(last_said({kStores, "@%p0 " + (kWait + lets), kLoads}), "grid-wait 2");
  EXPECT_EQ(last_said({kStores, std::string(kWait) + lets, lets, kLoads}), "grid-between 3");
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
}  // namespace bitwell::hazard
