// What operations leave in memory, by hand: who comes to it while it is under way, what pieces that are kept
// as one hold, and what an operation knows of those before it.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <utility>

#include "trace.h"

namespace bitwell::hazard::pieces_by_hand {
namespace {

constexpr Triple kFirst{0, 0, 0}, kSecond{1, 0, 0};

struct Copies : Trace {
  using Trace::Trace;
  // Bulk copies and others by lane 0 of a warp: of all these pieces at once.
  uint64_t issue(int line, int warp, machine::Ending ending) {
    issues(line, {{}, warp, 1}, ++number_, ending);
    return number_;
  }
  void reach(int line, int warp, uint64_t number, AccessKind kind, const std::vector<uint64_t>& at,
             uint64_t bytes) {
    machine::Access a{kind, {Semantics::weak, Scope::cta, Proxy::async}, {}, warp, 0, number, 1, line, at,
                      bytes};
    a.issuer = 0;
    tell({{}, warp, 1}, a);
  }
  void wait(int warp) {
    meets(90, {{}, warp, 1}, Sync::bulk_committed);
    meets(91, {{}, warp, 1}, Sync::bulk_waited, 0);
  }
  void copy(int line, int warp, AccessKind kind, const std::vector<uint64_t>& at, uint64_t bytes) {
    reach(line, warp, issue(line, warp, machine::Ending::bulk_group), kind, at, bytes);
    wait(warp);
  }
  void meet(const std::vector<int>& warps) {
    std::vector<Who> all;
    for (const int warp : warps) all.push_back({{}, warp, kAll});
    bar(92, all, 1, static_cast<uint32_t>(32 * all.size()));
  }
  std::map<std::string, uint64_t> counts() const {
    std::map<std::string, uint64_t> out;
    for (const Finding& f : checker.findings())
      out[std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line) + " " +
          std::to_string(f.later.site.ptx_line)] += f.count;
    return out;
  }

 private:
  uint64_t number_ = 0;
};
using Counts = std::map<std::string, uint64_t>;

// Lanes come to a row of what a copy brings that nobody has waited for.
TEST(PiecesByHand, ARowOfACopyUnderWayIsARace) {
  for (const AccessKind its : {AccessKind::read, AccessKind::write})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write})
      for (const uint64_t bytes : {4, 8, 16})     // a lane
        for (const bool knows : {false, true}) {  // something of the issuer's, from before
          Copies t;
          if (knows) t.meet({0, 3});
          const uint64_t number = t.issue(10, 3, machine::Ending::mbarrier);
          t.reach(10, 3, number, its, {shared(0, 0)}, 32 * bytes);
          if (knows) t.meet({0, 3});
          t.access(20, {{}, 0, kAll}, kind, shared(0, 0), {}, bytes, bytes);
          const bool reads = its == AccessKind::read && kind == AccessKind::read;
          EXPECT_EQ(t.kinds(), reads ? Lines{} : Lines{"operation-race 10 20"}) << bytes << knows;
        }
}

// Lanes that issue copies each know, for their own, what they know themselves.
TEST(PiecesByHand, CopiesOfAllLanesKnowWhatTheirLanesDo) {
  for (const uint32_t meets : {0u, kAll, 0xFFFFu})
    for (const uint64_t at : {shared(0, 0), global(0)}) {
      Copies t;
      t.access(5, {{}, 1, kAll}, AccessKind::write, at, {}, 4, 4);
      if (meets != 0) t.bar(6, {{{}, 1, kAll}, {{}, 2, meets}});
      t.issues(10, {{}, 2, kAll}, 100, machine::Ending::copy_group);
      for (int lane = 0; lane < 32; ++lane)
        t.operation(10, {{}, 2, kAll}, 100, AccessKind::write, at + 4 * static_cast<uint64_t>(lane), 4,
                    Proxy::generic, lane);
      const auto apart = static_cast<uint64_t>(32 - std::popcount(meets));
      EXPECT_EQ(t.counts(), apart == 0 ? Counts{} : (Counts{{"operation-race 5 10", apart}}));
    }
}

// A bulk copy names its lane, and what it is; so others.
TEST(PiecesByHand, AnOperationIsNamedForWhatItIs) {
  const std::pair<machine::Ending, Actor> all[] = {{machine::Ending::copy_group, Actor::copy},
                                                   {machine::Ending::bulk_group, Actor::bulk_copy},
                                                   {machine::Ending::mbarrier, Actor::mbarrier_copy},
                                                   {machine::Ending::commit, Actor::tcgen05}};
  for (const auto& [ending, actor] : all) {
    Copies t;
    t.reach(10, 3, t.issue(10, 3, ending), AccessKind::write, {global(0)}, 16);
    t.write(20, {{}, 0, 1}, global(0));
    ASSERT_EQ(t.kinds(), Lines{"operation-race 10 20"});
    EXPECT_EQ(t.checker.findings()[0].earlier.site.actor, actor) << static_cast<int>(ending);
  }
}

std::vector<uint64_t> pieces(uint64_t first, uint64_t apart, uint64_t count) {
  std::vector<uint64_t> out;
  for (uint64_t i = 0; i < count; ++i) out.push_back(first + apart * i);
  return out;
}

// One operation writes pieces that nobody has read, and others, which somebody has: what comes of the ones is
// not what comes of the others, in either order, kept as one or not.
TEST(PiecesByHand, PiecesThatWereReadAreNotThoseThatWereNot) {
  constexpr uint64_t kCount = 8, kBytes = 64, kCells = kCount * kBytes / 16;
  for (const int times : {1, 2, 3, 4})
    for (const bool read_first : {false, true})
      for (const bool by_turns : {false, true})
        for (const size_t most : {size_t{0}, size_t{5}, size_t{1000}}) {
          Copies t;
          t.checker.keep(most);
          const auto quiet = pieces(global(0), 256, kCount), read = pieces(global(1 << 16), 256, kCount);
          // The same operation writes both.
          const auto both = [&](int line, int warp, bool second_first) {
            const uint64_t number = t.issue(line, warp, machine::Ending::bulk_group);
            const auto &first = second_first ? read : quiet, &second = second_first ? quiet : read;
            if (by_turns) {
              std::array<machine::Access, 2> of;
              for (size_t i = 0; i < 2; ++i) {
                of[i] = {AccessKind::write,
                         {Semantics::weak, Scope::cta, Proxy::async},
                         {},
                         warp,
                         0,
                         number,
                         1,
                         line,
                         i == 0 ? first : second,
                         kBytes};
                of[i].issuer = 0;
              }
              t.tell({{}, warp, 1}, machine::ByTurns{of, 0});
            } else {
              t.reach(line, warp, number, AccessKind::write, first, kBytes);
              t.reach(line, warp, number, AccessKind::write, second, kBytes);
            }
            t.wait(warp);
          };
          for (int i = 0; i < times; ++i) both(10, 0, false);
          t.meet({0, 1});
          for (int i = 0; i < times; ++i) t.copy(15, 1, AccessKind::read, read, kBytes);
          EXPECT_EQ(t.counts(), Counts{});
          both(20, 2, read_first);
          EXPECT_EQ(t.counts(),
                    (Counts{{"operation-race 10 20", 2 * kCells}, {"operation-race 15 20", kCells}}))
              << times << read_first << by_turns << most;
          // And what stands there now is the last one's alone.
          t.copy(30, 4, AccessKind::write, quiet, kBytes);
          t.copy(31, 4, AccessKind::write, read, kBytes);
          Counts all = t.counts();
          EXPECT_EQ(all["operation-race 20 30"], kCells);
          EXPECT_EQ(all["operation-race 20 31"], kCells);
          EXPECT_EQ(all.size(), 4u);
        }
}

// Pieces of a page that hold the same become one, beside others that hold something else: those stay, and
// when somebody comes to one of them all are as they were.
TEST(PiecesByHand, WhatStandsBesidePiecesThatAreKeptAsOneStays) {
  constexpr uint64_t kCount = 8, kApart = 512;
  for (const uint64_t beside : {64, 192})             // in front of the pieces, or behind them
    for (const bool two_parts : {false, true})        // each piece was reached in halves
      for (const uint64_t touched : {0, 3, 7})        // of which piece's page
        for (const uint64_t at : {0, 64, 96, 192}) {  // what is reached there
          Copies t;
          const uint64_t base = global(0);
          const auto halves = [&](uint64_t half) { return pieces(base + 96 + 32 * half, kApart, kCount); };
          const auto whole = halves(0), others = pieces(base + beside, kApart, kCount);
          t.copy(1, 0, AccessKind::write, others, 16);
          if (two_parts) {
            t.copy(2, 0, AccessKind::write, halves(1), 32);
            t.copy(2, 0, AccessKind::write, halves(0), 32);
          }
          for (int i = 0; i < 3; ++i) t.copy(3, 0, AccessKind::write, whole, 64);
          t.meet({0, 1});
          for (int i = 0; i < 2; ++i) t.copy(4, 1, AccessKind::write, whole, 64);
          EXPECT_EQ(t.counts(), Counts{});
          // A thread that nothing orders behind them comes to a word.
          t.write(5, {{}, 2, 1}, base + touched * kApart + at);
          Counts expected;
          if (at == 96) expected["operation-race 4 5"] = 1;
          if (at == beside) expected["operation-race 1 5"] = 1;
          EXPECT_EQ(t.counts(), expected) << beside << two_parts << touched << at;
          // And a copy to all of them.
          t.copy(6, 3, AccessKind::write, whole, 64);
          t.copy(7, 3, AccessKind::write, others, 16);
          // The page of the word has cells of 4 bytes since.
          Counts got = t.counts();
          EXPECT_EQ(got["operation-race 1 7"], kCount + (at == beside ? 2 : 3))
              << beside << two_parts << touched << at;
          EXPECT_EQ(got["operation-race 5 7"], at == beside ? 1u : 0u);
          EXPECT_EQ(got["operation-race 4 6"], 4 * kCount + (at == 96 ? 11 : 12));
        }
}

// Each piece that an operation writes in a CTA that may not have begun is told.
TEST(PiecesByHand, EachPieceInACtaThatMayNotHaveBegunIsTold) {
  for (const bool begun : {false, true}) {
    Copies t({2, 1, 1}, {2, 1, 1});
    if (begun) t.cluster_bar(3, {{kFirst, 0, kAll}, {kFirst, 3, kAll}, {kSecond, 0, kAll}}, 1);
    for (int i = 0; i < 3; ++i) {
      const uint64_t number = t.issue(10, 3, machine::Ending::mbarrier);
      t.reach(10, 3, number, AccessKind::write, pieces(shared(1, 0), 256, 3), 32);
      t.reach(10, 3, number, AccessKind::write, pieces(shared(0, 0), 256, 3), 32);
    }
    Counts expected{{"operation-race 10 10", 2 * 2 * 3 * 2}};
    if (!begun) expected["cluster-start 10 10"] = 9;
    EXPECT_EQ(t.counts(), expected);
  }
}

}  // namespace
}  // namespace bitwell::hazard::pieces_by_hand
