// What a shadow remembers of each byte, against a plain list of bytes.
#include "model/hazard/shadow/shadow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
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

// Pieces whose cells all hold the same are kept once, until somebody comes to a byte of one otherwise.
TEST(Shadow, KeepsPiecesOfAShapeOnce) {
  for (const uint64_t step : {64, 128, 192, 256, 512, 2048}) {
    Shadow shadow;
    const Shadow::Shape shape{4096 + 64, 64, step, 32};
    const auto each = [&](auto visit) {
      for (uint64_t i = 0; i < shape.count; ++i) visit(shape.address + i * shape.step);
    };
    each([&](uint64_t at) {
      shadow.each_page(at, shape.bytes, [](ShadowPage& page, uint64_t, uint64_t first, uint64_t end) {
        for (ShadowPage::Row& part : page.parts(first, end))
          part.write = act(7, 0), part.reads = kMany | act(8, 0);
      });
    });
    EXPECT_EQ(shadow.block(shape), nullptr);
    ASSERT_TRUE(shadow.may_be_block(shape));
    shadow.make_block(shape);
    Shadow::Block* const block = shadow.block(shape);
    ASSERT_NE(block, nullptr) << step;
    EXPECT_EQ(shadow.block({shape.address, 64, step, 31}), nullptr);
    block->write = act(9, 3);
    shadow.replace_sets([](Readers readers) { return readers + act(1, 0); });
    const Cell want{act(9, 3), kNoAct, kMany | act(9, 0)};
    const auto holds = [&](uint64_t at, const Cell& cell) {
      shadow.each_touched(at, 1, [&](const Cell& got, uint64_t, uint64_t) { EXPECT_EQ(got, cell) << step; });
    };
    each([&](uint64_t at) { holds(at, want), holds(at + 63, want); });
    if (step != 64) holds(shape.address + 64, {});
    holds(shape.address - 1, {});
    const uint64_t other = shape.address + 5 * step + 16;
    shadow.each(
        other, 4, [](Cell& cell, uint64_t, uint64_t) { cell.write = act(2, 1); },
        [](size_t) { return false; });
    EXPECT_EQ(shadow.block(shape), nullptr);
    EXPECT_FALSE(shadow.any_blocks());
    each([&](uint64_t at) { holds(at, want), holds(at + 63, want); });
    holds(other, {act(2, 1), kNoAct, want.reads});
    holds(other + 4, want);
  }
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

// The law: what became of some cells is made of others where they fit, as if each had been changed.
RC_GTEST_PROP(Shadow, WhatBecameOfCellsIsMadeOfOthers, ()) {
  Shadow shadow;
  Bytes bytes;
  const auto value = [](bool sets) -> uint32_t {
    const auto n = *rc::gen::inRange<uint32_t>(1, 5), lane = *rc::gen::inRange<uint32_t>(0, 3);
    return *rc::gen::inRange(0, 3) == 0 && sets ? kMany | act(n, lane) : act(n, lane);
  };
  const auto steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    Step s;
    const uint64_t size = uint64_t{1} << *rc::gen::inRange(0, 6);
    s.bytes = size * *rc::gen::inRange<uint64_t>(1, 9);
    s.writes = *rc::gen::arbitrary<bool>();
    s.reads_too = !s.writes || *rc::gen::arbitrary<bool>();
    s.write = value(false);
    s.reads = s.writes && *rc::gen::arbitrary<bool>() ? kNoAct : value(true);
    s.before_too = *rc::gen::inRange(0, 6) == 0;
    s.writes_before = value(true);
    const uint64_t begin = size * *rc::gen::inRange<uint64_t>(0, 512 / size);
    const uint64_t apart = size * *rc::gen::inRange<uint64_t>(1, 20);
    std::vector<ShadowPage::Change> changes;
    for (auto n = *rc::gen::inRange<uint64_t>(1, 20); n != 0; --n) {
      s.address = begin + apart * n;
      shadow.each_page(s.address, s.bytes, [&](ShadowPage& page, uint64_t, uint64_t first, uint64_t end) {
        for (const ShadowPage::Change& change : changes)
          if (change.fits(page, first, end)) return change.make(page, first);
        ShadowPage::Change& change = changes.emplace_back();
        change.begin(page, first, end);
        page.each(
            first, end, [&](Cell& cell, uint64_t) { take(s, cell); }, [](uint64_t) { return false; });
        if (!change.end(page)) changes.pop_back();
      });
      for (uint64_t b = 0; b < s.bytes; ++b) take(s, bytes[s.address + b]);
    }
  }
  expect_same(shadow, bytes, "after " + std::to_string(steps) + " accesses");
}

// Lanes that reach bytes of a page at one distance from each other.
struct Lanes {
  uint64_t address, bytes, step;
  uint32_t lane, lanes, apart;

  uint32_t of(uint32_t i, uint32_t value) const {
    return value == kNoAct ? kNoAct : turned(value, lane + i * apart);
  }
};

Lanes drawn_lanes() {
  Lanes out{};
  out.bytes = uint64_t{1} << *rc::gen::inRange(0, 6);
  out.step = out.bytes * (*rc::gen::inRange(0, 3) == 0 ? *rc::gen::inRange<uint64_t>(1, 6) : 1);
  out.address = out.bytes * *rc::gen::inRange<uint64_t>(0, 1024 / out.bytes);
  const uint64_t room = (256 - out.address % 256 - out.bytes) / out.step + 1;
  const auto fewer = *rc::gen::inRange<uint64_t>(1, 33);
  out.lanes = static_cast<uint32_t>(std::min<uint64_t>(room, *rc::gen::arbitrary<bool>() ? 32 : fewer));
  out.lane = *rc::gen::inRange<uint32_t>(0, 32);
  out.apart = 1u << *rc::gen::inRange(0, 3);
  return out;
}

// What the row's lanes find is what their bytes have; some change it, or all without a look.
void take(const Lanes& l, uint32_t write, uint32_t reads, bool writes, bool reads_too, bool looks,
          Shadow& shadow, Bytes& bytes) {
  auto [page, row] = shadow.row(l.address, l.bytes, l.step, l.lane, l.lanes, l.apart);
  ShadowPage::Acts found{l.lanes};
  if (looks) found = page.acts(row);
  RC_ASSERT(found.lanes <= l.lanes);
  const auto same = [&](bool any, uint32_t want, uint32_t got) {
    return any ? want != kNoAct && unturned(want) == unturned(got) : want == got;
  };
  const auto has = [&](uint32_t i) {
    for (uint64_t b = 0; b < l.bytes; ++b) {
      const Cell& cell = bytes[l.address + i * l.step + b];
      if (!same(found.any_writer, l.of(i, found.write), cell.write) ||
          !same(found.any_reader, l.of(i, found.reads), cell.reads) || cell.writes_before != kNoAct)
        return false;
    }
    return true;
  };
  for (uint32_t i = 0; looks && i < found.lanes; ++i) RC_ASSERT(has(i));
  RC_ASSERT(found.lanes == 0 || found.lanes == l.lanes || !has(found.lanes));
  if (found.lanes == 0) return;
  row.lanes = found.lanes;
  if (writes) page.set_write(row, write);
  if (reads_too) page.set_reads(row, reads);
  for (uint32_t i = 0; i < found.lanes; ++i)
    for (uint64_t b = 0; b < l.bytes; ++b) {
      Cell& cell = bytes[l.address + i * l.step + b];
      if (writes) cell.write = l.of(i, write);
      if (reads_too) cell.reads = l.of(i, reads);
    }
}

// The same of cells that a page may keep as parts: what they are said to have, their bytes have.
void take_parts(const Step& s, bool only_there, Shadow& shadow, Bytes& bytes) {
  const auto expect = [&](const ShadowPage::Row& part, uint64_t begin, int shift) {
    for (uint64_t b = begin + (uint64_t{part.first} << shift); b < begin + (part.end() << shift); ++b)
      RC_ASSERT((bytes[b] == Cell{part.write, kNoAct, part.reads}));
  };
  const auto change = [&](ShadowPage::Row& part) {
    if (s.writes) part.write = s.write;
    if (s.reads_too) part.reads = s.reads;
  };
  if (only_there) {
    const std::span<ShadowPage::Row> parts = shadow.parts_there(s.address, s.bytes);
    if (parts.empty()) return;
    uint64_t cells = 0;
    for (ShadowPage::Row& part : parts) cells += part.each;
    const auto shift = std::countr_zero(s.bytes / cells);
    RC_ASSERT((cells << shift) == s.bytes && (uint64_t{parts.front().first} << shift) == s.address % 256);
    for (ShadowPage::Row& part : parts) expect(part, s.address / 256 * 256, shift), change(part);
  } else {
    shadow.each_page(s.address, s.bytes, [&](ShadowPage& page, uint64_t begin, uint64_t first, uint64_t end) {
      const std::span<ShadowPage::Row> parts = page.parts(first, end);
      uint64_t next = first;
      for (ShadowPage::Row& part : parts) {
        RC_ASSERT(part.first == next);
        next = part.end();
        expect(part, begin, page.shift());
        change(part);
      }
      RC_ASSERT(next == (parts.empty() ? first : end));
      if (!parts.empty()) return;
      page.to_cells();
      page.each(
          first, end, [&](Cell& cell, uint64_t) { take(s, cell); }, [](uint64_t) { return true; });
    });
  }
  for (uint64_t i = 0; i < s.bytes; ++i) take(s, bytes[s.address + i]);
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
    if (*rc::gen::inRange(0, 40) == 0) expect_same(shadow, bytes, "meanwhile");
  }
  expect_same(shadow, bytes, "after " + std::to_string(steps) + " accesses");
}

// The same of rows of lanes, most of which come again, beside single accesses.
RC_GTEST_PROP(Shadow, ARowHasWhatItsBytesHave, ()) {
  Shadow shadow;
  Bytes bytes;
  std::vector<Lanes> known;
  const auto value = [](bool sets) -> uint32_t {
    const auto n = *rc::gen::inRange<uint32_t>(1, 6), lane = *rc::gen::inRange<uint32_t>(0, 32);
    const int which = *rc::gen::inRange(0, sets ? 8 : 6);
    return which == 0 ? kNoAct : which >= 6 ? kMany | act(n, lane) : act(n, lane);
  };
  const auto steps = *rc::gen::inRange(1, 80);
  for (int i = 0; i < steps; ++i) {
    const auto write = value(false), reads = value(true);
    const bool writes = *rc::gen::arbitrary<bool>(), reads_too = *rc::gen::arbitrary<bool>();
    const int which = *rc::gen::inRange(0, 10);
    if (which == 0) {
      const uint64_t size = uint64_t{1} << *rc::gen::inRange(0, 5);
      take({size * *rc::gen::inRange<uint64_t>(0, 1024 / size), size, write, reads, writes, reads_too, write,
            *rc::gen::inRange(0, 8) == 0},
           shadow, bytes);
      continue;
    }
    if (which == 1) {
      const auto all = [](uint32_t set) {
        return set != kNoAct && (set & kMany) != 0 ? set + act(100, 0) : set;
      };
      shadow.replace_sets([&](Readers set) { return all(set); });
      for (auto& [address, cell] : bytes)
        cell.reads = all(cell.reads), cell.writes_before = all(cell.writes_before);
      continue;
    }
    if (which >= 7) {
      const uint64_t size = uint64_t{16} << *rc::gen::inRange(0, 5);
      take_parts({size * *rc::gen::inRange<uint64_t>(0, 1024 / size),
                  size * *rc::gen::inRange<uint64_t>(1, 3), write, reads, writes, reads_too},
                 which == 9, shadow, bytes);
      continue;
    }
    if (known.empty() || which == 2) known.push_back(drawn_lanes());
    take(known[*rc::gen::inRange<size_t>(0, known.size())], write, reads, writes, reads_too,
         *rc::gen::inRange(0, 5) != 0, shadow, bytes);
    if (which == 3) expect_same(shadow, bytes, "meanwhile");
  }
  expect_same(shadow, bytes, "after " + std::to_string(steps) + " rows");
}

// The same of parts of a few pages, and seldom anything else.
RC_GTEST_PROP(Shadow, APartHasWhatItsBytesHave, ()) {
  Shadow shadow;
  Bytes bytes;
  const auto steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    const auto value = [] {
      return act(*rc::gen::inRange<uint32_t>(1, 4), *rc::gen::inRange<uint32_t>(0, 2));
    };
    const int which = *rc::gen::inRange(0, 30);
    const auto size = uint64_t{16} << *rc::gen::inRange(1, 4);
    const Step s{size * *rc::gen::inRange<uint64_t>(0, 1024 / size),
                 size * *rc::gen::inRange<uint64_t>(1, 4),
                 value(),
                 value(),
                 true,
                 *rc::gen::arbitrary<bool>()};
    if (which == 0)
      take({s.address, size / 16, s.write, s.reads, true, true}, shadow, bytes);
    else if (which == 1)
      take({s.address, 32, 32, 0, 1, 1}, s.write, s.reads, true, true, true, shadow, bytes);
    else
      take_parts(s, which > 15, shadow, bytes);
    if (which == 2) expect_same(shadow, bytes, "meanwhile");
  }
  expect_same(shadow, bytes, "after " + std::to_string(steps) + " accesses");
}

}  // namespace
}  // namespace bitwell::hazard
