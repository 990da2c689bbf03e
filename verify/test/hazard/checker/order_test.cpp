// What puts the acts of one thread before those of another: barriers, messages through words and mbarriers,
// waits for groups of copies (PTX ISA 9.0, 8.8, 9.7.9.25 and 9.7.13).
#include <gtest/gtest.h>

#include <bit>

#include "trace.h"

namespace bitwell::hazard {
namespace {

TEST(Orders, TheCheckAsksForAccessesAlone) {
  Trace t;
  const machine::Observer o = t.checker.observer();
  EXPECT_TRUE(o.accesses);
  EXPECT_FALSE(o.steps);
  EXPECT_TRUE(o.lines.empty());
}

// A barrier orders those who arrive before those who wait at it, and nobody else; the next use is another.
TEST(Orders, ABarrierIsOfWhoArrivesAndWhoWaits) {
  const Who writer{{}, 0, 1}, reader{{}, 1, 2}, other{{}, 2, 4};
  for (const Who& last : {reader, other, writer})
    for (const uint64_t passed : {0ul, 3ul, 15ul}) {
      Trace t;
      t.write(10, writer, shared(0, 0));
      t.meets(20, {{}, 0, kAll}, Sync::cta_arrived, 3);  // bar.arrive: it does not wait
      t.meets(20, {{}, 1, kAll}, Sync::cta_arrived, 3);
      t.meets(20, {{}, 1, kAll}, Sync::cta_passed, passed);
      t.meets(0, {{}, 1, 0}, Sync::cta_over, passed);
      t.write(30, last, shared(0, 0));
      const bool behind = last.warp == 0 || (last.warp == 1 && passed == 3);
      EXPECT_EQ(t.kinds(), behind ? Lines{} : Lines{"race 10 30"});
    }
  // Those that are told together, and nobody else.
  for (const uint32_t warps : {0b110u, 0b010u, 0b100u}) {
    Trace t;
    t.write(10, writer, shared(0, 0));
    for (const int warp : {0, 1, 2}) t.meets(20, {{}, warp, kAll}, Sync::cta_arrived, 0);
    auto passed = t.sync(20, {{}, std::countr_zero(warps), kAll}, Sync::cta_passed, 0);
    passed.amount = warps;
    t.add({{}, passed.warp, kAll}, passed);
    Lines races;
    for (const int warp : {1, 2}) {
      t.read(30 + warp, {{}, warp, 1}, shared(0, 0));
      if ((warps >> warp & 1) == 0) races.push_back("race 10 " + std::to_string(30 + warp));
    }
    EXPECT_EQ(t.kinds(), races) << warps;
  }
  // What comes behind the arrival is not before the wait.
  Trace late;
  late.meets(20, {{}, 0, kAll}, Sync::cta_arrived, 0);
  late.write(22, writer, shared(0, 0));
  late.meets(20, {{}, 1, kAll}, Sync::cta_arrived, 0);
  late.meets(20, {{}, 1, kAll}, Sync::cta_passed, 0);
  late.read(30, reader, shared(0, 0));
  EXPECT_EQ(late.kinds(), Lines{"race 22 30"});
  // A barrier that is over has nothing more to say: who comes to it the next time is not behind the last.
  Trace over;
  over.write(10, writer, shared(0, 0));
  over.bar(20, {{{}, 0, kAll}, {{}, 1, kAll}});
  over.bar(21, {{{}, 2, kAll}, {{}, 3, kAll}});
  over.read(30, {{}, 2, 1}, shared(0, 0));
  EXPECT_EQ(over.kinds(), Lines{"race 10 30"});
  // Each CTA of a cluster has its own of each number.
  Trace ctas({2, 1, 1}, {2, 1, 1});
  ctas.cluster_bar(5, {{{0, 0, 0}, 0, kAll}, {{1, 0, 0}, 0, kAll}}, 1);
  ctas.write(10, {{0, 0, 0}, 0, 1}, global(0));
  ctas.meets(20, {{0, 0, 0}, 0, kAll}, Sync::cta_arrived, 0);
  ctas.bar(21, {{{1, 0, 0}, 0, kAll}});
  ctas.read(30, {{1, 0, 0}, 0, 1}, global(0));
  EXPECT_EQ(ctas.kinds(), Lines{"race 10 30"});
}

// Lanes that look together are an access each, of one that knows of the mbarrier and of one that does not.
TEST(Orders, LanesThatLookTogetherComeToWhatEachByItselfDoes) {
  constexpr Order acquire{Semantics::acquire, Scope::cta, Proxy::generic};
  for (const uint32_t lanes : {kAll, 0xFFFF0000u, 6u})
    for (const uint32_t knows : {0u, 0xFFu, kAll}) {
      std::vector<std::string> found[2];
      uint64_t access[2];
      for (const bool together : {false, true}) {
        Trace t;
        t.checker.keep(100);
        const uint64_t at = shared(0, 64);
        t.mbarrier(5, {{}, 0, 1}, AccessKind::write, at);
        if (knows != 0) t.meets(6, {{}, 0, knows}, Sync::warp_met);
        if (together) {
          std::array<uint64_t, machine::kLanes> addresses{};
          addresses.fill(at);
          machine::Access a{AccessKind::read, acquire, {}, 0, lanes, 0, 1, 10, addresses, 8, true};
          t.tell({{}, 0, lanes}, a);
        } else {
          t.mbarrier(10, {{}, 0, lanes}, AccessKind::read, at, acquire);
        }
        t.meets(20, {{}, 0, ~std::bit_floor(lanes)}, Sync::cta_arrived, 0);
        t.meets(20, {{}, 1, kAll}, Sync::cta_passed, 0);
        t.mbarrier(30, {{}, 1, 1}, AccessKind::update, at);  // it ends, though the last lane may look at it
        found[together ? 1 : 0] = t.found();
        EXPECT_EQ(t.kinds().back(), "mbarrier-reuse 10 30");
        access[together ? 1 : 0] = t.checker.findings().back().met.front().access;
      }
      EXPECT_EQ(found[0], found[1]) << lanes << " " << knows;
      EXPECT_EQ(access[0], access[1]) << lanes << " " << knows;
    }
}

// Lane 1 alone has waited for a copy: another one of its own, whoever issues that with it, is behind it.
TEST(Orders, AnOperationIsBehindWhatItsLaneHasWaitedFor) {
  for (const bool bulk : {false, true})
    for (const uint32_t lanes : {0b10u, 0b11u}) {
      if (bulk && lanes != 0b10u) continue;  // one lane issues such
      Trace t;
      const auto copy = [&](int line, uint32_t by, uint64_t number) {
        t.issues(line, {{}, 0, by}, number, bulk ? machine::Ending::bulk_group : machine::Ending::copy_group);
        t.operation(line, {{}, 0, by}, number, AccessKind::write, shared(0, 0), 16,
                    bulk ? Proxy::async : Proxy::generic, 1);
      };
      copy(10, 0b10u, 1);
      t.meets(11, {{}, 0, 0b10u}, bulk ? Sync::bulk_committed : Sync::copies_committed);
      t.meets(12, {{}, 0, 0b10u}, bulk ? Sync::bulk_waited : Sync::copies_waited, 0);
      copy(20, lanes, 2);
      EXPECT_EQ(t.kinds(), Lines{}) << bulk << lanes;
    }
}

// Who has been found to be behind something is not behind all else (what was found last is remembered while
// one event is told).
TEST(Orders, BeingBehindOneSaysNothingOfAnother) {
  Trace t;
  t.write(10, {{}, 0, 1}, shared(0, 0));
  t.write(11, {{}, 1, 1}, shared(0, 64));
  t.bar(20, {{{}, 1, kAll}, {{}, 2, kAll}});
  t.read(30, {{}, 2, 1}, shared(0, 64));
  t.read(31, {{}, 2, 1}, shared(0, 0));
  EXPECT_EQ(t.kinds(), Lines{"race 10 31"});
  Trace readers;
  for (const int w : {0, 1}) readers.read(10 + w, {{}, w, 1}, shared(0, 0));
  for (const int w : {2, 3}) readers.read(10 + w, {{}, w, 1}, shared(0, 64));
  readers.bar(20, {{{}, 2, kAll}, {{}, 3, kAll}, {{}, 4, kAll}});
  readers.write(30, {{}, 4, 1}, shared(0, 64));
  readers.write(31, {{}, 4, 1}, shared(0, 0));
  EXPECT_EQ(readers.kinds(), (Lines{"race 10 31", "race 11 31"}));
}

// What one lane of a warp knows, or has waited for, goes for its own reads alone.
TEST(Orders, AReadStandsForWhatItsOwnLaneIsBehind) {
  constexpr uint64_t kApart = 16;
  const auto written = [](Trace& t) {  // by who is behind warp 1 and 3
    t.bar(40, {{{}, 1, kAll}, {{}, 2, kAll}, {{}, 3, kAll}});
    for (uint32_t lane = 0; lane < 2; ++lane)
      t.write(50 + static_cast<int>(lane), {{}, 2, 1}, shared(0, kApart * lane));
  };
  for (const uint32_t knows : {0u, 1u}) {
    Trace t;
    t.access(10, {{}, 0, 3}, AccessKind::read, shared(0, 0), {}, 4, kApart);
    t.access(11, {{}, 3, 3}, AccessKind::read, shared(0, 0), {}, 4, kApart);
    t.write(20, {{}, 0, 1u << knows}, shared(0, 1024), {Semantics::release, Scope::cta});
    t.read(21, {{}, 1, 1u << knows}, shared(0, 1024), {Semantics::acquire, Scope::cta});
    t.access(30, {{}, 1, 3}, AccessKind::read, shared(0, 0), {}, 4, kApart);
    written(t);
    EXPECT_EQ(t.kinds(), Lines{knows == 0 ? "race 10 51" : "race 10 50"});
  }
  for (const uint32_t waits : {0u, 1u}) {
    Trace t;
    t.access(11, {{}, 3, 3}, AccessKind::read, shared(0, 0), {}, 4, kApart);
    const Who both{{}, 1, 3};
    t.issues(12, both, 1, machine::Ending::copy_group);
    for (const int lane : {0, 1})
      t.operation(12, both, 1, AccessKind::read, shared(0, kApart * static_cast<uint64_t>(lane)), 4,
                  Proxy::generic, lane);
    t.meets(13, both, Sync::copies_committed);
    t.meets(20, {{}, 1, 1u << waits}, Sync::copies_waited, 0);
    t.access(30, {{}, 1, 3}, AccessKind::read, shared(0, 0), {}, 4, kApart);
    written(t);
    EXPECT_EQ(t.kinds(), Lines{waits == 0 ? "operation-race 12 51" : "operation-race 12 50"});
  }
}

// bar.warp.sync orders the lanes that meet; a match orders no memory.
TEST(Orders, LanesMeet) {
  for (const uint64_t match : {0ul, 1ul})
    for (const uint32_t lanes : {0b01u, 0b10u, 0b11u, kAll}) {
      Trace t;
      t.write(10, {{}, 0, 1}, shared(0, 0));
      t.meets(20, {{}, 0, lanes}, Sync::warp_met, match);
      t.read(30, {{}, 0, 2}, shared(0, 0));
      EXPECT_EQ(t.kinds(), match == 0 && (lanes & 3) == 3 ? Lines{} : Lines{"warp-race 10 30"});
    }
}

// Two instructions for one barrier of all threads are a note, of the first to come and each that differs.
TEST(Orders, ABarrierOfAllThreadsIsMetAtOneLine) {
  for (const uint32_t amount : {0u, 64u}) {
    Trace t({2, 1, 1}, {2, 1, 1});
    const auto arrive = [&](int line, const Who& who, uint64_t number) {
      auto s = t.sync(line, who, Sync::cta_arrived, number);
      s.amount = amount;
      t.add(who, s);
    };
    arrive(10, {{0, 0, 0}, 0, 0b1000}, 3);
    arrive(10, {{0, 0, 0}, 1, kAll}, 3);
    arrive(11, {{1, 0, 0}, 1, kAll}, 3);  // of the other CTA
    arrive(12, {{0, 0, 0}, 1, kAll}, 2);  // another barrier
    EXPECT_EQ(t.found(), Lines{});
    arrive(13, {{0, 0, 0}, 2, 0b110000}, 3);
    EXPECT_EQ(t.found(),
              amount != 0 ? Lines{} : Lines{"barrier-lines 10 (0,0,0) w0 l3 | 13 (0,0,0) w2 l4 | barrier 3"});
    Trace again;
    again.bar(10, {{{}, 0, kAll}, {{}, 1, kAll}}, 3, amount);
    again.bar(11, {{{}, 0, kAll}, {{}, 1, kAll}}, 3, amount);
    EXPECT_EQ(again.found(), Lines{});
  }
}

enum class Send : uint8_t { release, acq_rel, sc, fenced, fenced_sc, relaxed };
enum class Get : uint8_t { acquire, acq_rel, sc, fenced, fenced_sc, relaxed };

// One thread writes and raises a flag, another sees the flag and reads: right where the flag is released and
// acquired, by the access itself or by a fence and a relaxed one, in scopes that have both threads.
TEST(Orders, AMessageIsReleasedAndAcquired) {
  constexpr Send kSends[] = {Send::release, Send::acq_rel,   Send::sc,
                             Send::fenced,  Send::fenced_sc, Send::relaxed};
  constexpr Get kGets[] = {Get::acquire, Get::acq_rel, Get::sc, Get::fenced, Get::fenced_sc, Get::relaxed};
  constexpr Scope kScopes[] = {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys};
  const std::pair<Who, Scope> readers[] = {
      {{{0, 0, 0}, 1, 4}, Scope::cta}, {{{1, 0, 0}, 0, 4}, Scope::cluster}, {{{2, 0, 0}, 0, 4}, Scope::gpu}};
  const Who writer{{0, 0, 0}, 0, 2};
  for (const auto& [reader, needed] : readers)
    for (const Send send : kSends)
      for (const Get get : kGets)
        for (const Scope a : kScopes)
          for (const Scope b : kScopes) {
            Trace t({4, 1, 1}, {2, 1, 1});
            const auto fence = [&](const Who& who, Semantics s, Scope scope) {
              t.meets(15, who, Sync::fence, 0, {s, scope, Proxy::generic});
            };
            t.write(10, writer, global(0));
            if (send == Send::fenced) fence(writer, Semantics::acq_rel, a);
            if (send == Send::fenced_sc) fence(writer, Semantics::sc, a);
            // The flag itself is of all, where a fence has the scope.
            const bool by_fence = send == Send::fenced || send == Send::fenced_sc;
            const Semantics of_store = send == Send::release   ? Semantics::release
                                       : send == Send::acq_rel ? Semantics::acq_rel
                                       : send == Send::sc      ? Semantics::sc
                                                               : Semantics::relaxed;
            const bool update = send == Send::acq_rel || send == Send::sc;
            t.access(20, writer, update ? AccessKind::update : AccessKind::write, global(64),
                     {of_store, by_fence || send == Send::relaxed ? Scope::gpu : a, Proxy::generic});
            const bool get_by_fence = get == Get::fenced || get == Get::fenced_sc;
            const Semantics of_load = get == Get::acquire   ? Semantics::acquire
                                      : get == Get::acq_rel ? Semantics::acq_rel
                                      : get == Get::sc      ? Semantics::sc
                                                            : Semantics::relaxed;
            const bool adds = get == Get::acq_rel || get == Get::sc;
            t.access(30, reader, adds ? AccessKind::update : AccessKind::read, global(64),
                     {of_load, get_by_fence || get == Get::relaxed ? Scope::gpu : b, Proxy::generic});
            if (get == Get::fenced) fence(reader, Semantics::acq_rel, b);
            if (get == Get::fenced_sc) fence(reader, Semantics::sc, b);
            t.read(40, reader, global(0));
            const bool sends = send != Send::relaxed, gets = get != Get::relaxed;
            const bool a_has = a >= needed, b_has = b >= needed;
            bool found = false;
            std::string said;
            for (const Finding& f : t.checker.findings())
              if (f.earlier.site.ptx_line == 10) {
                found = true;
                said = std::string(row_of(f.kind).name) + (f.side == Side::earlier ? ", earlier"
                                                           : f.side == Side::later ? ", later"
                                                                                   : "");
              }
            const bool right = sends && gets && a_has && (b_has || get_by_fence);
            const std::string where = std::to_string(int(send)) + " " + std::to_string(int(get)) + " " +
                                      std::to_string(int(a)) + " " + std::to_string(int(b)) + " " +
                                      std::to_string(int(needed));
            if (get_by_fence && !b_has) continue;  // a fence too narrow behind the load: not told apart
            EXPECT_EQ(found, !right) << said << " " << where;
            if (sends && gets && !right && !by_fence && !get_by_fence) {
              EXPECT_EQ(said, a_has ? "scope, later" : b_has ? "scope, earlier" : "scope") << where;
            }
            if (!sends && gets && b_has) {
              EXPECT_EQ(said, "release, earlier") << where;
            }
            if (sends && !gets && a_has) {
              EXPECT_EQ(said, "release, later") << where;
            }
          }
}

// A flag orders what came before its release alone, for who has seen it, of its own lane.
TEST(Orders, AMessageHasWhatItsThreadDidBefore) {
  const Order release{Semantics::release, Scope::gpu, Proxy::generic},
      acquire{Semantics::acquire, Scope::gpu, Proxy::generic};
  Trace t;
  t.write(10, {{}, 0, 1}, global(0));
  t.write(11, {{}, 0, 2}, global(4));  // another lane
  t.write(20, {{}, 0, 1}, global(64), release);
  t.write(12, {{}, 0, 1}, global(8));  // behind it
  t.read(30, {{}, 1, 1}, global(64), acquire);
  t.read(40, {{}, 1, 1}, global(0));
  t.read(41, {{}, 1, 1}, global(4));
  t.read(42, {{}, 1, 1}, global(8));
  t.read(43, {{}, 1, 2}, global(0));  // who has not seen it
  EXPECT_EQ(t.kinds(), (Lines{"race 11 41", "race 12 42", "race 10 43"}));
  // A store of another hides the flag; an atomic goes on with it (PTX ISA 9.0, 8.8, release sequences).
  for (const AccessKind over : {AccessKind::write, AccessKind::update}) {
    Trace hidden;
    hidden.write(10, {{}, 0, 1}, global(0));
    hidden.write(20, {{}, 0, 1}, global(64), release);
    hidden.access(25, {{}, 2, 1}, over, global(64), {Semantics::relaxed, Scope::gpu, Proxy::generic});
    hidden.read(30, {{}, 1, 1}, global(64), acquire);
    hidden.read(40, {{}, 1, 1}, global(0));
    EXPECT_EQ(hidden.kinds(), over == AccessKind::update ? Lines{} : Lines{"race 10 40"});
  }
}

// A wait for all but the last n groups has waited for those committed before: of cp.async, and of bulk copies
// for what they read and, without .read, for what they write.
TEST(Orders, WaitsAreForAllGroupsButTheLast) {
  struct Form {
    machine::Ending ending;
    Sync committed, waited;
    bool reads, writes;  // what it waits for
  };
  const Form forms[] = {
      {machine::Ending::copy_group, Sync::copies_committed, Sync::copies_waited, false, true},
      {machine::Ending::bulk_group, Sync::bulk_committed, Sync::bulk_waited, true, true},
      {machine::Ending::bulk_group, Sync::bulk_committed, Sync::bulk_read, true, false},
  };
  constexpr uint32_t kCopies = 4;
  for (const Form& f : forms)
    for (uint64_t first = 0; first <= 5; ++first)
      for (uint64_t left = 0; left <= 5; ++left)
        for (uint32_t i = 0; i < kCopies; ++i) {
          const bool bulk = f.ending == machine::Ending::bulk_group;
          const Proxy proxy = bulk ? Proxy::async : Proxy::generic;
          const Who who{{}, 0, 0b100};
          Trace t;
          for (uint32_t n = 0; n < kCopies; ++n) {
            t.issues(10 + static_cast<int>(n), who, n + 1, f.ending);
            if (bulk)
              t.operation(10 + static_cast<int>(n), who, n + 1, AccessKind::read, shared(0, 64 * n), 16,
                          proxy, 2);
            t.operation(10 + static_cast<int>(n), who, n + 1, AccessKind::write,
                        bulk ? global(64 * n) : shared(0, 64 * n), 16, proxy, 2);
            t.meets(20, who, f.committed);
          }
          // Waiting twice is waiting for the more of both.
          t.meets(30, who, f.waited, first);
          t.meets(31, who, f.waited, left);
          const bool over = i + std::min(first, left) < kCopies;
          const std::string race = "operation-race " + std::to_string(10 + i) + " ";
          Lines expected;
          if (bulk) {
            t.write(40, who, shared(0, 64 * i));
            if (!f.reads || !over) expected.push_back(race + "40");
          }
          t.read(41, who, bulk ? global(64 * i) : shared(0, 64 * i));
          if (!f.writes || !over) expected.push_back(race + "41");
          EXPECT_EQ(t.kinds(), expected) << first << " " << left;
        }
}

// cp.async.wait_all waits for all, committed or not; a wait_group 0 for what was committed.
TEST(Orders, WaitAllIsForWhatWasNotCommittedToo) {
  for (const bool commits : {false, true})
    for (const uint64_t left : {uint64_t{0}, machine::Synchronisation::kEvery}) {
      Trace t;
      const Who who{{}, 0, 1};
      t.issues(10, who, 1, machine::Ending::copy_group);
      t.operation(10, who, 1, AccessKind::write, shared(0, 0), 16, Proxy::generic, 0);
      if (commits) t.meets(20, who, Sync::copies_committed);
      t.meets(30, who, Sync::copies_waited, left);
      t.read(40, who, shared(0, 0));
      t.read(41, {{}, 0, 2}, shared(0, 0));  // for its own lane alone
      const Lines others{"operation-race 10 41"};
      EXPECT_EQ(t.kinds(),
                commits || left != 0 ? others : (Lines{"operation-race 10 40", "operation-race 10 41"}));
    }
}

// Groups of cp.async and of bulk copies are counted apart.
TEST(Orders, GroupsOfOneKindAreNotThoseOfTheOther) {
  const Who who{{}, 0, 1};
  for (const bool bulk_waits : {false, true}) {
    Trace t;
    t.issues(10, who, 1, machine::Ending::copy_group);
    t.operation(10, who, 1, AccessKind::write, shared(0, 0), 16, Proxy::generic, 0);
    t.issues(11, who, 2, machine::Ending::bulk_group);
    t.operation(11, who, 2, AccessKind::read, shared(0, 64), 16, Proxy::async, 0);
    t.meets(12, who, Sync::copies_committed);
    t.meets(13, who, Sync::bulk_committed);
    t.meets(14, who, bulk_waits ? Sync::bulk_waited : Sync::copies_waited, 1);
    t.write(20, who, shared(0, 0));
    t.write(21, who, shared(0, 64));
    EXPECT_EQ(t.kinds(), (Lines{"operation-race 10 20", "operation-race 11 21"}));
  }
}

// A warp's wait for its wgmma makes it known that the warpgroup's MMAs have read: another of them has not
// waited by that.
TEST(Orders, AWarpgroupsMmaIsOverForWhoHasWaited) {
  constexpr uint64_t kMmas = 3;
  for (uint64_t left = 0; left <= 3; ++left)
    for (uint64_t i = 0; i < kMmas; ++i)
      for (const int reader : {4, 5, 7}) {
        Trace t;
        for (uint64_t n = 0; n < kMmas; ++n) {
          for (int w = 4; w < 8; ++w) t.meets(10, {{}, w, kAll}, Sync::mma_issued, n);
          t.meets(10, {{}, 4, 0}, Sync::mma_started, n);
          t.operation(10 + static_cast<int>(n), {{}, 4, 0}, n + 1, AccessKind::read, shared(0, 64 * n), 16,
                      Proxy::async);
          t.meets(10, {{}, 4, 0}, Sync::finished, n + 1);
          for (int w = 4; w < 8; ++w) t.meets(11, {{}, w, kAll}, Sync::mma_committed);
        }
        t.meets(20, {{}, 5, kAll}, Sync::mma_waited, left);
        t.write(30, {{}, reader, 1u << 9}, shared(0, 64 * i));
        const bool over = reader == 5 && i + left < kMmas;
        EXPECT_EQ(t.found(),
                  over ? Lines{}
                       : Lines{"operation-race " + std::to_string(10 + i) + " (0,0,0) w4 l- | 30 (0,0,0) w" +
                               std::to_string(reader) + " l9 | shared 0 +" + std::to_string(64 * i) + ", 4"});
      }
}

// A barrier of the cluster orders all before it, phase after phase; a relaxed arrival what a fence before it
// offers.
TEST(Orders, TheClustersBarrierOrdersWhatItReleases) {
  const Who first{{0, 0, 0}, 0, kAll}, second{{1, 0, 0}, 0, kAll};
  for (const Semantics arrives : {Semantics::release, Semantics::relaxed})
    for (const int fenced : {0, 1, 2})  // not, in the scope of the CTA, of the cluster
      for (const uint64_t phases : {1ul, 2ul, 3ul}) {
        Trace t({2, 1, 1}, {2, 1, 1});
        uint64_t phase = 0;
        t.cluster_bar(5, {first, second}, ++phase);
        t.write(10, {{0, 0, 0}, 0, 2}, global(0));
        if (fenced != 0)
          t.meets(15, first, Sync::fence, 0,
                  {Semantics::acq_rel, fenced == 1 ? Scope::cta : Scope::cluster, Proxy::generic});
        for (uint64_t i = 0; i < phases; ++i) t.cluster_bar(20, {first, second}, ++phase, arrives);
        t.read(30, {{1, 0, 0}, 0, 4}, global(0));
        EXPECT_EQ(t.kinds(), arrives == Semantics::release || fenced == 2 ? Lines{} : Lines{"race 10 30"});
      }
}

}  // namespace
}  // namespace bitwell::hazard
