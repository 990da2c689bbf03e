// What a turn reaches and what it is behind, event by event: two CTAs of eight warps in a cluster.
#include "model/explore/witness.h"

#include <gtest/gtest.h>

#include "model/machine/memory/memory.h"

namespace bitwell::explore {
namespace {

using machine::Access;
using machine::AccessKind;
using machine::Ending;
using machine::Synchronisation;
using Kind = Synchronisation::Kind;

constexpr uint32_t kWarps = 8;  // of a CTA
constexpr uint64_t kShared = machine::kSharedWindow;

run::Shape shape() {
  run::Shape out;
  out.grid = {4, 1, 1};
  out.cluster = {2, 1, 1};
  out.block = {32 * kWarps, 1, 1};
  return out;
}

class Turns : public testing::Test {
 protected:
  Witness witness{shape()};

  static machine::Event at(uint32_t rank, uint32_t warp, Kind kind, uint64_t which = 0, uint32_t amount = 0,
                           Ending ending = Ending::none) {
    Synchronisation s{};
    s.kind = kind;
    s.cta = {rank, 0, 0};
    s.warp = static_cast<int>(warp);
    s.lanes = ~0u;
    s.which = which;
    s.amount = amount;
    s.ending = ending;
    return {{}, s};
  }
  // By one lane.
  Footprint access(uint32_t rank, AccessKind kind, uint64_t address, uint64_t bytes, uint32_t rows = 0,
                   bool changed = true, bool mbarrier = false) {
    std::array<uint64_t, 32> addresses{};
    addresses.fill(~uint64_t{0});
    addresses[3] = address;
    Access a{};
    a.kind = kind;
    a.cta = {rank, 0, 0};
    a.lanes = 1u << 3;
    a.addresses = addresses;
    a.bytes = bytes;
    a.rows = rows;
    a.mbarrier = mbarrier;
    witness.begin({0, rank * kWarps, 0});
    witness.tell({{}, a});
    return witness.footprint(changed);
  }
  Footprint turn(uint32_t rank, uint32_t warp, const machine::Event& event, uint32_t cluster = 0) {
    witness.begin({cluster, rank * kWarps + warp, 0});
    witness.tell(event);
    return witness.footprint(true);
  }
  Footprint turn(uint32_t rank, uint32_t warp, Kind kind, uint64_t which = 0, uint32_t amount = 0) {
    return turn(rank, warp, at(rank, warp, kind, which, amount));
  }
  // That one was, with that clock; what it was behind.
  Clock passed(uint32_t warp, Kind kind, uint64_t which, const Clock& clock, uint32_t cluster = 0) {
    turn(warp / kWarps, warp % kWarps, at(warp / kWarps, warp % kWarps, kind, which), cluster);
    const Clock out = witness.gathered();
    witness.end(clock, true);
    return out;
  }
};

// Lanes, columns and the CTA, one by one.
TEST_F(Turns, MeetInTensorMemoryCellByCell) {
  const auto cell = [](uint64_t rank, uint64_t lane, uint64_t column) {
    return machine::kTensorWindow + (rank << 32) + (lane << 16) + column;
  };
  for (uint32_t of = 0; of < 2; ++of) {
    const Footprint stored = access(of, AccessKind::write, cell(of, 4, 8), 16, 4);
    for (uint32_t rank = 0; rank < 2; ++rank)
      for (uint64_t lane = 2; lane < 10; ++lane)
        for (uint64_t column = 6; column < 14; ++column) {
          const bool met = rank == of && lane >= 4 && lane < 8 && column >= 8 && column < 12;
          EXPECT_EQ(conflict(stored, access(rank, AccessKind::read, cell(rank, lane, column), 4, 1)), met);
          EXPECT_FALSE(conflict(access(of, AccessKind::read, cell(of, 4, 8), 16, 4),
                                access(rank, AccessKind::read, cell(rank, lane, column), 4, 1)));
        }
    // A wait is for the loads and stores of its CTA.
    for (const Kind wait : {Kind::tensor_loads_waited, Kind::tensor_stores_waited, Kind::tensor_loads_used})
      for (uint32_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(conflict(stored, turn(rank, 1, wait)), rank == of);
        EXPECT_FALSE(conflict(turn(rank, 1, wait), turn(of, 0, wait)));
      }
  }
}

TEST_F(Turns, OfAThreadsOwnMemoryReachNothing) {
  for (const uint64_t window : {machine::kLocalWindow, machine::kParamWindow, machine::kConstWindow})
    for (const uint64_t offset : {uint64_t{0}, machine::kWindowSize - 4})
      EXPECT_TRUE(access(0, AccessKind::write, window + offset, 4).empty());
  EXPECT_FALSE(access(0, AccessKind::write, kShared + machine::kWindowSize - 4, 4).empty());
  EXPECT_TRUE(
      conflict(access(0, AccessKind::write, 1 << 20, 4), access(1, AccessKind::read, (1 << 20) + 3, 4)));
}

// Who reaches another CTA's shared memory has it alive.
TEST_F(Turns, ReachAnotherCtaBeforeItEnds) {
  for (uint32_t from = 0; from < 2; ++from)
    for (uint32_t to = 0; to < 2; ++to) {
      const Footprint load =
          access(from, AccessKind::read, kShared + (uint64_t{to} << machine::kRankShift) + 64, 4);
      for (uint32_t ends = 0; ends < 2; ++ends)
        EXPECT_EQ(conflict(load, turn(ends, 0, Kind::exited)), from != to && ends == to);
    }
  EXPECT_FALSE(conflict(turn(0, 0, Kind::exited), turn(0, 1, Kind::exited)));
}

// A compare-and-swap that failed only read; a store wrote, though what it wrote stood there; and an arrival
// counts.
TEST_F(Turns, ThatChangedNothing) {
  for (const bool changed : {false, true}) {
    const Footprint update = access(0, AccessKind::update, 4096, 4, 0, changed);
    EXPECT_EQ(conflict(update, access(1, AccessKind::read, 4096, 4)), changed);
    EXPECT_EQ(conflict(update, update), changed);
    EXPECT_TRUE(conflict(update, access(1, AccessKind::write, 4096, 4)));
    EXPECT_TRUE(
        conflict(access(0, AccessKind::write, 4096, 4, 0, changed), access(1, AccessKind::read, 4096, 4)));
    EXPECT_FALSE(
        conflict(access(0, AccessKind::read, 4096, 4, 0, changed), access(1, AccessKind::read, 4096, 4)));
    EXPECT_TRUE(conflict(access(0, AccessKind::update, kShared + 64, 8, 0, changed, true),
                         access(0, AccessKind::read, kShared + 64, 8)));
  }
}

// Arrivals at a barrier commute, up to the one that ends its phase; barriers are those of a CTA.
TEST_F(Turns, AtBarriers) {
  for (const auto& [rank, number] : {std::pair{0u, 0u}, {0u, 1u}, {0u, 15u}, {1u, 0u}, {1u, 1u}, {1u, 15u}}) {
    witness.clear();
    turn(rank, 0, Kind::cta_arrived, number);  // a phase before
    witness.tell(at(rank, 0, Kind::cta_over, number));
    const Footprint first = turn(rank, 0, Kind::cta_arrived, number);
    std::map<std::pair<uint32_t, uint32_t>, Footprint> waiting;
    for (uint32_t r = 0; r < 2; ++r)
      for (const uint32_t n : {0u, 1u, 15u}) waiting[{r, n}] = turn(r, 2, Kind::cta_arrived, n);
    turn(rank, 1, Kind::cta_arrived, number);
    witness.tell(at(rank, 1, Kind::cta_over, number));
    const Footprint last = witness.footprint(true);
    EXPECT_FALSE(conflict(first, last));
    for (const auto& [place, other] : waiting) {
      EXPECT_FALSE(conflict(last, other));
      EXPECT_EQ(disturbs(last, other), place == std::pair(rank, number))
          << place.first << " " << place.second;
      EXPECT_FALSE(disturbs(first, other));
      const Footprint next = turn(place.first, 3, Kind::cta_arrived, place.second);
      EXPECT_EQ(conflict(last, next), place == std::pair(rank, number));
    }
  }
  // A warp that ends lets the others of its CTA go on: whoever else ends does so before or behind it alike.
  turn(0, 0, Kind::exited);
  witness.tell(at(0, 0, Kind::cta_over, 0));
  const Footprint ended = witness.footprint(true);
  EXPECT_FALSE(disturbs(ended, turn(0, 1, Kind::exited)));
  EXPECT_FALSE(conflict(turn(0, 0, Kind::cluster_arrived, 1), turn(1, 0, Kind::cluster_arrived, 1)));
  EXPECT_TRUE(conflict(turn(0, 0, Kind::cluster_arrived, 1), turn(1, 0, Kind::cluster_arrived, 2)));
}

// An operation's turn concerns who waits for it: its warp, or its warpgroup.
TEST_F(Turns, OfOperationsConcernWhoWaitsForThem) {
  for (const Ending ending :
       {Ending::copy_group, Ending::bulk_group, Ending::warpgroup, Ending::mbarrier, Ending::commit})
    for (uint32_t warp = 0; warp < 2 * kWarps; warp += 3) {
      witness.clear();
      turn(warp / kWarps, warp % kWarps, at(warp / kWarps, warp % kWarps, Kind::issued, 5, 0, ending));
      witness.end({}, true);
      witness.begin({0, warp, 1});
      const Footprint moved = witness.footprint(true);
      for (uint32_t other = 0; other < 2 * kWarps; ++other) {
        for (const Kind wait : {Kind::copies_waited, Kind::bulk_waited, Kind::bulk_read})
          EXPECT_EQ(conflict(moved, turn(other / kWarps, other % kWarps, wait)),
                    (ending == Ending::copy_group || ending == Ending::bulk_group) && other == warp);
        EXPECT_EQ(conflict(moved, turn(other / kWarps, other % kWarps, Kind::mma_waited)),
                  ending == Ending::warpgroup && other / 4 == warp / 4);
      }
      EXPECT_FALSE(conflict(moved, moved));
    }
}

TEST_F(Turns, OfTensorOperationsConcernTheirCta) {
  for (uint32_t a = 0; a < 2; ++a)
    for (uint32_t b = 0; b < 2; ++b) {
      for (const Ending ending : {Ending::commit, Ending::mbarrier})
        EXPECT_EQ(
            conflict(turn(a, 0, at(a, 0, Kind::issued, 1, 0, ending)), turn(b, 1, Kind::tensor_fence_after)),
            a == b && ending == Ending::commit);
      EXPECT_FALSE(conflict(turn(a, 0, at(a, 0, Kind::issued, 1, 0, Ending::commit)),
                            turn(b, 1, at(b, 1, Kind::issued, 2, 0, Ending::commit))));
      EXPECT_EQ(conflict(turn(a, 0, Kind::columns), turn(b, 1, Kind::columns)), a == b);
    }
  const Footprint emptied = turn(0, 0, Kind::emptied, 64, 16);
  for (uint64_t address = 60; address < 84; ++address)
    EXPECT_EQ(conflict(emptied, access(0, AccessKind::read, kShared + address, 1)),
              address >= 64 && address < 80);
}

// Columns that a pair gets together are both CTAs'; a CTA's own concern no other.
TEST_F(Turns, GetColumnsByThemselvesOrInPairs) {
  run::Shape four = shape();
  four.grid = four.cluster = {4, 1, 1};
  for (uint32_t a = 0; a < 4; ++a)
    for (uint32_t b = 0; b < 4; ++b)
      for (const uint32_t pairs : {0U, 1U, 2U}) {
        Witness w(four);
        const auto columns = [&](uint32_t rank, uint32_t warp, bool pair) {
          w.begin({0, rank * kWarps + warp, 0});
          w.tell(at(rank, warp, Kind::columns, 0, pair ? 32 : 0));
          return w.footprint(true);
        };
        const Footprint first = columns(a, 0, pairs != 0);
        EXPECT_EQ(conflict(first, columns(b, 1, pairs == 2)), pairs == 0 ? a == b : a / 2 == b / 2)
            << a << " " << b << " " << pairs;
      }
}

// A barrier for all of the CTA is behind those that have ended too; one that counts waits for who arrives.
TEST_F(Turns, BehindABarrierOfTheCtaAreThoseThatHaveEnded) {
  for (const uint32_t count : {0U, 64U}) {
    witness.clear();
    passed(3, Kind::exited, 0, {0, 0, 0, 9});
    turn(0, 0, Kind::cta_arrived, 1, count);
    witness.end({1}, true);
    turn(0, 1, Kind::cta_passed, 1, count);
    witness.end({}, true);
    EXPECT_EQ(witness.take_waiting({0, 1, 0}), count == 0 ? (Clock{1, 0, 0, 9}) : Clock{1}) << count;
  }
}

// Behind a barrier of the cluster is what arrived at it or at one before, and who has ended without.
TEST_F(Turns, BehindABarrierOfTheCluster) {
  passed(2, Kind::cta_over, 1, {0, 0, 3});  // of a CTA
  passed(0, Kind::cluster_arrived, 1, {1});
  passed(9, Kind::cluster_arrived, 1, {0, 2});
  EXPECT_EQ(passed(1, Kind::cluster_passed, 1, {}), (Clock{1, 2}));
  passed(9, Kind::exited, 0, {0, 7});
  EXPECT_EQ(passed(1, Kind::cluster_passed, 1, {}), (Clock{1, 2})) << "it had arrived, and ended later";
  passed(0, Kind::cluster_arrived, 2, {4});
  EXPECT_EQ(passed(1, Kind::cluster_passed, 1, {}), (Clock{1, 2}));
  EXPECT_EQ(passed(1, Kind::cluster_passed, 2, {}), (Clock{4, 7}));
  EXPECT_EQ(passed(1, Kind::cluster_passed, 2, {}, 1), Clock{}) << "of another cluster";
  witness.clear();
  EXPECT_EQ(passed(1, Kind::cluster_passed, 2, {}), Clock{}) << "of another run";
}

// wgmma reads its operands behind the issue of all four warps.
TEST_F(Turns, BehindTheIssueOfAWarpgroup) {
  for (uint32_t warp = 4; warp < 8; ++warp) {
    Clock clock(warp);
    clock.back() = warp;
    passed(warp, Kind::mma_issued, 3, clock);
  }
  EXPECT_EQ(passed(6, Kind::mma_started, 3, {}), (Clock{0, 0, 0, 4, 5, 6, 7}));
  EXPECT_EQ(passed(6, Kind::mma_started, 2, {}), Clock{});
  for (const uint32_t other : {0u, 9u, 14u}) EXPECT_EQ(passed(other, Kind::mma_started, 3, {}), Clock{});
  passed(6, Kind::exited, 0, {9});
  EXPECT_EQ(passed(6, Kind::mma_started, 0, {}), Clock{}) << "who ends has issued nothing by it";
}

// A warp that has read several places notices a change of each.
TEST_F(Turns, NoticeWhatOthersChangeOfWhatTheyRead) {
  struct Place {
    uint64_t address, bytes;
  };
  const Actor warp{0, 0, 0};
  for (const auto& [first, second, written] : {std::array<Place, 3>{{{64, 4}, {96, 4}, {96, 4}}},
                                               {{{96, 4}, {64, 4}, {64, 4}}},
                                               {{{64, 4}, {64, 8}, {68, 4}}},
                                               {{{64, 8}, {60, 8}, {60, 4}}},
                                               {{{kShared + 64, 4}, {64, 4}, {64, 4}}},
                                               {{{64, 4}, {kShared + 64, 4}, {kShared + 64, 4}}}}) {
    witness.clear();
    for (const Place& p : {first, second}) {
      access(0, AccessKind::read, p.address, p.bytes);
      witness.end({}, false);
    }
    EXPECT_EQ(witness.noticed(warp), 0u);
    access(1, AccessKind::read, written.address, written.bytes);
    witness.end({}, false);
    EXPECT_EQ(witness.noticed(warp), 0u);
    access(1, AccessKind::write, written.address, written.bytes);
    witness.end({}, true);
    EXPECT_EQ(witness.noticed(warp), 1u);
    access(1, AccessKind::write, 4096, 4);
    witness.end({}, true);
    EXPECT_EQ(witness.noticed(warp), 1u);
    witness.remembered(warp);
    access(1, AccessKind::write, written.address, written.bytes);
    witness.end({}, true);
    EXPECT_EQ(witness.noticed(warp), 1u) << "what it read before";
  }
}

}  // namespace
}  // namespace bitwell::explore
