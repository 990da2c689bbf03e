// Operations under way by hand: which CTA's mbarrier ends what, whose map is kept, and what one list of
// readers has in common with another that takes its number.
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard::operations_by_hand {
namespace {

constexpr Order kAcquire{Semantics::acquire, Scope::cta, Proxy::generic};
constexpr Triple kFirst{0, 0, 0}, kSecond{1, 0, 0};

// A cluster of two CTAs that have begun, with an mbarrier at the begin of either's shared memory.
struct OfTwo : Trace {
  OfTwo() : Trace({2, 1, 1}, {2, 1, 1}) {
    mbarrier(2, {kFirst, 0, 1}, AccessKind::write, shared(0, 0));
    mbarrier(2, {kSecond, 0, 1}, AccessKind::write, shared(1, 0));
    meet(1);
  }
  void meet(uint64_t phase) { cluster_bar(3, {{kFirst, 0, kAll}, {kSecond, 0, kAll}}, phase); }
  void over(uint32_t rank) {
    meets(0, {kFirst, 0, 0}, Sync::mbarrier_over, shared(rank, 0) - machine::kSharedWindow);
  }
  void wait(int line, const Who& who, uint32_t rank) {
    mbarrier(line, who, AccessKind::read, shared(rank, 0), kAcquire);
    meets(line, who, Sync::mbarrier_passed, shared(rank, 0) - machine::kSharedWindow, kAcquire);
  }
};

// A copy that writes in both CTAs at once, and only then completes in each: who has waited in one of them
// knows of what came there alone.
TEST(OperationsByHand, AMulticastIsOverInEachCtaByItsOwnMbarrier) {
  for (const uint32_t first : {0u, 1u})  // where it writes first
    for (const uint32_t waited : {0u, 1u})
      for (const uint32_t read : {0u, 1u}) {
        OfTwo t;
        const Who issuer{kFirst, 0, 1}, reader{kSecond, 0, 1};
        t.issues(10, issuer, 1, machine::Ending::mbarrier);
        for (const uint32_t rank : {first, 1 - first})
          t.operation(10, issuer, 1, AccessKind::write, shared(rank, 256), 64, Proxy::async, 0);
        for (const uint32_t rank : {0u, 1u}) t.completes(10, issuer, 1, shared(rank, 0), 0);
        for (const uint32_t rank : {0u, 1u}) t.over(rank);
        t.wait(20, reader, waited);
        t.read(30, reader, shared(read, 256));
        EXPECT_EQ(t.kinds(), waited == read ? Lines{} : Lines{"operation-race 10 30"})
            << first << waited << read;
      }
}

// A copy from a CTA's shared memory into the other's, which completes there: then it has read, too.
TEST(OperationsByHand, ACopyIntoThePeerHasReadWhenItIsOverThere) {
  for (const bool waits : {false, true})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
      OfTwo t;
      const Who issuer{kFirst, 0, 1}, other{kSecond, 0, 1};
      t.issues(10, issuer, 1, machine::Ending::mbarrier);
      t.operation(10, issuer, 1, AccessKind::read, shared(0, 256), 16, Proxy::async, 0);
      t.operation(10, issuer, 1, AccessKind::write, shared(1, 512), 16, Proxy::async, 0);
      t.completes(10, issuer, 1, shared(1, 0), 0);
      t.over(1);
      if (waits) t.wait(20, other, 1);
      t.meet(2);
      t.access(30, issuer, kind, shared(0, 256));
      EXPECT_EQ(t.kinds(), waits || kind == AccessKind::read ? Lines{} : Lines{"operation-race 10 30"});
    }
}

// A copy keeps the map that its own instruction has read, no other's of that lane.
TEST(OperationsByHand, ACopyWithoutAMapKeepsNoOther) {
  for (const int line : {10, 11}) {
    Trace t;
    const Who who{{}, 0, 1};
    t.read(10, who, global(0), {Semantics::weak, Scope::cta, Proxy::tensor_map});
    t.issues(line, who, 1, machine::Ending::bulk_group);
    t.operation(line, who, 1, AccessKind::write, global(4096), 16, Proxy::async, 0);
    t.meets(12, who, Sync::bulk_committed);
    t.write(20, who, global(64));
    EXPECT_EQ(t.kinds(), line == 10 ? Lines{"operation-race 10 20"} : Lines{});
  }
}

// What starts an MMA of a warpgroup is the next to reach memory; what comes behind it is not the MMA's.
TEST(OperationsByHand, ACopyBehindAnMmaIsNotTheMma) {
  for (const bool waited : {false, true}) {
    Trace t;
    const Who copier{{}, 4, 1};
    for (int warp = 0; warp < 4; ++warp) t.meets(10, {{}, warp, kAll}, Sync::mma_issued, 0);
    t.meets(10, {{}, 0, kAll}, Sync::mma_started, 0);
    t.operation(10, {{}, 0, kAll}, 1, AccessKind::read, shared(0, 256), 64, Proxy::async);
    for (int warp = 0; warp < 4; ++warp) {
      t.meets(11, {{}, warp, kAll}, Sync::mma_committed, 0);
      if (waited) t.meets(12, {{}, warp, kAll}, Sync::mma_waited, 0);
    }
    if (waited) {
      std::vector<Who> all;
      for (int warp = 0; warp < 5; ++warp) all.push_back({{}, warp, kAll});
      t.bar(13, all);
    }
    t.issues(20, copier, 2, machine::Ending::bulk_group);
    t.operation(20, copier, 2, AccessKind::write, shared(0, 256), 64, Proxy::async, 0);
    EXPECT_EQ(t.kinds(), waited ? Lines{} : Lines{"operation-race 10 20"});
  }
}

machine::Access pieces_of(int line, int warp, uint64_t number, AccessKind kind,
                          const std::vector<uint64_t>& at, uint64_t bytes) {
  machine::Access out{kind, {Semantics::weak, Scope::cta, Proxy::async}, {}, warp, 0, number, 1, line, at,
                      bytes};
  out.issuer = 0;
  return out;
}

// Of pieces that are kept as one each cell's pair of accesses is kept, where it is and of which piece.
TEST(OperationsByHand, PiecesThatAreKeptAsOneKeepEachCellsPair) {
  constexpr uint64_t kCount = 9, kBytes = 32, kApart = 128;
  std::vector<uint64_t> at;
  for (uint64_t i = 0; i < kCount; ++i) at.push_back(global(kApart * i));
  for (const int between : {-1, 0, 2}) {  // told at once; or by turns with so many accesses between
    for (const size_t most : {size_t{1000}, size_t{7}, size_t{0}}) {
      Trace t;
      t.checker.keep(most);
      uint64_t number = 0;
      const auto copy = [&](int line, int warp) {
        const Who who{{}, warp, 1};
        t.issues(line, who, ++number, machine::Ending::bulk_group);
        const machine::Access a = pieces_of(line, warp, number, AccessKind::write, at, kBytes);
        if (between < 0)
          t.tell(who, a);
        else
          t.tell(who, machine::ByTurns{{&a, 1}, static_cast<uint32_t>(between)});
        t.meets(line + 1, who, Sync::bulk_committed);
        t.meets(line + 2, who, Sync::bulk_waited, 0);
      };
      for (int i = 0; i < 3; ++i) copy(10, 0);
      EXPECT_EQ(t.kinds(), Lines{});
      copy(20, 1);
      ASSERT_EQ(t.kinds(), Lines{"operation-race 10 20"});
      const Finding& f = t.checker.findings()[0];
      EXPECT_EQ(f.count, kCount * kBytes / 16);
      const uint64_t turn = 1 + static_cast<uint64_t>(std::max(between, 0));
      const uint64_t first = 3 * (1 + turn * (kCount - 1)) + 1;  // accesses of the others come before
      ASSERT_EQ(f.met.size(), std::min<uint64_t>(most, f.count));
      for (uint64_t i = 0; i < f.met.size(); ++i) {
        EXPECT_EQ(f.met[i].address, global(kApart * (i / 2) + 16 * (i % 2))) << i;
        EXPECT_EQ(f.met[i].access, first + turn * (i / 2)) << i << " " << between;
      }
    }
  }
}

// Lists of readers that no memory has any more make room, and others take their numbers: what came of the
// ones does not come of the others, though the same operation goes on, or the same instruction of a warp.
TEST(OperationsByHand, WhatCameOfAListOfReadersIsOverWhenItsNumberIsAnothers) {
  for (const bool rows : {false, true}) {
    Trace t;
    uint64_t number = 0;
    const auto reads = [&](int line, int warp, uint64_t at) {
      if (rows) {
        t.access(line, {{}, warp, kAll}, AccessKind::read, at, {}, 4, 4);
        return;
      }
      const Who who{{}, warp, 1};
      t.issues(line, who, ++number, machine::Ending::bulk_group);
      t.tell(who, pieces_of(line, warp, number, AccessKind::read, {at}, 128));
    };
    // Lists of two, one behind the other: the second one's number is the first one's when that is gone.
    reads(1, 1, global(0));
    reads(2, 2, global(0));
    reads(3, 1, global(1024));
    reads(4, 2, global(1024));
    const Who writer{{}, 0, 1};
    const uint64_t own = ++number;
    if (!rows) t.issues(7, writer, own, machine::Ending::bulk_group);
    const auto writes = [&](uint64_t at) {
      if (rows)
        t.access(7, {{}, 0, kAll}, AccessKind::write, at, {}, 4, 4);
      else
        t.tell(writer, pieces_of(7, 0, own, AccessKind::write, {at}, 128));
    };
    writes(global(0));
    const char* const race = rows ? "race " : "operation-race ";
    const auto of = [&](int line) { return race + std::to_string(line) + " 7"; };
    EXPECT_EQ(t.kinds(), (Lines{of(1), of(2)}));
    // Others read elsewhere, by as many lists as make room.
    for (int i = 0; i < 600; ++i) {
      const uint64_t at = global(1 << 20 | 4 * static_cast<uint64_t>(i));
      t.read(1000 + i, {{}, 3, 1}, at);
      t.read(2000 + i, {{}, 4, 1}, at);
    }
    writes(global(1024));
    EXPECT_EQ(t.kinds(), (Lines{of(1), of(2), of(3), of(4)})) << rows;
    for (const Finding& f : t.checker.findings()) EXPECT_EQ(f.count, rows ? 32u : 8u) << rows;
  }
}

}  // namespace
}  // namespace bitwell::hazard::operations_by_hand
