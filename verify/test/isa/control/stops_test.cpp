// Observers are told when a warp comes to a line, once for each time; and a run that is watched so is the run
// that it would have been.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// Loops of a length that differs between threads, a lost update, a barrier, a branch that divides warps and a
// loop that spins until another warp has stored. The first instruction stands at line 10.
const std::string kText = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;
.shared .align 4 .b32 sum;
.shared .align 4 .b32 flag;
.shared .align 8 .b64 bar;
ld.param.u64 %a0, [pout];
mov.u32 %r0, %tid.x;
mul.wide.u32 %a1, %r0, 4;
add.u64 %a1, %a0, %a1;
setp.eq.u32 %p0, %r0, 0;
@%p0 st.shared.u32 [sum], %r0;
@%p0 st.shared.u32 [flag], %r0;
@%p0 mbarrier.init.shared.b64 [bar], 1;
bar.sync 0;
and.b32 %r1, %r0, 3;
again:
ld.shared.u32 %r2, [sum];
add.u32 %r2, %r2, 1;
st.shared.u32 [sum], %r2;
sub.u32 %r1, %r1, 1;
setp.ge.s32 %p1, %r1, 0;
@%p1 bra again;
setp.eq.u32 %p2, %r0, 33;
@%p2 st.shared.u32 [flag], %r0;
@%p2 mbarrier.arrive.shared.b64 _, [bar];
later:
mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;
@!%p3 bra later;
wait:
ld.volatile.shared.u32 %r3, [flag];
setp.eq.u32 %p3, %r3, 0;
@%p3 bra wait;
bar.sync 0;
ld.shared.u32 %r2, [sum];
st.global.u32 [%a1], %r2;
ret;
}
)";
constexpr int kLines = 40;

struct Seen {
  std::vector<std::tuple<int, uint64_t, uint64_t, int>> turns;  // warp, begin, end, line
  std::vector<machine::Reached> reached;
  std::vector<std::string> instructions;  // of each, whose own is gone with the program
  std::vector<std::byte> out;
};
Seen run(const run::Schedule& schedule, const std::vector<int>& lines, uint32_t threads = 96) {
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {threads, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(4 * threads), true, false, true});
  Seen seen;
  run::Options options;
  options.schedule = schedule;
  machine::Observer observer{[&](const machine::Event& event) {
    if (const auto* t = std::get_if<machine::Turn>(&event.what))
      seen.turns.emplace_back(t->warp, t->begin, t->end, t->ptx_line);
    if (const auto* r = std::get_if<machine::Reached>(&event.what)) {
      seen.reached.push_back(*r);
      seen.instructions.emplace_back(r->instruction);
    }
  }};
  observer.lines = lines;
  options.observers.push_back(observer);
  test::run_ptx(kText, l, options);
  seen.out = l.buffers[0].bytes;
  return seen;
}

TEST(Stops, BeingWatchedChangesNothing) {
  std::vector<int> all;
  for (int line = 1; line <= kLines; ++line) all.push_back(line);
  std::vector<run::Schedule> schedules;
  for (const run::PolicyName& p : run::kPolicies) schedules.push_back({p.policy, 0});
  for (uint64_t seed = 1; seed <= 40; ++seed) schedules.push_back({run::Policy::random, seed});
  for (const run::Schedule& s : schedules) {
    const Seen plain = run(s, {});
    EXPECT_TRUE(plain.reached.empty());
    for (const std::vector<int>& lines : {all, std::vector<int>{21}, std::vector<int>{23, 31, 34}}) {
      const Seen watched = run(s, lines);
      EXPECT_FALSE(watched.reached.empty());
      ASSERT_EQ(watched.turns, plain.turns) << "policy " << static_cast<int>(s.policy) << " seed " << s.seed;
      ASSERT_EQ(watched.out, plain.out);
    }
  }
}

// Half of a warp has used up its turn in a loop when the other half, which went another way, jumps back to
// its head: they go on apart, watched or not.
TEST(Stops, AJumpBackOverAStopChoosesNobodyElse) {
  const std::string text = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;
ld.param.u64 %a0, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a0, %a1;
and.b32 %r1, %r0, 1; mov.u32 %r2, 0;
head:
add.u32 %r2, %r2, 1;
setp.ne.u32 %p0, %r1, 0;
@%p0 bra aside;
setp.lt.u32 %p1, %r2, 70000;
@%p1 bra head;
bra end;
aside:
mov.u32 %r1, 0;
bra head;
end:
st.global.u32 [%a1], %r2;
ret;
}
)";
  const auto turns = [&](const std::vector<int>& lines) {
    launch::Launch l;
    l.entry = "k";
    l.shape.block = {32, 1, 1};
    l.add_buffer({"out", std::vector<std::byte>(128), true, false, true});
    uint64_t end = 0;
    uint64_t lanes = 0;
    run::Options options;
    machine::Observer observer{[&](const machine::Event& event) {
      if (const auto* t = std::get_if<machine::Turn>(&event.what)) end = t->end;
      if (const auto* r = std::get_if<machine::Reached>(&event.what))
        lanes += static_cast<uint64_t>(__builtin_popcount(r->lanes));
    }};
    observer.lines = lines;
    options.observers.push_back(observer);
    test::run_ptx(text, l, options);
    return std::pair(end, lanes);
  };
  const auto [end, lanes] = turns({10});
  EXPECT_EQ(end, turns({}).first);
  EXPECT_EQ(lanes, 32u * 70000);  // each thread adds so often
}

// How often a line is told of, and for how many threads in all.
std::pair<size_t, int> visits(const Seen& seen, int line) {
  size_t count = 0;
  int lanes = 0;
  for (const machine::Reached& r : seen.reached)
    if (r.ptx_line == line) ++count, lanes += __builtin_popcount(r.lanes);
  return {count, lanes};
}

TEST(Stops, EachComingIsToldOnce) {
  const Seen seen = run({}, {10, 15, 18, 21, 28, 31, 34, 39});
  EXPECT_EQ(visits(seen, 10), std::pair(size_t{3}, 96));
  EXPECT_EQ(visits(seen, 15), std::pair(size_t{1}, 1));   // under a guard: only where it holds
  EXPECT_EQ(visits(seen, 18), std::pair(size_t{3}, 96));  // waiting there is no second coming
  EXPECT_EQ(visits(seen, 21).second, 96 / 4 * (1 + 2 + 3 + 4));
  EXPECT_EQ(visits(seen, 28), std::pair(size_t{1}, 1));
  EXPECT_EQ(visits(seen, 31), std::pair(size_t{3}, 96));  // nor is trying again
  EXPECT_EQ(visits(seen, 34).second, 96);
  EXPECT_EQ(visits(seen, 39).second, 96);
  const auto first = std::find_if(seen.reached.begin(), seen.reached.end(),
                                  [](const machine::Reached& r) { return r.ptx_line == 21; });
  ASSERT_NE(first, seen.reached.end());
  EXPECT_EQ(seen.instructions[static_cast<size_t>(first - seen.reached.begin())], "ld.shared.u32");
  EXPECT_TRUE(run({}, {1, 5, 20, 42}).reached.empty());  // no instruction stands there
}

TEST(Stops, MemoryIsAsTheLineFindsIt) {
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {64, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(256), true, false, true});
  run::Options options;
  std::vector<std::pair<bool, uint32_t>> sums;  // written, and what
  machine::Observer observer{[&](const machine::Event& event) {
    const auto* r = std::get_if<machine::Reached>(&event.what);
    if (r == nullptr) return;
    uint32_t sum = 0;
    std::memcpy(&sum, r->shared->raw_bytes(), 4);
    sums.emplace_back(r->shared->is_defined(0, 4), sum);
    EXPECT_FALSE(r->tensor->allocated());
  }};
  observer.lines = {15, 16, 23};
  options.observers.push_back(observer);
  test::run_ptx(kText, l, options);
  ASSERT_GE(sums.size(), 3u);
  EXPECT_FALSE(sums[0].first);  // before the store, after it, and before the first sum
  EXPECT_EQ(sums[1], std::pair(true, 0u));
  EXPECT_EQ(sums[2], std::pair(true, 0u));
  EXPECT_EQ(sums.back().first, true);
  EXPECT_GT(sums.back().second, 0u);
}

}  // namespace
}  // namespace bitwell::isa
