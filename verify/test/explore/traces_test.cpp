// An enumeration runs one schedule of each trace, and misses no outcome: counts of the literature, and those
// of all interleavings of small programs, one by one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../kernel.h"
#include "warps.h"

namespace bitwell::explore {
namespace {

constexpr uint64_t kMost = 1 << 20;

schedules::Exhausted explored(const Warps& warps) {
  return schedules::exhaust(explore::launch_of(warps), {}, kMost);
}

std::set<Words> outcomes(const schedules::Exhausted& e) {
  std::set<Words> out;
  for (const schedules::Ended& end : e.ends)
    if (end.fault.empty()) out.insert(explore::words_of(end.buffers[0]));
  return out;
}

TEST(Traces, TwoWritesOfOneWordHaveTwoOutcomes) {
  const schedules::Exhausted e = explored({{{Step::store, 0, 1}}, {{Step::store, 0, 2}}});
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.runs, 2u);
  EXPECT_EQ(e.ends.size(), 2u);
}

TEST(Traces, WritersOfDifferentWordsHaveOneTrace) {
  const schedules::Exhausted e =
      explored({{{Step::store, 0, 1}}, {{Step::store, 1, 1}}, {{Step::store, 2, 1}}, {{Step::store, 3, 1}}});
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.runs, 1u);
  EXPECT_EQ(e.pruned, 0u);
}

// "readers" of the POPL 2014 paper: each of n readers is before or after the writer.
TEST(Traces, ReadersOfOneWriterHaveTwoToTheirNumber) {
  Warps warps{{{Step::store, 0, 1}}};
  for (uint64_t readers = 1; readers <= 6; ++readers) {
    warps.push_back({{Step::load, 0, 0}});
    const schedules::Exhausted e = explored(warps);
    EXPECT_TRUE(e.complete);
    EXPECT_EQ(e.runs, uint64_t{1} << readers);
    EXPECT_EQ(e.pruned, 0u);
    EXPECT_EQ(e.ends.size(), uint64_t{1} << readers);
  }
}

// "lastzero" of the same: warp 0 looks for the last 0 among n + 1 words, warp i puts word i - 1, and one
// more, into word i. The paper's table has 64 traces for n = 5.
TEST(Traces, TheLastZeroOfSixWordsHas64) {
  std::string ptx =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .u64 pout)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;\nld.param.u64 %a0, [pout];\n"
      "mov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nmul.wide.u32 %a1, %r1, 4;\nadd.u64 %a1, %a0, %a1;\n"
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra look;\n"
      "ld.volatile.global.u32 %r2, [%a1+-4];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%a1], "
      "%r2;\nret;\n"
      "look:\nadd.u64 %a1, %a0, 20;\nagain:\nld.volatile.global.u32 %r2, [%a1];\nsub.u64 %a1, %a1, 4;\n"
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra again;\nret;\n}\n";
  const schedules::Exhausted e = schedules::exhaust(explore::launch_of(ptx, 6, 6), {}, kMost);
  EXPECT_TRUE(e.complete);
  EXPECT_EQ(e.runs, 64u);
}

// Of all sizes alike, from the first case on.
template <class T>
T among(T first, T last) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(first, last + 1));
}

Step any_step() {
  const auto kind = *rc::gen::element(Step::store, Step::load, Step::plus);
  return {kind, among(0u, 1u), among(1u, 3u)};
}

Warps any_warps(size_t most) {
  Warps out(among<size_t>(1, 3));
  for (auto& steps : out) {
    steps.resize(among<size_t>(0, most));
    for (Step& s : steps) s = any_step();
  }
  return out;
}

// The traces of any program are run once each, and come to its outcomes, no more and no fewer.
RC_GTEST_PROP(Traces, OfAnyProgramAreThoseOfAllInterleavings, ()) {
  const Warps warps = any_warps(3);
  const Expected want = Interleavings(warps).run();
  const schedules::Exhausted got = explored(warps);
  RC_ASSERT(got.complete);
  RC_ASSERT(outcomes(got) == want.outcomes);
  RC_ASSERT(got.ends.size() == want.outcomes.size());
  RC_ASSERT(got.runs == want.traces);
}

// With steps that write only where nothing stands, what conflicts hangs on what came before: no outcome is
// missed.
RC_GTEST_PROP(Traces, OfCompareAndSwapMissNoOutcome, ()) {
  Warps warps = any_warps(3);
  for (auto& steps : warps)
    for (Step& s : steps)
      if (among(0, 1) == 0) s.kind = Step::cas;
  const Expected want = Interleavings(warps).run();
  const schedules::Exhausted got = explored(warps);
  RC_ASSERT(got.complete);
  RC_ASSERT(outcomes(got) == want.outcomes);
}

// Each outcome has an order of turns that comes to it again.
RC_GTEST_PROP(Traces, OutcomesReplay, ()) {
  const Warps warps = any_warps(3);
  const launch::Launch launch = explore::launch_of(warps);
  for (const schedules::Ended& end : explored(warps).ends) {
    Replay replay(launch.shape, explore::read_order(explore::text_of(end.order)));
    run::Options options;
    options.chooser = &replay;
    options.observers.push_back(replay.observer());
    RC_ASSERT(launch::simulate(launch, options, true).buffer(launch, 0) == end.buffers[0]);
  }
}

}  // namespace
}  // namespace bitwell::explore
