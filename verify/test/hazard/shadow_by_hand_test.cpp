// A shadow's pages by hand: which row is which, what stands beside a block, lists of readers that go while
// pages keep rows, parts and blocks, and more pages than are remembered.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "checker/trace.h"
#include "model/hazard/shadow/shadow.h"

namespace bitwell::hazard::shadow_by_hand {
namespace {

Cell cell_at(const Shadow& shadow, uint64_t address) {
  Cell out;
  shadow.each_touched(address, 1, [&](const Cell& cell, uint64_t, uint64_t) { out = cell; });
  return out;
}

// A row that differs in one thing alone from one that the page keeps is not that one.
TEST(ShadowByHand, ARowIsAnotherWhereItDiffersInOneThing) {
  const CellRow usual{2, 4, 4, 1, 1, 1};
  const CellRow others[] = {{3, 4, 4, 1, 1, 1}, {2, 5, 4, 1, 1, 1}, {2, 4, 3, 1, 1, 1},
                            {2, 4, 4, 2, 1, 1}, {2, 4, 2, 1, 2, 2}, {2, 4, 4, 1, 1, 2}};
  const auto reached = [&](Shadow& shadow) -> ShadowPage& {
    ShadowPage& page = shadow.row(0, 16, 16, 0, 1, 1).first;
    page.set_write(usual, act(7, 4));
    return page;
  };
  {
    Shadow shadow;
    ShadowPage& page = reached(shadow);
    const ShadowPage::Acts same = page.acts(usual);
    EXPECT_EQ(same.lanes, 4u);
    EXPECT_EQ(same.write, act(7, 4));
    EXPECT_NE(same.kept, nullptr);
  }
  for (const CellRow& other : others) {
    Shadow shadow;
    ShadowPage& page = reached(shadow);
    const std::string which = std::to_string(&other - others);
    EXPECT_EQ(page.acts(other).kept, nullptr) << which;
    page.set_reads(other, act(9, 1));
    for (uint32_t i = 0; i < 16; ++i) {
      // Of lane 4 in cell 2, 5 in cell 3 and so on; turned by it.
      const Act write = i >= 2 && i < 6 ? act(7, (4 + 4 + i - 2) % 32) : kNoAct;
      Readers reads = kNoAct;
      for (uint32_t n = 0; n < other.lanes; ++n)
        for (uint32_t e = 0; e < other.each; ++e)
          if (other.first + n * other.step + e == i) reads = act(9, (1 + other.lane + n * other.apart) % 32);
      EXPECT_EQ(cell_at(shadow, 16 * i), (Cell{write, kNoAct, reads})) << which << ", cell " << i;
    }
  }
}

// Parts side by side that hold the same make room for more; a block, which has what it holds elsewhere, is
// none of them, though its number be what a part holds.
TEST(ShadowByHand, ABlockIsNotJoinedWithThePartBesideIt) {
  for (const bool in_front : {false, true}) {
    ShadowPage page;
    const uint32_t number = act(1, 0);
    const auto part = [&](uint64_t first, Act write) {
      const auto parts = page.parts(first, first + 1);
      if (!parts.empty()) parts.front().write = write, parts.front().reads = kNoAct;
      return parts;
    };
    const uint64_t block = in_front ? 2 : 3, beside = in_front ? 3 : 2;
    page.give(part(block, act(2, 0)), number);
    ASSERT_FALSE(part(beside, act(1, 0)).empty());
    for (uint32_t i = 0; i < 6; ++i) ASSERT_FALSE(part(5 + i, act(3 + i, 0)).empty());
    EXPECT_TRUE(part(12, act(9, 0)).empty());  // eight are kept, of which none can be joined
    EXPECT_EQ(page.block_of(block), number);
    EXPECT_EQ(page.block_of(beside), std::nullopt);
    EXPECT_EQ(page.block_of(5), std::nullopt);
    page.take_back(number, act(2, 0), kNoAct);
    EXPECT_EQ(page.cell(block), (Cell{act(2, 0), kNoAct, kNoAct}));
    EXPECT_EQ(page.cell(beside), (Cell{act(1, 0), kNoAct, kNoAct}));
    for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(page.cell(5 + i), (Cell{act(3 + i, 0), kNoAct, kNoAct}));
  }
}

// Where there is room for no more parts, one that goes further than what is reached is not taken for it.
TEST(ShadowByHand, APartThatGoesFurtherIsNotWhatIsReached) {
  const auto page_of_eight = [] {
    ShadowPage page;
    for (uint32_t i = 0; i < 8; ++i) {
      const auto parts = page.parts(2 * i, 2 * i + 2);
      EXPECT_EQ(parts.size(), 1u);
      parts.front().write = act(i + 1, 0);
      parts.front().reads = kNoAct;
    }
    return page;
  };
  struct Case {
    uint64_t first, end;
    size_t parts;
  };
  for (const Case& c : {Case{0, 2, 1}, Case{6, 8, 1}, Case{14, 16, 1}, Case{0, 4, 2}, Case{4, 10, 3},
                        Case{0, 16, 8}, Case{0, 1, 0}, Case{1, 2, 0}, Case{1, 3, 0}, Case{0, 3, 0},
                        Case{1, 4, 0}, Case{8, 9, 0}, Case{9, 16, 0}, Case{5, 9, 0}, Case{15, 16, 0}}) {
    ShadowPage page = page_of_eight();
    const auto parts = page.parts(c.first, c.end);
    ASSERT_EQ(parts.size(), c.parts) << c.first << " " << c.end;
    uint64_t next = c.first;
    for (const ShadowPage::Row& part : parts) {
      EXPECT_EQ(part.first, next);
      next = part.end();
    }
    EXPECT_EQ(next, c.parts == 0 ? c.first : c.end);
    EXPECT_EQ(page.parts_there(16 * c.first, 16 * (c.end - c.first)).size(), c.parts)
        << c.first << " " << c.end;
    for (uint64_t i = 0; i < 16; ++i)
      EXPECT_EQ(page.cell(i).write, act(static_cast<uint32_t>(i / 2) + 1, 0))
          << c.first << " " << c.end << " " << i;
  }
}

// Each of many pages has its own.
TEST(ShadowByHand, OfMorePagesThanAreRememberedEachHasItsOwn) {
  Shadow shadow;
  constexpr uint32_t kPages = 5000;
  const auto each = [&](auto visit) {
    for (uint32_t round = 0; round < 2; ++round)
      for (uint32_t i = 0; i < kPages; ++i)
        shadow.each(
            256 * uint64_t{i} * 7, 16, [&](Cell& cell, uint64_t, uint64_t) { visit(cell, i, round); },
            [](uint64_t) { return false; });
  };
  each([](Cell& cell, uint32_t i, uint32_t round) {
    EXPECT_EQ(cell.write, round == 0 ? kNoAct : act(1 + i, 0));
    cell.write = act(1 + i, round);
  });
  for (uint32_t i = 0; i < kPages; ++i)
    EXPECT_EQ(cell_at(shadow, 256 * uint64_t{i} * 7).write, act(1 + i, 1));
  EXPECT_EQ(shadow.touched(), 256u * kPages);
}

// When lists of readers that no memory has any more go, those who read alone stay who they are, and lists
// that are left stay lists of the same, however a page keeps them.
TEST(ShadowByHand, ReadersStayWhoTheyAreWhenOtherListsGo) {
  enum class Kept : uint8_t { row, cells, part, block };
  for (const Kept kept : {Kept::row, Kept::cells, Kept::part, Kept::block})
    for (const int readers : {1, 2})
      for (const bool inside : {false, true}) {
        Trace t;
        uint64_t number = 0;
        const uint64_t at = inside ? shared(0, 0) : global(0);
        const bool copies = kept == Kept::part || kept == Kept::block;
        const auto reach = [&](int line, int warp, AccessKind kind) {
          const Who who{{}, warp, copies ? 1u : kAll};
          if (!copies) return t.access(line, who, kind, at, {}, 4, 4);
          std::vector<uint64_t> pieces;
          for (uint64_t i = 0; i < (kept == Kept::block ? 8 : 1); ++i) pieces.push_back(at + 512 * i);
          t.issues(line, who, ++number, machine::Ending::bulk_group);
          machine::Access a{
              kind, {Semantics::weak, Scope::cta, Proxy::async}, {}, warp, 0, number, 1, line, pieces, 128};
          a.issuer = 0;
          t.tell(who, a);
          t.meets(90, who, Sync::bulk_committed);
          t.meets(91, who, Sync::bulk_waited, 0);
        };
        if (kept == Kept::cells) t.read(50, {{}, 9, 1}, at + 128);  // a page of cells, and of 4 bytes each
        if (kept == Kept::cells) t.access(51, {{}, 9, 3}, AccessKind::read, at + 130, {}, 2, 2);
        for (int i = 1; i <= readers; ++i)
          for (int times = kept == Kept::block ? 3 : 1; times != 0; --times) reach(i, i, AccessKind::read);
        for (int i = 0; i < 600; ++i) {
          const uint64_t far = (inside ? global(1 << 20) : shared(0, 1 << 15)) + 4 * static_cast<uint64_t>(i);
          t.read(1000 + i, {{}, 10, 1}, far);
          t.read(2000 + i, {{}, 11, 1}, far);
        }
        reach(7, 0, AccessKind::write);
        Lines expected;
        for (int i = 1; i <= readers; ++i)
          expected.push_back((copies ? "operation-race " : "race ") + std::to_string(i) + " 7");
        EXPECT_EQ(t.kinds(), expected) << static_cast<int>(kept) << readers << inside;
      }
}

}  // namespace
}  // namespace bitwell::hazard::shadow_by_hand
