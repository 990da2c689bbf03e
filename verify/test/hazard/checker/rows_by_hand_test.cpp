// Rows by hand: of whom a read or a write of a whole row stands for lane by lane, and where each pair of a
// row is.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>

#include "trace.h"

namespace bitwell::hazard::rows_by_hand {
namespace {

constexpr uint32_t kLanes = machine::kLanes;

struct OfWarps : Trace {
  Who warp(int number) const { return {{}, number, kAll}; }
  void row(int line, int number, AccessKind kind, uint64_t at, uint64_t bytes = 4) {
    access(line, warp(number), kind, at, {}, bytes, bytes);
  }
  // How often each earlier line was found, of whatever kind.
  std::map<int, uint64_t> by_earlier() const {
    std::map<int, uint64_t> out;
    for (const Finding& f : checker.findings()) out[f.earlier.site.ptx_line] += f.count;
    return out;
  }
};

// A warp that knows of some lanes of another reads a row that those have read: its read stands for those that
// it knows, lane by lane. A write that nothing orders is a race with all that are left.
TEST(RowsByHand, AReadStandsForTheReadersThatItsLanesKnow) {
  for (const uint32_t known : {0u, 1u, 1u << 31, 0xFFFF0000u, 0x12345678u, ~1u, kAll})
    for (const bool counted : {false, true}) {
      OfWarps t;
      if (!counted) t.checker.keep(1000);
      t.row(1, 0, AccessKind::read, shared(0, 0));
      for (uint32_t i = 0; i < kLanes; ++i) {
        if ((known >> i & 1) == 0) continue;
        t.write(3, {{}, 0, 1u << i}, shared(0, 8192 + 8 * i), {Semantics::release, Scope::cta});
        t.read(4, {{}, 2, 1}, shared(0, 8192 + 8 * i), {Semantics::acquire, Scope::cta});
      }
      t.meets(5, t.warp(2), Sync::warp_met);
      t.row(6, 2, AccessKind::read, shared(0, 0));
      t.row(8, 3, AccessKind::write, shared(0, 0));
      std::map<int, uint64_t> expected{{6, kLanes}};
      if (known != kAll) expected[1] = static_cast<uint64_t>(kLanes - std::popcount(known));
      EXPECT_EQ(t.by_earlier(), expected) << std::hex << known;
    }
}

// A lane's later read stands for its earlier one; so in rows of one warp, whatever others have read.
TEST(RowsByHand, AWarpsLaterReadStandsForItsEarlierOne) {
  for (const bool others : {false, true})
    for (const bool knows : {false, true}) {  // something, of a warp that has nothing to do with it
      OfWarps t;
      if (knows) t.bar(9, {t.warp(0), t.warp(4)}, 1, 64);
      if (others) t.row(1, 1, AccessKind::read, shared(0, 0));
      t.row(2, 0, AccessKind::read, shared(0, 0));
      t.row(3, 0, AccessKind::read, shared(0, 0));
      t.row(8, 2, AccessKind::write, shared(0, 0));
      EXPECT_EQ(t.kinds(), others ? (Lines{"race 1 8", "race 3 8"}) : Lines{"race 3 8"}) << knows;
    }
}

// A write that is behind all who have read stands for them: whoever races with it, races with it alone. A
// warp's own reads since it last met others stay, as others may store what stands there.
TEST(RowsByHand, AWriteStandsForTheReadersThatItIsBehind) {
  for (const int readers : {1, 2, 3})
    for (const bool met : {false, true})
      for (const uint64_t bytes : {1, 4, 8}) {
        OfWarps t;
        for (int i = 1; i <= readers; ++i) t.row(i, i, AccessKind::read, shared(0, 256), bytes);
        if (met) t.bar(4, {t.warp(0), t.warp(1), t.warp(2), t.warp(3)}, 1, 128);
        t.row(5, 0, AccessKind::write, shared(0, 256), bytes);
        Lines expected;
        for (int i = 1; i <= readers && !met; ++i) expected.push_back("race " + std::to_string(i) + " 5");
        EXPECT_EQ(t.kinds(), expected);
        t.row(6, 4, AccessKind::write, shared(0, 256), bytes);
        expected.push_back("race 5 6");
        EXPECT_EQ(t.kinds(), expected) << readers << met << bytes;
      }
  for (const bool meets : {false, true}) {
    OfWarps t;
    t.row(1, 0, AccessKind::read, shared(0, 0));
    if (meets) t.meets(2, t.warp(0), Sync::warp_met);
    t.row(3, 0, AccessKind::write, shared(0, 0));
    t.row(6, 1, AccessKind::write, shared(0, 0));
    EXPECT_EQ(t.kinds(), meets ? Lines{"race 3 6"} : (Lines{"race 3 6", "race 1 6"}));
  }
}

// Of lanes that reach two cells each every cell has its pair, at its own address.
TEST(RowsByHand, PairsOfLanesWithSeveralCellsAreWhereTheCellsAre) {
  for (const uint64_t cell : {1, 2, 4}) {
    OfWarps t;
    t.checker.keep(1000);
    const uint64_t bytes = 2 * cell;
    t.row(1, 0, AccessKind::write, global(0), cell);  // whose page has cells of as many bytes
    t.row(2, 0, AccessKind::write, global(0), bytes);
    t.meets(3, t.warp(0), Sync::warp_met);
    t.row(4, 1, AccessKind::write, global(0), bytes);
    for (const Finding& f : t.checker.findings())
      ASSERT_TRUE(f.kind == Kind::race || f.kind == Kind::warp_race);
    const auto at = std::find_if(
        t.checker.findings().begin(), t.checker.findings().end(),
        [](const Finding& f) { return f.earlier.site.ptx_line == 2 && f.later.site.ptx_line == 4; });
    ASSERT_NE(at, t.checker.findings().end());
    ASSERT_EQ(at->met.size(), 2 * kLanes) << cell;
    for (uint32_t i = 0; i < at->met.size(); ++i) {
      EXPECT_EQ(at->met[i].address, global(cell * i));
      EXPECT_EQ(at->met[i].earlier.lane, static_cast<int>(i / 2));
      EXPECT_EQ(at->met[i].later.lane, static_cast<int>(i / 2));
    }
  }
}

// One instruction stores a row, and then one that begins some lanes further: each lane comes to what another
// one of its warp has stored.
TEST(RowsByHand, OneInstructionsRowsThatOverlapAreItsLanesRaces) {
  for (const uint32_t by : {0u, 1u, 7u, 31u, 32u})
    for (const bool forwards : {false, true})
      for (const size_t most : {size_t{0}, size_t{1000}}) {
        OfWarps t;
        t.checker.keep(most);
        const uint64_t low = global(0), high = global(4 * by);
        t.row(1, 0, AccessKind::write, forwards ? low : high);
        t.row(1, 0, AccessKind::write, forwards ? high : low);
        const uint32_t common = by == 0 ? 0 : kLanes - by;
        if (common == 0) {
          EXPECT_EQ(t.kinds(), Lines{});
          continue;
        }
        ASSERT_EQ(t.kinds(), Lines{"warp-race 1 1"}) << by;
        const Finding& f = t.checker.findings()[0];
        EXPECT_EQ(f.count, common);
        ASSERT_EQ(f.met.size(), most == 0 ? 0 : common);
        for (uint32_t i = 0; i < f.met.size(); ++i) {
          EXPECT_EQ(f.met[i].address, global(4 * (by + i)));
          EXPECT_EQ(f.met[i].later.lane, static_cast<int>(forwards ? i : by + i));
          EXPECT_EQ(f.met[i].earlier.lane, static_cast<int>(forwards ? by + i : i));
        }
      }
}

// Some lanes of a warp tell another one of what they did, without a release: of those it is that, of the
// others a race, however the row that comes to it is looked at.
TEST(RowsByHand, LanesThatToldWithoutAReleaseAreNamedForIt) {
  for (const uint32_t told : {0u, 1u, 2u, 1u << 31, 0xFFFEu, 0xFFFF0001u, kAll})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write})
      for (const size_t most : {size_t{0}, size_t{1000}}) {
        OfWarps t;
        t.checker.keep(most);
        t.row(1, 0, AccessKind::write, shared(0, 0));
        for (uint32_t i = 0; i < kLanes; ++i) {
          if ((told >> i & 1) == 0) continue;
          t.write(3, {{}, 0, 1u << i}, shared(0, 8192 + 8 * i), {Semantics::relaxed, Scope::cta});
          t.read(4, {{}, 1, 1}, shared(0, 8192 + 8 * i), {Semantics::acquire, Scope::cta});
        }
        t.meets(5, t.warp(1), Sync::warp_met);
        t.row(6, 1, kind, shared(0, 0));
        std::map<std::string_view, uint64_t> counts, expected;
        for (const Finding& f : t.checker.findings()) counts[row_of(f.kind).name] += f.count;
        if (told != 0) expected["release"] = static_cast<uint64_t>(std::popcount(told));
        if (told != kAll) expected["race"] = static_cast<uint64_t>(kLanes - std::popcount(told));
        EXPECT_EQ(counts, expected) << std::hex << told;
      }
}

// A copy over a row that another warp has read, of whose lanes its thread knows some, and some have fenced.
TEST(RowsByHand, ACopyOverReadersIsBehindThoseThatItsThreadKnows) {
  for (const uint32_t known : {0u, 1u, 2u, 1u << 31, 0xFFFF0000u, kAll})
    for (const uint32_t fenced : {0u, 1u, 2u, 0xF0F0u, kAll})
      for (const bool others : {false, true}) {  // that have read it too, and are not known
        OfWarps t;
        t.row(1, 0, AccessKind::read, shared(0, 0));
        if (others) t.row(2, 1, AccessKind::read, shared(0, 0));
        if (fenced != 0)
          t.meets(3, {{}, 0, fenced}, Sync::fence, machine::kFencesShared,
                  {Semantics::weak, Scope::cta, Proxy::async});
        for (uint32_t i = 0; i < kLanes; ++i) {
          if ((known >> i & 1) == 0) continue;
          t.write(3, {{}, 0, 1u << i}, shared(0, 8192 + 8 * i), {Semantics::release, Scope::cta});
          t.read(4, {{}, 2, 1}, shared(0, 8192 + 8 * i), {Semantics::acquire, Scope::cta});
        }
        t.issues(6, {{}, 2, 1}, 1, machine::Ending::bulk_group);
        t.operation(6, {{}, 2, 1}, 1, AccessKind::write, shared(0, 0), 128, Proxy::async, 0);
        std::map<std::string, uint64_t> counts, expected;
        for (const Finding& f : t.checker.findings())
          counts[std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line)] += f.count;
        const int apart = std::popcount(~known), unfenced = std::popcount(known & ~fenced);
        if (apart != 0) expected["operation-race 1"] = static_cast<uint64_t>(apart);
        if (unfenced != 0) expected["proxy-fence-war 1"] = static_cast<uint64_t>(unfenced);
        if (others) expected["operation-race 2"] = kLanes;
        EXPECT_EQ(counts, expected) << std::hex << known << " " << fenced << others;
      }
}

}  // namespace
}  // namespace bitwell::hazard::rows_by_hand
