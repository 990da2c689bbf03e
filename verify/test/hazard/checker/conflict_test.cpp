// Which of two accesses is an error that nothing orders, and as what it is found.
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard {
namespace {

constexpr Order kVolatile{Semantics::volatile_, Scope::sys, Proxy::generic};
constexpr Order kRelaxed{Semantics::relaxed, Scope::gpu, Proxy::generic};
constexpr Order kNonCoherent{Semantics::weak, Scope::cta, Proxy::non_coherent};

std::array<uint64_t, 32> addresses(std::initializer_list<uint64_t> those) {
  std::array<uint64_t, 32> out{};
  size_t i = 0;
  for (const uint64_t a : those) out[i++] = shared(0, a);
  return out;
}

// Two reads never race, nor do two strong accesses in each other's scope (PTX ISA 9.0, 8.7.1); all else does.
TEST(Conflicts, AreOfWritesAndOfWhatIsNotStrong) {
  constexpr AccessKind kKinds[] = {AccessKind::read, AccessKind::write, AccessKind::update};
  const Order orders[] = {{}, kRelaxed, {Semantics::acquire, Scope::sys, Proxy::generic}, kVolatile};
  for (const AccessKind first : kKinds)
    for (const AccessKind second : kKinds)
      for (const Order& a : orders)
        for (const Order& b : orders) {
          Trace t({2, 1, 1});
          t.access(10, {}, first, global(0), a);
          t.access(20, {{1, 0, 0}}, second, global(0), b);
          const bool both_read = first == AccessKind::read && second == AccessKind::read;
          const bool strong = a.semantics != Semantics::weak && b.semantics != Semantics::weak;
          EXPECT_EQ(t.kinds(), both_read || strong ? Lines{} : Lines{"race 10 20"});
        }
}

// Where lanes of one instruction write at one place the manual leaves it to one of them; what the same
// instruction wrote when it came before is another matter.
TEST(Conflicts, LanesOfOneInstructionMayWriteAtOnePlace) {
  struct Case {
    std::initializer_list<uint64_t> first;
    uint32_t first_lanes;
    std::initializer_list<uint64_t> again;
    uint32_t again_lanes;
    Lines found;
  };
  const std::string lanes = "warp-race 10 (0,0,0) w0 l0 | 10 (0,0,0) w0 l1 | shared 0 +";
  const Case cases[] = {
      {{0, 0}, 3, {}, 0, {}},                  // the same place
      {{0, 64, 0}, 7, {}, 0, {}},              // with another between
      {{0, 64, 0}, 5, {}, 0, {}},              // or with none
      {{0, 4}, 3, {}, 0, {}},                  // a part of it
      {{4, 0}, 3, {}, 0, {}},                  // before it
      {{0}, 1, {64, 0}, 3, {lanes + "0, 8"}},  // lane 0 came there before, and is elsewhere now
      {{0}, 1, {0, 0}, 2, {lanes + "0, 8"}},   // it does not come again
      {{0}, 1, {8, 0}, 3, {lanes + "0, 8"}},   // it is right behind
      {{8}, 1, {0, 8}, 3, {lanes + "8, 8"}},   // right before
      {{0}, 1, {4, 0}, 3, {lanes + "0, 4"}},   // at a part of it: the others it wrote before
      {{4}, 1, {0, 4}, 3, {lanes + "8, 4"}},
      {{0}, 1, {0, 0}, 3, {}},  // where it was
  };
  for (const Case& c : cases) {
    Trace t;
    t.access(10, {{}, 0, c.first_lanes}, AccessKind::write, addresses(c.first), {}, 8);
    if (c.again_lanes != 0)
      t.access(10, {{}, 0, c.again_lanes}, AccessKind::write, addresses(c.again), {}, 8);
    EXPECT_EQ(t.found(), c.found) << (&c - cases);
  }
  // Another instruction's write of another lane is a race, at the same place or not.
  Trace t;
  t.access(10, {{}, 0, 3}, AccessKind::write, addresses({0, 0}), {}, 4);
  t.access(11, {{}, 0, 2}, AccessKind::write, addresses({0, 0}), {}, 4);
  EXPECT_EQ(t.kinds(), Lines{"warp-race 10 11"});
}

// Threads that store equal bytes at one place, and nothing orders them: one of the two remains, as devices
// have it.
TEST(Conflicts, StoresOfEqualBytesAreNotes) {
  const Who a{{0, 0, 0}, 0, 1}, b{{0, 0, 0}, 1, 1};
  const uint64_t place = shared(0, 64);
  for (const Order& first : {Order{}, kRelaxed})
    for (const Order& second : {Order{}, kRelaxed}) {
      const bool strong = first.semantics == Semantics::relaxed && second.semantics == Semantics::relaxed;
      Trace t;
      t.write(10, a, place, first);
      t.stores_again(20, b, place, second);
      EXPECT_EQ(t.kinds(), strong ? Lines{} : Lines{"equal-stores 10 20"});
    }
  for (const Who& other : {Who{{0, 0, 0}, 0, 2}, b, Who{{1, 0, 0}, 0, 1}}) {  // of its warp, CTA, grid
    Trace t({2, 1, 1});
    t.write(10, a, global(64));
    t.stores_again(10, other, global(64));
    EXPECT_EQ(t.kinds(), Lines{"equal-stores 10 10"});
  }
  // One lane of several stores something else there: which of them remains is of the instruction.
  for (const uint32_t changing : {1u, 2u, 4u, 7u}) {
    Trace t;
    t.write(10, a, place);
    t.stores_again(20, {{}, 1, 7}, place, {}, changing);
    EXPECT_EQ(t.kinds(), Lines{"race 10 20"}) << changing;
    Trace apart;  // with a lane between that is elsewhere
    apart.write(10, a, place);
    std::array<uint64_t, machine::kLanes> those = addresses({64, 128, 64});
    machine::Access both{AccessKind::write, {}, {}, 1, 5 | 2, 0, 9, 20, those, 4};
    both.unchanged = 7 & ~changing;
    apart.tell(b, both);
    EXPECT_EQ(apart.kinds(), changing == 2 ? Lines{"equal-stores 10 20"} : Lines{"race 10 20"}) << changing;
  }
  // What is to order others, in too narrow a scope or without a release, stays what it is.
  Trace scope({2, 1, 1});
  const Order narrow{Semantics::relaxed, Scope::cta, Proxy::generic};
  scope.write(10, a, global(64), narrow);
  scope.stores_again(20, {{1, 0, 0}, 0, 1}, global(64), narrow);
  EXPECT_EQ(scope.kinds(), Lines{"scope 10 20"});
  // An operation's bytes and an atomic's count as any.
  Trace atomic;
  atomic.access(10, a, AccessKind::update, place, kRelaxed);
  atomic.stores_again(20, b, place);
  EXPECT_EQ(atomic.kinds(), Lines{"race 10 20"});
  Trace copy;
  copy.issues(9, a, 1, machine::Ending::copy_group);
  copy.operation(9, a, 1, AccessKind::write, place, 16, Proxy::generic);
  copy.stores_again(20, b, place);
  EXPECT_EQ(copy.kinds(), Lines{"operation-race 9 20"});
}

// Behind stores of equal bytes each of them counts: who comes next is to be behind all.
TEST(Conflicts, EachOfEqualStoresIsToBeOrderedBeforeWhatComesNext) {
  const Who a{{0, 0, 0}, 0, 1}, b{{0, 0, 0}, 1, 1}, c{{0, 0, 0}, 2, 1}, d{{0, 0, 0}, 3, 1};
  const uint64_t place = shared(0, 64);
  const Lines equal{"equal-stores 10 10", "equal-stores 10 10"};
  struct Case {
    std::vector<Who> meet;  // before d comes
    bool found;
  };
  for (const Case& m : {Case{{a, b, c, d}, false}, Case{{b, c, d}, true}, Case{{a, c, d}, true},
                        Case{{a, b, d}, true}, Case{{d}, true}})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
      Trace t;
      t.write(10, a, place);
      t.stores_again(10, b, place);
      t.stores_again(10, c, place);
      t.bar(30, m.meet, 1, 32 * static_cast<uint32_t>(m.meet.size()));
      t.access(40, d, kind, place);
      const Lines found = t.kinds();
      EXPECT_EQ(std::count(found.begin(), found.end(), "race 10 40"), m.found ? 1 : 0);
      EXPECT_EQ(std::count(found.begin(), found.end(), "equal-stores 10 10"), 1);
    }
  // A store of other bytes stands for those that it is behind, and for no other.
  Trace t;
  t.write(10, a, place);
  t.stores_again(11, b, place);
  t.bar(30, {b, c}, 1, 64);
  t.write(12, c, place);
  EXPECT_EQ(t.kinds(), (Lines{"equal-stores 10 11", "race 10 12"}));
  // A third that is behind the second, but not the first: it counts beside the first.
  Trace third;
  third.write(10, a, place);
  third.stores_again(11, b, place);
  third.bar(30, {b, c}, 1, 64);
  third.stores_again(12, c, place);
  third.bar(31, {c, d}, 2, 64);
  third.write(13, d, place);
  EXPECT_EQ(third.kinds(), (Lines{"equal-stores 10 11", "equal-stores 10 12", "race 10 13"}));
}

// Who reads a place beside a store is a race, though what is stored stands there: what stood there before may
// be what is read.
TEST(Conflicts, AReaderBesideEqualStoresIsARace) {
  const Who a{{0, 0, 0}, 0, 1}, b{{0, 0, 0}, 1, 1};
  const uint64_t place = shared(0, 64);
  Trace before;  // a reads and stores, b stores the same
  before.read(9, a, place);
  before.write(10, a, place);
  before.stores_again(10, b, place);
  EXPECT_EQ(before.kinds(), (Lines{"equal-stores 10 10", "race 9 10"}));
  Trace by_many;  // so do several of its warp
  by_many.access(9, {{}, 0, 15}, AccessKind::read, place);
  by_many.bar(8, {{{}, 0, 15}}, 2, 32);
  by_many.access(9, {{}, 0, 15}, AccessKind::read, place);
  by_many.write(10, a, place);
  by_many.stores_again(10, b, place);
  EXPECT_EQ(by_many.kinds(), (Lines{"warp-race 9 10", "equal-stores 10 10", "race 9 10"}));
  Trace beside_another;  // and where another warp's read before stands beside its own, of each lane its own
                         // place
  const Who all_of_a{{0, 0, 0}, 0, kAll}, all_of_b{{0, 0, 0}, 1, kAll}, third{{0, 0, 0}, 2, 1};
  beside_another.access(8, all_of_b, AccessKind::read, place, {}, 4, 4);
  beside_another.bar(7, {all_of_a, all_of_b}, 1, 64);
  beside_another.access(9, all_of_a, AccessKind::read, place, kRelaxed, 4, 4);
  beside_another.access(10, all_of_a, AccessKind::write, place, {}, 4, 4);
  beside_another.stores_again(10, third, place);
  EXPECT_EQ(beside_another.kinds(), (Lines{"equal-stores 10 10", "race 9 10"}));
  Trace between;
  between.write(10, a, place);
  between.read(11, a, place);
  between.stores_again(10, b, place);
  EXPECT_EQ(between.kinds(), (Lines{"equal-stores 10 10", "race 11 10"}));
  Trace behind;
  behind.write(10, a, place);
  behind.stores_again(10, b, place);
  behind.read(11, b, place);
  EXPECT_EQ(behind.kinds(), (Lines{"equal-stores 10 10", "race 10 11"}));
  Trace alone;  // a store of what stands there anyway, beside a reader
  alone.write(10, a, place);
  alone.bar(30, {a, b}, 1, 64);
  alone.read(11, a, place);
  alone.stores_again(12, b, place);
  EXPECT_EQ(alone.kinds(), Lines{"race 11 12"});
}

// Lanes that count on volatile accesses and lockstep: a lane reads what others stored by an instruction that
// it has executed with them, the last time that anybody came to it.
TEST(Conflicts, VolatileReadsOfLockstepAreNotes) {
  struct Case {
    Order stored, loaded;
    uint32_t stores, loads;
    AccessKind kind;
    int warp;
    bool note;
  };
  const Case cases[] = {
      {kVolatile, kVolatile, 0b11, 0b01, AccessKind::read, 0, true},
      {kVolatile, kVolatile, 0b11, 0b10, AccessKind::read, 0, false},  // its own
      {kVolatile, kVolatile, 0b10, 0b01, AccessKind::read, 0, false},  // it has not stored with the other
      {kVolatile, kVolatile, 0b11, 0b100, AccessKind::read, 0, false},
      {kVolatile, kVolatile, 0b111, 0b100, AccessKind::read, 0, true},
      {kVolatile, kVolatile, 0b11, 0b01, AccessKind::read, 1, false},  // another warp
      {kVolatile, kVolatile, 0b11, 0b01, AccessKind::write, 0, false},
      {kVolatile, kVolatile, 0b11, 0b01, AccessKind::update, 0, false},
      {kRelaxed, kVolatile, 0b11, 0b01, AccessKind::read, 0, false},
      {kVolatile, kRelaxed, 0b11, 0b01, AccessKind::read, 0, false},
      {kRelaxed, kRelaxed, 0b11, 0b01, AccessKind::read, 0, false},
  };
  for (const Case& c : cases) {
    Trace t;
    t.access(10, {{}, 0, c.stores}, AccessKind::write, shared(0, 0), c.stored, 4, 4);
    t.access(20, {{}, c.warp, c.loads}, c.kind, shared(0, 4), c.loaded);  // what lane 1 has stored
    EXPECT_EQ(t.kinds(), c.note ? Lines{"warp-lockstep 10 20"} : Lines{}) << (&c - cases);
  }
  // The instruction was executed again, by others: what is read is of another time.
  Trace again;
  again.access(10, {{}, 0, 0b11}, AccessKind::write, shared(0, 0), kVolatile, 4, 4);
  again.access(10, {{}, 0, 0b11}, AccessKind::write, shared(0, 64), kVolatile, 4, 4);
  again.read(20, {{}, 0, 1}, shared(0, 4), kVolatile);
  EXPECT_EQ(again.kinds(), Lines{});
  // A volatile load is no store, one of another line is another instruction.
  Trace load;
  load.access(10, {{}, 0, 0b10}, AccessKind::write, shared(0, 0), kVolatile, 4, 4);
  load.access(10, {{}, 0, 0b11}, AccessKind::read, shared(0, 64), kVolatile, 4, 4);
  load.access(12, {{}, 0, 0b11}, AccessKind::write, shared(0, 64), kVolatile, 4, 4);
  load.read(20, {{}, 0, 1}, shared(0, 4), kVolatile);
  EXPECT_EQ(load.kinds(), Lines{});
}

// A thread that has executed an atomic on a word has observed the atomics before it, and accesses the word
// behind them whoever's they are (causality order, PTX ISA 9.0, 8.9.5: observed, then in the order of the
// program or of a barrier); not behind those that come later.
TEST(Conflicts, WhoseAtomicHasObservedOthersIsBehindThem) {
  const Who a{{0, 0, 0}, 0, 1}, b{{1, 0, 0}, 0, 1}, mate{{1, 0, 0}, 1, 1};
  for (const AccessKind last : {AccessKind::read, AccessKind::write}) {
    const auto add = [](Trace& t, int line, const Who& who) {
      t.access(line, who, AccessKind::update, global(0), kRelaxed);
    };
    Trace before({2, 1, 1});
    add(before, 10, a);
    add(before, 11, b);
    before.access(20, b, last, global(0));
    EXPECT_EQ(before.kinds(), Lines{});
    Trace behind({2, 1, 1});
    add(behind, 11, b);
    add(behind, 10, a);
    behind.access(20, b, last, global(0));
    EXPECT_EQ(behind.kinds(), Lines{"race 10 20"});
    Trace by_another({2, 1, 1});  // who has observed it, and met the one that comes
    add(by_another, 11, b);
    add(by_another, 10, a);
    add(by_another, 12, mate);
    by_another.bar(15, {{b.cta, 0, kAll}, {b.cta, 1, kAll}});
    by_another.access(20, b, last, global(0));
    EXPECT_EQ(by_another.kinds(), Lines{});
  }
}

// A write behind a stronger one, or a weaker: what an atomic covers of what was there before it, a plain
// access still meets.
TEST(Conflicts, AWeakWriteIsNotForgottenBehindStrongOnes) {
  for (const uint32_t lane : {0u, 1u, 31u})
    for (const int others : {1, 2, 3}) {
      Trace t({9, 1, 1});
      t.write(10, {{0, 0, 0}, 0, 1u << lane}, global(0));
      for (int i = 1; i <= others; ++i)  // each races with the plain one, and with none of its kind
        t.access(20 + i, {{static_cast<uint32_t>(i), 0, 0}, 0, 1u << lane}, AccessKind::update, global(0),
                 kRelaxed);
      Lines races;
      for (int i = 1; i <= others; ++i)
        races.push_back("race 10 (0,0,0) w0 l" + std::to_string(lane) + " | " + std::to_string(20 + i) +
                        " (" + std::to_string(i) + ",0,0) w0 l" + std::to_string(lane) + " | global +0, 4");
      EXPECT_EQ(t.found(), races);
    }
  // By scope: what one of the CTA has written is raced with by all who are in another, however many of the
  // device have written since.
  Trace t({3, 1, 1});
  const Order cta{Semantics::relaxed, Scope::cta, Proxy::generic};
  t.write(10, {{0, 0, 0}, 0}, global(0), cta);
  t.write(11, {{0, 0, 0}, 0}, global(0), kRelaxed);
  t.write(20, {{1, 0, 0}, 0}, global(0), kRelaxed);
  t.write(30, {{2, 0, 0}, 0}, global(0), kRelaxed);
  EXPECT_EQ(t.kinds(), (Lines{"scope 10 20", "scope 10 30"}));
  // So are reads: a plain load before an atomic load of the same lane, and before another's.
  Trace reads({3, 1, 1});
  reads.read(10, {{0, 0, 0}, 0}, global(0));
  reads.read(11, {{0, 0, 0}, 0}, global(0), kRelaxed);
  reads.read(12, {{1, 0, 0}, 0}, global(0), kRelaxed);
  reads.write(20, {{2, 0, 0}, 0}, global(0), kRelaxed);
  reads.write(30, {{2, 0, 0}, 0}, global(0), kRelaxed);
  EXPECT_EQ(reads.kinds(), (Lines{"race 10 20", "race 10 30"}));
}

// Writes of ever wider scopes: the narrow ones are each raced with from outside, with their lanes.
TEST(Conflicts, EachNarrowWriteCountsBehindWiderOnes) {
  for (const uint32_t first : {0u, 5u, 31u})
    for (const uint32_t second : {0u, 6u}) {
      Trace t({4, 1, 1}, {2, 1, 1});
      const auto order = [](Scope s) { return Order{Semantics::relaxed, s, Proxy::generic}; };
      t.write(10, {{0, 0, 0}, 0, 1u << first}, global(0), order(Scope::cta));
      t.write(11, {{0, 0, 0}, 1, 1u << second}, global(0), order(Scope::cluster));
      t.write(12, {{0, 0, 0}, 2, 1}, global(0), order(Scope::gpu));
      t.write(20, {{2, 0, 0}, 0, 2}, global(0), order(Scope::gpu));
      const auto scope = [](int line, int warp, uint32_t lane) {
        return "scope " + std::to_string(line) + " (0,0,0) w" + std::to_string(warp) + " l" +
               std::to_string(lane) + " | 20 (2,0,0) w0 l1 | global +0, 4, earlier";
      };
      EXPECT_EQ(t.found(), (Lines{scope(10, 0, first), scope(11, 1, second)}));
    }
}

// All readers count, however many there are and whoever has read meanwhile: a write meets each that it is not
// behind.
TEST(Conflicts, EveryReaderCounts) {
  for (const int warps : {1, 2, 3, 17, 40})
    for (int missing = 0; missing <= warps; ++missing) {  // this one does not come to the barrier
      Trace t;
      std::vector<Who> meet{{{}, 100, kAll}};
      for (int w = 0; w < warps; ++w) {
        t.access(10 + w, {{}, w, 0x80000001}, AccessKind::read, shared(0, 0));
        if (w != missing) meet.push_back({{}, w, kAll});
      }
      t.bar(90, meet);
      t.write(91, {{}, 100, 1}, shared(0, 0));
      EXPECT_EQ(t.kinds(),
                missing == warps ? Lines{} : Lines{"race " + std::to_string(10 + missing) + " 91"});
    }
  // Of the lanes of one warp too.
  for (uint32_t missing = 0; missing <= 32; ++missing) {
    Trace t;
    t.access(10, {{}, 0, kAll}, AccessKind::read, shared(0, 0));
    const uint32_t lanes = missing == 32 ? kAll : ~(1u << missing);
    t.bar(20, {{{}, 0, lanes}, {{}, 1, kAll}});
    t.write(30, {{}, 1, 1}, shared(0, 0));
    t.write(31, {{}, 1, 1}, shared(0, 0));
    EXPECT_EQ(t.found(), missing == 32 ? Lines{}
                                       : Lines{"race 10 (0,0,0) w0 l" + std::to_string(missing) +
                                               " | 30 (0,0,0) w1 l0 | shared 0 +0, 4"});
  }
}

// The same of cells side by side, of which one has a reader more.
TEST(Conflicts, EachCellHasItsOwnReaders) {
  for (uint64_t odd = 0; odd < 8; ++odd) {
    Trace t;
    for (const int w : {0, 1}) t.access(10 + w, {{}, w, 1}, AccessKind::read, shared(0, 0), {}, 128);
    t.access(12, {{}, 2, 1}, AccessKind::read, shared(0, 16 * odd), {}, 16);
    t.bar(20, {{{}, 0, 1}, {{}, 1, 1}, {{}, 3, kAll}});
    t.access(30, {{}, 3, 0xFF}, AccessKind::write, shared(0, 0), {}, 16, 16);
    EXPECT_EQ(t.found(), Lines{"race 12 (0,0,0) w2 l0 | 30 (0,0,0) w3 l" + std::to_string(odd) +
                               " | shared 0 +" + std::to_string(16 * odd) + ", 16"});
  }
}

// --once: two threads that write a byte of global memory are found, ordered or not.
TEST(Conflicts, BytesWrittenTwiceAreFoundWhereTheyAreToBeWrittenOnce) {
  struct Case {
    Who first, second;
    AccessKind a, b;
    bool found;
  };
  using K = AccessKind;
  const Case cases[] = {
      {{{}, 0, 1}, {{}, 0, 1}, K::write, K::write, false},  // one thread
      {{{}, 0, 1}, {{}, 0, 2}, K::write, K::write, true},   // two lanes
      {{{}, 0, 2}, {{}, 1, 2}, K::write, K::write, true},   // one lane of two warps
      {{{}, 0, 1}, {{}, 1, 2}, K::write, K::write, true},
      {{{}, 0, 1}, {{}, 1, 1}, K::write, K::read, false},
      {{{}, 0, 1}, {{}, 1, 1}, K::read, K::write, false},
      {{{}, 0, 1}, {{}, 1, 1}, K::write, K::update, false},
  };
  for (const Case& c : cases)
    for (const bool once : {false, true})
      for (const bool in_global : {false, true}) {
        Trace t({1, 1, 1}, {1, 1, 1}, once);
        const uint64_t at = in_global ? global(4) : shared(0, 4);
        t.access(10, c.first, c.a, at);
        t.bar(15, {{{}, 0, kAll}, {{}, 1, kAll}});
        t.access(20, c.second, c.b, at);
        const auto lane = [](const Who& w) {
          return std::to_string(w.warp) + " l" + (w.lanes == 1 ? "0" : "1");
        };
        EXPECT_EQ(t.found(), once && in_global && c.found
                                 ? Lines{"written-twice 10 (0,0,0) w" + lane(c.first) + " | 20 (0,0,0) w" +
                                         lane(c.second) + " | global +4, 4"}
                                 : Lines{})
            << (&c - cases);
      }
}

// ld.global.nc of what the launch has written, and a write of what was loaded so: ordered or not.
TEST(Conflicts, LoadsPastTheCacheNeedMoreThanOrder) {
  for (const bool ordered : {false, true})
    for (const bool earlier_nc : {false, true})
      for (const bool later_nc : {false, true})
        for (const AccessKind a : {AccessKind::read, AccessKind::write})
          for (const AccessKind b : {AccessKind::read, AccessKind::write}) {
            if ((earlier_nc && a != AccessKind::read) || (later_nc && b != AccessKind::read)) continue;
            Trace t;
            t.access(10, {{}, 0, 1}, a, global(0), earlier_nc ? kNonCoherent : Order{});
            if (ordered) t.bar(15, {{{}, 0, kAll}, {{}, 1, kAll}});
            t.access(20, {{}, 1, 1}, b, global(0), later_nc ? kNonCoherent : Order{});
            const bool reads = a == AccessKind::read && b == AccessKind::read;
            const std::string kind = reads        ? ""
                                     : !ordered   ? "race"
                                     : later_nc   ? "non-coherent"
                                     : earlier_nc ? "non-coherent-war"
                                                  : "";
            EXPECT_EQ(t.kinds(), kind.empty() ? Lines{} : Lines{kind + " 10 20"});
          }
}

}  // namespace
}  // namespace bitwell::hazard
