// What a shadow remembers of each byte, against a plain list of bytes.
#include "model/hazard/shadow/shadow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace bitwell::hazard {
namespace {

using Bytes = std::map<uint64_t, Cell>;

// One access: what its cells become, of one, two or all parts.
struct Step {
  uint64_t address, bytes;
  uint32_t write = kNoAct, reads = kNoAct;
  bool writes = false, reads_too = false;
  uint32_t writes_before = kNoAct;
  bool before_too = false;
};

void take(const Step& s, Cell& cell) {
  if (s.writes) cell.write = s.write;
  if (s.reads_too) cell.reads = s.reads;
  if (s.before_too) cell.writes_before = s.writes_before;
}

void take(const Step& s, Shadow& shadow, Bytes& bytes) {
  // What was done to one cell is done to those that hold the same, or each is visited.
  const bool again = s.address % 3 != 0;
  shadow.each(
      s.address, s.bytes, [&](Cell& cell, uint64_t, uint64_t) { take(s, cell); },
      [&](size_t) { return again; });
  for (uint64_t i = 0; i < s.bytes; ++i) take(s, bytes[s.address + i]);
}

void expect_same(const Shadow& shadow, const Bytes& bytes, const std::string& when) {
  for (const auto& [address, cell] : bytes)
    shadow.each_touched(address, 1, [&, at = address, want = cell](const Cell& got, uint64_t, uint64_t) {
      ASSERT_EQ(got.write, want.write) << when << ", byte " << at;
      ASSERT_EQ(got.reads, want.reads) << when << ", byte " << at;
      ASSERT_EQ(got.writes_before, want.writes_before) << when << ", byte " << at;
    });
}

TEST(Shadow, APageTakesMoreRecordsThanItHasCells) {
  Shadow shadow;
  Bytes bytes;
  for (uint32_t i = 0; i < 5000; ++i) {  // each byte by another record, again and again
    const Act mine = act(1 + i, i % 32);
    const Readers read = i % 3 == 0 ? kMany | act(i, i * 5 % 32) : act(70'000 + i, 31 - i % 32);
    const Readers written = i % 5 == 0 ? kMany | act(1 << 20 | i, i % 32) : act(140'000 + i, i * 3 % 32);
    take({i * 7 % 256, 1, mine, read, true, true, written, true}, shadow, bytes);
  }
  expect_same(shadow, bytes, "all of one page");
  EXPECT_LE(shadow.bytes(), 256u * 48);  // what no cell has any more was given back
}

TEST(Shadow, SetsAreReplacedWhereverTheyStand) {
  Shadow shadow;
  Bytes bytes;
  for (uint32_t i = 0; i < 64; ++i)
    take({64 * i, 4, act(3, 1), kMany | act(i % 5, i % 32), true, true}, shadow, bytes);
  take({0, 4, kNoAct, kNoAct, false, true}, shadow, bytes);
  take({64, 4, kNoAct, kNoAct, false, false, kMany | act(7, 9), true}, shadow, bytes);
  shadow.replace_sets([](Readers set) { return set + act(100, 0); });
  for (auto& [address, cell] : bytes)
    for (Readers* set : {&cell.reads, &cell.writes_before})
      if (*set != kNoAct) *set += act(100, 0);
  expect_same(shadow, bytes, "replaced");
}

TEST(Shadow, NothingIsKnownOfBytesThatNobodyReached) {
  Shadow shadow;
  size_t cells = 0;
  shadow.each_touched(0, 4096, [&](const Cell&, uint64_t, uint64_t) { ++cells; });
  EXPECT_EQ(cells, 0u);
  EXPECT_EQ(shadow.touched(), 0u);
}

// The law: a byte's cell is what the last access to it left, whatever the sizes and places of others.
RC_GTEST_PROP(Shadow, AByteHasWhatTheLastAccessLeft, ()) {
  Shadow shadow;
  Bytes bytes;
  const auto value = [](bool sets) -> uint32_t {
    const auto n = *rc::gen::inRange<uint32_t>(1, 40);
    switch (*rc::gen::inRange(0, sets ? 4 : 3)) {
      case 0: return kNoAct;
      case 3: return kMany | act(n, *rc::gen::inRange<uint32_t>(0, 32));
      default: return act(n, *rc::gen::inRange<uint32_t>(0, 32));
    }
  };
  const auto steps = *rc::gen::inRange(1, 200);
  for (int i = 0; i < steps; ++i) {
    const uint64_t size = uint64_t{1} << *rc::gen::inRange(0, 5);
    Step s;
    s.address = size * *rc::gen::inRange<uint64_t>(0, 1024 / size);
    s.bytes = size * *rc::gen::inRange<uint64_t>(1, 40);
    s.writes = *rc::gen::arbitrary<bool>();
    s.reads_too = !s.writes || *rc::gen::arbitrary<bool>();
    s.write = value(false);
    s.reads = value(true);
    s.before_too = *rc::gen::arbitrary<bool>();
    s.writes_before = value(true);
    take(s, shadow, bytes);
  }
  expect_same(shadow, bytes, "after " + std::to_string(steps) + " accesses");
}

}  // namespace
}  // namespace bitwell::hazard
