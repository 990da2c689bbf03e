// By hand: what fences tell of threads' writes and of their copies, lanes of one operation that know
// different things, and who is left of several readers and of several who stored the same.
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "trace.h"

namespace bitwell::hazard::proxies_by_hand {
namespace {

constexpr Order kRelease{Semantics::release, Scope::cta}, kAcquire{Semantics::acquire, Scope::cta};
constexpr Order kAsync{Semantics::weak, Scope::cta, Proxy::async};

using Counts = std::map<std::string, uint64_t>;
struct Told : Trace {
  // "race 1 2", and behind it the side that lacks something.
  Counts counts() const {
    Counts out;
    for (const Finding& f : checker.findings())
      out[std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line) + " " +
          std::to_string(f.later.site.ptx_line) +
          (f.side == Side::either    ? ""
           : f.side == Side::earlier ? " earlier"
                                     : " later")] += f.count;
    return out;
  }
  void fence(int line, const Who& who) { meets(line, who, Sync::fence, machine::kFencesShared, kAsync); }
  void copy(int line, int warp, AccessKind kind, uint64_t at, uint64_t bytes) {
    const Who who{{}, warp, 1};
    issues(line, who, ++number_, machine::Ending::bulk_group);
    operation(line, who, number_, kind, at, bytes, Proxy::async, 0);
  }
  void tells(const Who& from, const Who& to, uint64_t flag) {
    write(80, from, shared(0, flag), kRelease);
    read(81, to, shared(0, flag), kAcquire);
  }
  uint64_t next() { return ++number_; }

 private:
  uint64_t number_ = 0;
};

void set_if(Counts& out, const std::string& what, int times) {
  if (times != 0) out[what] = static_cast<uint64_t>(times);
}

// fence.proxy.async tells operations of what its own lanes' cp.async have brought, of those that they have
// waited for: of two copies of each lane, the second one is waited for by some.
TEST(ProxiesByHand, AFenceTellsOfTheCopiesThatItsLanesHaveWaitedFor) {
  for (const uint32_t waited : {0u, 1u, 1u << 31, 0xFFFEu, 0x55555555u, kAll})
    for (const uint32_t fenced : {0u, 1u, 0xFFFF0000u, ~1u, kAll}) {
      Told t;
      const Who all{{}, 0, kAll};
      for (const int which : {0, 1}) {
        const uint64_t number = t.next();
        t.issues(1 + which, all, number, machine::Ending::copy_group);
        for (int lane = 0; lane < 32; ++lane)
          t.operation(1 + which, all, number, AccessKind::write,
                      shared(0, 1024u * static_cast<uint64_t>(which) + 4u * static_cast<uint64_t>(lane)), 4,
                      Proxy::generic, lane);
        t.meets(3, all, Sync::copies_committed);
        const uint32_t waits = which == 0 ? kAll : waited;
        if (waits != 0) t.meets(4, {{}, 0, waits}, Sync::copies_waited, 0);
      }
      if (fenced != 0) t.fence(5, {{}, 0, fenced});
      t.bar(6, {all, {{}, 1, kAll}});
      t.copy(10, 1, AccessKind::read, shared(0, 0), 128);
      t.copy(11, 1, AccessKind::read, shared(0, 1024), 128);
      Counts expected;
      set_if(expected, "proxy-fence 1 10 later", std::popcount(~fenced));
      set_if(expected, "operation-race 2 11", std::popcount(~waited));
      set_if(expected, "proxy-fence 2 11 later", std::popcount(waited & ~fenced));
      EXPECT_EQ(t.counts(), expected) << std::hex << waited << " " << fenced;
    }
}

// What a thread writes behind its fence is not told by it.
TEST(ProxiesByHand, AFenceTellsOfNothingBehindIt) {
  for (const uint32_t lanes : {1u, 1u << 31, kAll})
    for (const bool again : {false, true}) {
      Told t;
      const Who who{{}, 0, lanes};
      t.access(1, who, AccessKind::write, shared(0, 0), {}, 4, 4);
      t.fence(2, who);
      t.access(3, who, AccessKind::write, shared(0, 1024), {}, 4, 4);
      if (again) t.fence(4, who);
      t.bar(6, {{{}, 0, kAll}, {{}, 1, kAll}});
      t.copy(10, 1, AccessKind::read, shared(0, 0), 128);
      t.copy(11, 1, AccessKind::read, shared(0, 1024), 128);
      Counts expected;
      if (!again) set_if(expected, "proxy-fence 3 11", std::popcount(lanes));
      EXPECT_EQ(t.counts(), expected) << lanes;
    }
}

// Two lanes issue one operation, a piece each: each goes by what its own lane knows.
TEST(ProxiesByHand, PiecesOfTwoLanesGoByTheirOwnLane) {
  for (const uint32_t fenced : {0u, 1u, 2u, 3u})  // lanes that a fence of the reader's is told to
    for (const bool list : {false, true})         // another warp has read it too, fenced for both
      for (const bool second_first : {false, true}) {
        Told t;
        const Who reader{{}, 1, 1}, other{{}, 2, 1};
        if (list) {
          for (const uint64_t at : {0, 1024}) t.access(1, other, AccessKind::read, shared(0, at), {}, 16);
          t.fence(2, other);
          t.tells(other, {{}, 0, 3}, 4096);
        }
        for (const uint64_t at : {0, 1024}) t.access(3, reader, AccessKind::read, shared(0, at), {}, 16);
        for (const uint32_t lane : {0u, 1u})
          if ((fenced >> lane & 1) == 0) t.tells(reader, {{}, 0, 1u << lane}, 8192 + 64 * lane);
        t.fence(4, reader);
        for (const uint32_t lane : {0u, 1u})
          if ((fenced >> lane & 1) != 0) t.tells(reader, {{}, 0, 1u << lane}, 8192 + 64 * lane);
        const uint64_t number = t.next();
        t.issues(10, {{}, 0, 3}, number, machine::Ending::bulk_group);
        for (const int i : {0, 1}) {
          const int lane = second_first ? 1 - i : i;
          t.operation(10, {{}, 0, 3}, number, AccessKind::write,
                      shared(0, 1024u * static_cast<uint64_t>(lane)), 16, Proxy::async, lane);
        }
        Counts expected;
        set_if(expected, "proxy-fence-war 3 10", 2 - std::popcount(fenced));
        EXPECT_EQ(t.counts(), expected) << fenced << list << second_first;
      }
}

// Of a copy over readers that no fence has told of each cell's pair is kept.
TEST(ProxiesByHand, OfACopyOverReadersEachCellsPairIsKept) {
  for (const int readers : {1, 2})
    for (const size_t most : {size_t{0}, size_t{3}, size_t{1000}}) {
      Told t;
      t.checker.keep(most);
      for (int i = 1; i <= readers; ++i) t.access(i, {{}, i, kAll}, AccessKind::read, shared(0, 0), {}, 4, 4);
      t.bar(5, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
      t.copy(10, 0, AccessKind::write, shared(0, 0), 128);
      ASSERT_EQ(t.checker.findings().size(), static_cast<size_t>(readers));
      for (const Finding& f : t.checker.findings()) {
        EXPECT_EQ(f.count, 32u);
        ASSERT_EQ(f.met.size(), std::min<size_t>(most, 32));
        for (uint32_t i = 0; i < f.met.size(); ++i) {
          EXPECT_EQ(f.met[i].address, shared(0, 4 * i));
          EXPECT_EQ(f.met[i].earlier.lane, static_cast<int>(i));
        }
      }
    }
}

// Three have stored the same; who is behind the last of them alone races with the two before.
TEST(ProxiesByHand, WhoIsBehindTheLastEqualStoreRacesWithThoseBefore) {
  for (const uint32_t lane : {0u, 1u, 31u})
    for (const int stores : {1, 2, 3, 4}) {
      Told t;
      for (int i = 0; i < stores; ++i) t.stores_again(1 + i, {{}, i, 1u << lane}, shared(0, 0));
      const Who last{{}, stores - 1, 1u << lane}, reader{{}, 9, 1};
      t.tells(last, reader, 4096);
      t.read(20, reader, shared(0, 0));
      Counts expected;
      for (int i = 1; i < stores; ++i) {
        expected["equal-stores " + std::to_string(i) + " " + std::to_string(i + 1)] = 1;
        expected["race " + std::to_string(i) + " 20"] = 1;
      }
      EXPECT_EQ(t.counts(), expected) << lane << " " << stores;
    }
}

// All lanes of a warp know of what one of them has read, and read what their neighbours have: those that are
// not known stay.
TEST(ProxiesByHand, OfTheirNeighboursReadsThoseThatAreNotKnownStay) {
  for (const uint32_t lane : {1u, 2u, 5u, 31u})
    for (const bool others : {false, true}) {
      Told t;
      const Who all{{}, 0, kAll}, between{{}, 3, 1};
      if (others) t.access(1, {{}, 1, kAll}, AccessKind::read, shared(0, 0), {}, 4, 4);
      t.access(2, all, AccessKind::read, shared(0, 0), {}, 4, 4);
      t.tells({{}, 0, 1u << lane}, between, 4096);
      t.write(82, between, shared(0, 8192), kRelease);
      t.access(83, all, AccessKind::read, shared(0, 8192), kAcquire);
      t.access(4, all, AccessKind::read, shared(0, 4), {}, 4, 4);
      t.access(8, {{}, 2, kAll}, AccessKind::write, shared(0, 0), {}, 4, 4);
      Counts counts = t.counts();
      // The one that is known may have gone, the others may not.
      EXPECT_GE(counts["race 2 8"], 31u) << lane << others;
      EXPECT_EQ(counts["race 4 8"], 31u) << lane << others;
      EXPECT_EQ(counts["race 1 8"], others ? 32u : 0u) << lane;
    }
}

// An operation reads so many pieces, each read by two others, that lists go while it goes on: of each piece
// all three stay.
TEST(ProxiesByHand, ListsThatGoWhileAnOperationGoesOnTakeNobodyAlong) {
  constexpr uint64_t kPieces = 700;
  Told t;
  const auto at = [](uint64_t i) { return global(256 * i); };
  for (uint64_t i = 0; i < kPieces; ++i)
    for (const int warp : {1, 2}) t.copy(warp, warp, AccessKind::read, at(i), 16);
  const uint64_t number = t.next();
  t.issues(3, {{}, 3, 1}, number, machine::Ending::bulk_group);
  for (const int times : {0, 1})
    for (uint64_t i = 0; i < kPieces; ++i)
      t.operation(3, {{}, 3, 1}, number, AccessKind::read, at(times == 0 ? i : kPieces - 1 - i), 16,
                  Proxy::async, 0);
  for (uint64_t i = 0; i < kPieces; ++i) t.copy(4, 4, AccessKind::write, at(i), 16);
  EXPECT_EQ(t.counts(), (Counts{{"operation-race 1 4", kPieces},
                                {"operation-race 2 4", kPieces},
                                {"operation-race 3 4", kPieces}}));
}

}  // namespace
}  // namespace bitwell::hazard::proxies_by_hand
