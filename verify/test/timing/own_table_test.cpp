// What is read off a table that has few rows, of which each figure can be worked out by hand.
#include <gtest/gtest.h>

#include <array>

#include "model/machine/failure.h"
#include "model/timing/cost.h"
#include "model/timing/path.h"

namespace bitwell::timing {
namespace {

Device with_ops(std::span<const OpCost> ops) {
  Device d = h200();
  d.ops = ops;
  return d;
}

// A name's first word is a whole one, unless the row goes on behind a dot; a modifier is a whole one,
// wherever it stands.
TEST(OwnTable, ARowIsFoundByWholeWords) {
  constexpr OpCost kOps[] = {{"add", ".f32", 1, 0, Source::device},
                             {"cvt.rn", "", 2, 0, Source::device},
                             {"mul.", "", 3, 0, Source::device},
                             {"add", "", 4, 0, Source::device},
                             {"f", ".f16", 5, 0, Source::device}};
  const Device d = with_ops(kOps);
  const auto row = [&](std::string_view name) {
    const std::optional<OpCost> found = d.op(name);
    return found ? found->latency : 0;
  };
  EXPECT_EQ(row("add.f32"), 1);
  EXPECT_EQ(row("add.rn.f32.ftz"), 1) << "the modifier is not the last";
  EXPECT_EQ(row("add.f32x2"), 4) << "a longer modifier is another";
  EXPECT_EQ(row("add.f32x2.f32"), 1) << "the second is the modifier";
  EXPECT_EQ(row("add"), 4);
  EXPECT_EQ(row("addc.f32"), 0);
  EXPECT_EQ(row("cvt.rni.s32.f32"), 2) << "behind a dot a row may end within a word";
  EXPECT_EQ(row("cvt.rz"), 0);
  EXPECT_EQ(row("mul.lo.s32"), 3);
  EXPECT_EQ(row("mul"), 0);
  EXPECT_EQ(row("fma.f16"), 0);
  EXPECT_EQ(row("f.f16"), 5);
}

// A device that has no row takes another's, at a guess; its own comes first and keeps its source.
TEST(OwnTable, WhatHasNoRowCostsWhatItDoesElsewhereAtAGuess) {
  constexpr OpCost kThere[] = {{"add", "", 1, 0, Source::device}, {"sub", "", 2, 0, Source::device}};
  constexpr OpCost kHere[] = {{"add", "", 3, 0, Source::published}};
  const Device there = with_ops(kThere);
  Device here = with_ops(kHere);
  EXPECT_FALSE(here.op("sub.s32"));
  here.like = &there;
  EXPECT_EQ(here.op("add.s32")->latency, 3);
  EXPECT_EQ(here.op("add.s32")->source, Source::published);
  EXPECT_EQ(here.op("sub.s32")->latency, 2);
  EXPECT_EQ(here.op("sub.s32")->source, Source::guess);
  EXPECT_FALSE(here.op("mul.s32"));
}

TEST(OwnTable, ACostWithoutARowIsAFaultOfTheTable) {
  constexpr Cost kOne[] = {{Key::sms, "", 4, 4, 4, Scale::count, Source::guess}};
  Device d = h200();
  d.costs = kOne;
  EXPECT_EQ(d.value(Key::sms), 4);
  EXPECT_THROW(d.value(Key::clock), machine::ModelBug);
  EXPECT_EQ(d.values()[static_cast<size_t>(Key::sms)], 4);
  EXPECT_EQ(d.values()[static_cast<size_t>(Key::clock)], 0);
}

// Between two rows in proportion to the bytes; before the first as that; behind the last as the last two go
// on.
TEST(OwnTable, CopiesLieBetweenTheirRows) {
  constexpr CopyCost kCopies[] = {{100, 10, 1000}, {200, 20, 3000}, {400, 80, 3000}};
  constexpr CopyCost kTensor[] = {{100, 7, 8}, {300, 9, 12}};
  Device d = h200();
  d.copies = kCopies;
  d.tensor_copies = kTensor;
  const std::pair<uint64_t, double> near[] = {{0, 10},   {99, 10},   {100, 10},   {101, 10.1},
                                              {150, 15}, {200, 20},  {201, 20.3}, {300, 50},
                                              {400, 80}, {500, 110}, {800, 200}};
  for (const auto& [bytes, cycles] : near) EXPECT_DOUBLE_EQ(d.copy_latency(bytes, false), cycles) << bytes;
  EXPECT_DOUBLE_EQ(d.copy_latency(150, true), 2000);
  EXPECT_DOUBLE_EQ(d.copy_latency(300, true), 3000);
  EXPECT_DOUBLE_EQ(d.copy_latency(200, false, true), 8);
  EXPECT_DOUBLE_EQ(d.copy_latency(400, true, true), 14);
}

// tcgen05.mma: of the shape that is nearest in CTAs, then in M, between its rows of N.
TEST(OwnTable, ProductsInTensorMemoryLieBetweenTheirRows) {
  const auto row = [](uint32_t ctas, uint32_t m, uint32_t n, double cycles) {
    return TensorMmaCost{ctas, m, n, cycles, cycles / 2, 10 * cycles, Source::published, ""};
  };
  const TensorMmaCost rows[] = {row(1, 64, 128, 40), row(1, 64, 32, 16), row(1, 128, 64, 100),
                                row(1, 128, 64, 100), row(2, 128, 64, 300)};
  Device d = b200();
  d.tensors = rows;
  const auto is = [&](uint32_t ctas, uint32_t m, uint32_t n, double cycles, Source source) {
    const TensorMmaCost c = d.tensor_mma(ctas, m, n);
    EXPECT_DOUBLE_EQ(c.interval, cycles) << ctas << " " << m << " " << n;
    EXPECT_DOUBLE_EQ(c.elsewhere, cycles / 2) << ctas << " " << m << " " << n;
    EXPECT_DOUBLE_EQ(c.latency, 10 * cycles) << ctas << " " << m << " " << n;
    EXPECT_EQ(c.source, source) << ctas << " " << m << " " << n;
  };
  is(1, 64, 32, 16, Source::published);
  is(1, 64, 128, 40, Source::published);
  is(1, 64, 80, 28, Source::published);  // half the way
  is(1, 64, 56, 22, Source::published);  // a quarter
  is(1, 64, 24, 16, Source::guess);      // fewer columns than any row
  is(1, 64, 256, 40, Source::guess);     // more
  is(1, 80, 32, 16, Source::guess);      // 64 is nearer than 128
  is(1, 120, 64, 100, Source::guess);
  is(1, 256, 64, 100, Source::guess);
  is(2, 64, 64, 300, Source::guess);  // CTAs count before rows
  is(2, 128, 64, 300, Source::published);
  d.product = 3;
  const TensorMmaCost c = d.tensor_mma(1, 64, 80);
  EXPECT_DOUBLE_EQ(c.interval, 84);
  EXPECT_DOUBLE_EQ(c.elsewhere, 42);
  EXPECT_DOUBLE_EQ(c.latency, 280) << "no more than the interval is another";
}

// mma.sync: the first row whose shape the name has in it.
TEST(OwnTable, WarpProductsByTheirShape) {
  constexpr WarpMmaCost kRows[] = {{".m16n8k8.f32", 1, 1, ""}, {".m16n8k8", 2, 2, ""}};
  Device d = h200();
  d.mmas = kRows;
  ASSERT_NE(d.mma("mma.sync.aligned.m16n8k8.f32.f32"), nullptr);
  EXPECT_EQ(d.mma("mma.sync.aligned.m16n8k8.f32.f32")->latency, 1);
  EXPECT_EQ(d.mma("mma.sync.aligned.m16n8k8.f16")->latency, 2);
  EXPECT_EQ(d.mma("mma.sync.aligned.m16n8k16.f32"), nullptr);
}

// The least and the most that a clock may be locked at.
TEST(OwnTable, ALockedClockIsAWholeNumberWithinBounds) {
  for (const char* name : {"h200@100", "h200@10000", "b200@1965"}) ASSERT_NE(device(name), nullptr) << name;
  EXPECT_EQ(device("h200@100")->value(Key::clock), 100);
  EXPECT_EQ(device("h200@100")->called, "H200 at 100 MHz");
  EXPECT_EQ(device("h200@10000")->value(Key::clock), 10000);
  for (const char* name : {"h200@99", "h200@10001", "h200@", "h200@-100", "h200@1000.5", "h200@1e3",
                           "h200@99999999999", "@", "", "h200@1000@1000"})
    EXPECT_EQ(device(name), nullptr) << name;
}

// An 'a' stands for that device alone, an 'f' for those of one family behind it, nothing for all behind it.
TEST(OwnTable, WhichCodeADeviceRuns) {
  Device d = b200();
  ASSERT_EQ(d.sm, 100);
  for (const char* target : {"sm_100a", "sm_100f", "sm_100", "sm_90", "sm_75", "sm_9"})
    EXPECT_TRUE(runs(d, target)) << target;
  for (const char* target : {"sm_90a", "sm_103a", "sm_90f", "sm_103f", "sm_101", "sm_120", "sm_101f"})
    EXPECT_FALSE(runs(d, target)) << target;
  d.sm = 103;
  for (const char* target : {"sm_103a", "sm_100f", "sm_103f", "sm_100", "sm_103"})
    EXPECT_TRUE(runs(d, target)) << target;
  for (const char* target : {"sm_100a", "sm_90f", "sm_104", "sm_110f"})
    EXPECT_FALSE(runs(d, target)) << target;
}

// The way back from a turn: what others ended meanwhile is not of it; turns alike are added up, and the
// longest sum comes first.
TEST(OwnTable, TheWayBackAddsUpWhatIsAlike) {
  Path path;
  const int32_t first = path.add(Path::kNone, 10, 1, Role::copies, Cause::executes);
  path.add(first, 500, 9, Role::other, Cause::executes);
  const int32_t copy = path.add(first, 25, 2, Role::copies, Cause::copy);
  const int32_t again = path.add(copy, 32, 1, Role::copies, Cause::executes);
  const int32_t other = path.add(again, 33, 1, Role::multiplies, Cause::executes);
  const int32_t last = path.add(other, 83, 2, Role::copies, Cause::dram);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(last, 5);
  const std::vector<Path::Part> parts = path.to(last);
  ASSERT_EQ(parts.size(), 4U);
  const auto is = [&](size_t k, Role role, Cause cause, int line, double cycles, uint64_t times) {
    EXPECT_EQ(parts[k].role, role) << k;
    EXPECT_EQ(parts[k].cause, cause) << k;
    EXPECT_EQ(parts[k].line, line) << k;
    EXPECT_DOUBLE_EQ(parts[k].cycles, cycles) << k;
    EXPECT_EQ(parts[k].times, times) << k;
  };
  is(0, Role::copies, Cause::dram, 2, 50, 1);
  is(1, Role::copies, Cause::executes, 1, 17, 2);  // 10 from the beginning, 7 behind the copy
  is(2, Role::copies, Cause::copy, 2, 15, 1);
  is(3, Role::multiplies, Cause::executes, 1, 1, 1);
  EXPECT_TRUE(path.to(Path::kNone).empty());
}

// Links stand in pieces of 16,384.
TEST(OwnTable, AWayOfManyTurns) {
  Path path;
  int32_t last = Path::kNone;
  constexpr int kTurns = 40000;
  for (int i = 1; i <= kTurns; ++i) last = path.add(last, i, i % 2, Role::other, Cause::executes);
  const std::vector<Path::Part> parts = path.to(last);
  ASSERT_EQ(parts.size(), 2U);
  for (const Path::Part& p : parts) {
    EXPECT_EQ(p.cycles, kTurns / 2);
    EXPECT_EQ(p.times, kTurns / 2);
  }
}

}  // namespace
}  // namespace bitwell::timing
