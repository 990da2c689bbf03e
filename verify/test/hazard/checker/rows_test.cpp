// What lanes of a warp reach side by side is looked at a row at a time where it can be: nothing else is found
// then than of the lanes one by one.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "trace.h"

namespace bitwell::hazard {
namespace {

// The same run told twice: lanes together, and one by one, as lanes that have met for themselves alone, which
// no row takes. And once more together where each pair of accesses is kept, so that none is merely counted.
class Twice {
 public:
  Twice(uint64_t seed, bool once)
      : random_(seed),
        rows_({2, 1, 1}, {1, 1, 1}, once),
        lanes_({2, 1, 1}, {1, 1, 1}, once),
        kept_({2, 1, 1}, {1, 1, 1}, once) {
    kept_.checker.keep(100000);
  }

  void step() {
    const Triple cta{draw(2), 0, 0};
    const int line = 1 + static_cast<int>(draw(9));
    switch (draw(12)) {
      case 0:
      case 1: return each([&](Trace& t) { t.bar(100, {{cta, 0, kAll}, {cta, 1, kAll}, {cta, 2, kAll}}); });
      case 2: return flag(cta);
      case 3: return draw(2) == 0 ? copy(cta) : bulk(cta);
      default: return access(cta, line);
    }
  }
  // How often something is found is counted by accesses.
  static Lines without_counts(Lines all) {
    for (std::string& s : all) s = s.substr(0, s.find(", x"));
    return all;
  }
  Lines of_rows() const { return without_counts(rows_.found()); }
  Lines of_lanes() const { return without_counts(lanes_.found()); }
  Lines counted() const { return rows_.found(); }
  Lines kept() const { return kept_.found(); }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  template <class Tell>
  void each(Tell tell) {
    for (Trace* t : {&rows_, &lanes_, &kept_}) tell(*t);
  }
  // What one lane of a warp knows, the others do not.
  void flag(const Triple& cta) {
    const Who who{cta, static_cast<int>(draw(3)), 1u << draw(4)};
    const bool writes = draw(2) == 0;
    each([&](Trace& t) {
      if (writes)
        t.write(101, who, shared(0, 8192), {Semantics::release, Scope::cta});
      else
        t.read(102, who, shared(0, 8192), {Semantics::acquire, Scope::cta});
    });
  }
  // Copies of all lanes, for which some wait.
  void copy(const Triple& cta) {
    const Who who{cta, static_cast<int>(draw(3)), kAll},
        waits{cta, who.warp, draw(2) == 0 ? kAll : 1u << draw(3)};
    const uint64_t number = ++copies_, from = 4 * draw(32), together = 1 + draw(2);
    each([&](Trace& t) {
      t.issues(103, who, number, machine::Ending::copy_group);
      for (int lane = 0; lane < 32; ++lane)
        t.operation(103, who, number, AccessKind::read,
                    shared(0, from + 4 * (static_cast<uint64_t>(lane) / together)), 4, Proxy::generic, lane);
      t.meets(104, who, Sync::copies_committed);
      t.meets(105, waits, Sync::copies_waited, 0);
    });
  }
  // A copy of many bytes at once.
  void bulk(const Triple& cta) {
    const Who who{cta, static_cast<int>(draw(3)), 1u << draw(4)};
    const uint64_t number = ++copies_, offset = 16 * draw(16), bytes = 16 * (1 + draw(20));
    const int lane = std::countr_zero(who.lanes);
    const bool reads = draw(2) == 0, waits = draw(2) == 0;
    const uint64_t address = draw(2) == 0 ? global(offset) : shared(0, offset);
    each([&](Trace& t) {
      t.issues(106, who, number, machine::Ending::bulk_group);
      t.operation(106, who, number, reads ? AccessKind::read : AccessKind::write, address, bytes,
                  Proxy::async, lane);
      t.meets(107, who, Sync::bulk_committed);
      if (waits) t.meets(108, who, Sync::bulk_waited, 0);
    });
  }
  void access(const Triple& cta, int line) {
    const int warp = static_cast<int>(draw(3));
    const uint32_t lanes = draw(4) == 0 ? static_cast<uint32_t>(random_()) | 1 : kAll;
    const bool global_memory = draw(2) == 0;
    const AccessKind kind = draw(3) != 0 ? AccessKind::read : AccessKind::write;
    const uint64_t bytes = uint64_t{1} << (draw(3) == 0 ? draw(5) : 2);
    const uint64_t offset = 96 * draw(4) + bytes * (draw(3) == 0 ? draw(3) : 0);
    const uint64_t address = (global_memory ? global(offset) : shared(0, offset)) / bytes * bytes;
    Order order{};
    if (draw(8) == 0) order = {Semantics::relaxed, draw(2) == 0 ? Scope::cta : Scope::gpu};
    if (global_memory && kind == AccessKind::read && draw(8) == 0)
      order = {Semantics::weak, Scope::cta, Proxy::non_coherent};
    uint32_t arrangement = draw(9);
    if (kind == AccessKind::write && arrangement == 4) arrangement = 7;  // of such an instruction one stores
    std::array<uint64_t, machine::kLanes> addresses{};
    for (uint32_t i = 0; i < machine::kLanes; ++i) addresses[i] = address + bytes * place(arrangement, i);
    const bool unchanged = kind == AccessKind::write && draw(3) == 0;
    const auto tell = [&](Trace& t, uint32_t those, uint32_t met, bool consecutive = false) {
      machine::Access a{kind, order, cta, warp, those, 0, ++time_, line, addresses, bytes};
      a.met = met;
      a.unchanged = unchanged ? those : 0;
      a.consecutive = consecutive;
      t.tell({cta, warp, those}, a);
    };
    // As who executes them says it of lanes in their order, or leaves it to be found.
    const bool row = lanes == kAll && arrangement >= 7, said = row && draw(2) == 0;
    if (!row || !rows_.checker.tell(
                    machine::Row{kind, order, cta, warp, line, addresses[0], bytes, unchanged ? kAll : 0}))
      tell(rows_, lanes, 0, said);
    tell(kept_, lanes, 0, said);
    if (order.semantics != Semantics::weak) return tell(lanes_, lanes, 0);
    for (uint32_t i = 0; i < machine::kLanes; ++i)
      if ((lanes >> i & 1) != 0) tell(lanes_, 1u << i, 1u << i);
  }
  static uint64_t place(uint32_t arrangement, uint32_t lane) {
    switch (arrangement) {
      case 0: return 2 * lane;
      case 1: return lane % 4 * 8 + lane / 4;     // side by side with the fourth behind it
      case 2: return lane / 4 * 16 + lane % 4;    // four of them
      case 3: return machine::kLanes - 1 - lane;  // with the one before it
      case 4: return lane % 16;                   // two come to each place, but no neighbours
      case 5: return 7 * lane % machine::kLanes;
      case 6: return lane % 2 == 0 ? lane / 2 : 64 + lane;
      default: return lane;
    }
  }

  std::mt19937_64 random_;
  Trace rows_, lanes_, kept_;
  uint64_t copies_ = 0, time_ = 0;
};

TEST(Rows, AreWhatTheirLanesAreOneByOne) {
  size_t found = 0, quiet = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Twice run(seed, seed % 8 == 7);
    const uint64_t steps = 2 + seed % 24;
    for (uint64_t i = 0; i < steps; ++i) run.step();
    ASSERT_EQ(run.of_rows(), run.of_lanes()) << "seed " << seed;
    ASSERT_EQ(run.counted(), run.kept()) << "seed " << seed;
    found += run.of_lanes().size();
    quiet += run.of_lanes().empty() ? 1 : 0;
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(quiet, 30u);
}

// Lanes store in another order than they have read: the first one what it has read itself, others what its
// neighbours have, of which they do not know.
TEST(Rows, OfReadersInAnotherOrderNoneIsTakenForTheLaneItself) {
  for (const bool in_order : {true, false}) {
    Trace t;
    const Who first{{}, 0, 0x55555555}, second{{}, 1, kAll};
    t.access(1, second, AccessKind::read, shared(0, 0), {}, 4, 4);
    t.access(2, {{}, 0, kAll}, AccessKind::read, shared(0, 0), {}, 4, 4);
    t.meets(3, second, Sync::warp_met);
    t.write(4, {{}, 1, 1}, shared(0, 8192), {Semantics::release, Scope::cta});
    t.read(5, {{}, 0, kAll}, shared(0, 8192), {Semantics::acquire, Scope::cta});
    t.meets(6, {{}, 0, kAll}, Sync::fence, 0, {Semantics::acq_rel, Scope::cta});
    std::array<uint64_t, machine::kLanes> addresses{};
    for (uint32_t i = 0; i < machine::kLanes; ++i) addresses[i] = shared(0, in_order ? 4 * i : 2 * i);
    t.access(7, first, AccessKind::write, addresses);
    EXPECT_EQ(t.kinds(), in_order ? Lines{} : Lines{"warp-race 2 7"});
  }
}

// All lanes of a warp know the same of two others, but of the first one's lanes some alone. They read what
// both have read: of the first one's reads those stay that are not known, whichever lane they are of, and a
// write that is behind the last read alone is none behind them.
TEST(Rows, OfAWarpOfWhichSomeLanesAreKnownTheOthersReadsStay) {
  const Order relaxed{Semantics::relaxed, Scope::gpu}, release{Semantics::release, Scope::gpu},
      acquire{Semantics::acquire, Scope::gpu};
  for (const uint32_t known : {0u, 1u, 2u, 1u << 31, 0xFFFFu, 0xFFFF0000u, 0x12345678u, kAll})
    for (const uint32_t together : {1u, 2u})  // lanes come to one place
      for (const Order& order : {Order{}, relaxed})
        for (const bool pairs : {false, true}) {  // CTAs of a cluster, whose rows are looked at lane by lane
          Trace t({2, 1, 1}, {pairs ? 2u : 1u, 1, 1});
          const Who first{{}, 0, kAll}, second{{}, 1, kAll}, last{{}, 2, kAll}, writer{{}, 3, kAll};
          std::array<uint64_t, machine::kLanes> places{};
          for (uint32_t i = 0; i < machine::kLanes; ++i) places[i] = shared(0, 4 * (i / together));
          t.access(1, first, AccessKind::read, places, order);
          t.access(2, second, AccessKind::read, places, order);
          for (uint32_t i = 0; i < machine::kLanes; ++i) {
            if ((known >> i & 1) == 0) continue;
            t.write(3, {{}, 0, 1u << i}, shared(0, 8192 + 8 * i), release);
            t.read(4, {{}, 2, 1}, shared(0, 8192 + 8 * i), acquire);
          }
          t.meets(5, last, Sync::warp_met);
          t.access(6, last, AccessKind::read, places, order);
          t.bar(7, {last, writer}, 1, 64);
          t.checker.keep(1000);
          for (uint32_t i = 0; i < machine::kLanes; i += together)
            t.access(8, {{}, 3, 1u << i}, AccessKind::write, places);
          uint32_t raced = 0;  // places
          for (uint32_t i = 0; i < machine::kLanes; i += together)
            raced += (known >> i & ((1u << together) - 1)) != (1u << together) - 1 ? 1 : 0;
          std::map<std::string, uint64_t> counts;
          std::set<uint64_t> there;
          for (const Finding& f : t.checker.findings()) {
            counts[std::to_string(f.earlier.site.ptx_line)] += f.count;
            for (const Finding::Met& m : f.met)
              if (f.earlier.site.ptx_line == 1) there.insert(m.address);
          }
          std::map<std::string, uint64_t> expected{{"2", machine::kLanes / together}};
          if (raced != 0) expected["1"] = raced;
          EXPECT_EQ(counts, expected) << std::hex << known << " " << together << " " << pairs;
          EXPECT_EQ(there.size(), raced);
        }
}

// A warp stores, and another one reads or stores in the row, after the same has been found once elsewhere. Of
// its lanes some are behind the stores, or nearly, or store what stands there: each is counted for what it
// is.
TEST(Rows, OfWhichSomeLanesAreOrderedAreCountedLaneByLane) {
  enum class How : uint8_t { not_at_all, of_lanes, by_lanes, nearly_by_lanes, narrowly, unchanged };
  const Who all{{}, 0, kAll}, other{{}, 1, kAll};
  const uint64_t flag = global(8192);
  for (const How how :
       {How::not_at_all, How::of_lanes, How::by_lanes, How::nearly_by_lanes, How::narrowly, How::unchanged})
    for (const uint32_t some : {1u, 1u << 31, 0xFFFEu, 0xFFFF0000u})
      for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
        if (how == How::unchanged && kind == AccessKind::read) continue;
        Trace t({2, 1, 1});
        const Who second = how == How::narrowly ? Who{{1, 0, 0}, 1, kAll} : other;
        const Order release{Semantics::release, how == How::narrowly ? Scope::cta : Scope::gpu},
            acquire{Semantics::acquire, Scope::gpu}, relaxed{Semantics::relaxed, Scope::gpu};
        t.write(1, {{}, 0, 1}, global(4096));
        t.access(2, {second.cta, 1, 1}, kind, global(4096));
        t.access(1, all, AccessKind::write, global(0), {}, 4, 4);
        uint32_t behind = 0, nearly = 0;
        for (uint32_t i = 0; i < machine::kLanes && how != How::not_at_all; ++i) {
          if ((some >> i & 1) == 0) continue;
          const Who of{{}, 0, 1u << i},
              by{second.cta, 1, how == How::of_lanes || how == How::narrowly ? 1u : 1u << i};
          if (how == How::of_lanes || how == How::narrowly) t.write(3, of, flag + 8 * i, release);
          if (how == How::of_lanes || how == How::narrowly) t.read(4, by, flag + 8 * i, acquire);
        }
        if (how == How::of_lanes || how == How::narrowly) t.meets(5, second, Sync::warp_met);
        if (how == How::by_lanes || how == How::nearly_by_lanes) {
          t.meets(5, all, Sync::warp_met);
          t.write(3, {{}, 0, 1}, flag, release);
          t.read(4, {second.cta, 1, some}, flag, how == How::by_lanes ? acquire : relaxed);
        }
        if (how == How::of_lanes || how == How::by_lanes) behind = some;
        if (how == How::nearly_by_lanes || how == How::narrowly || how == How::unchanged) nearly = some;
        std::array<uint64_t, machine::kLanes> places{};
        for (uint32_t i = 0; i < machine::kLanes; ++i) places[i] = global(4 * i);
        machine::Access a{kind, {}, second.cta, 1, kAll, 0, 1000, 2, places, 4};
        if (how == How::unchanged) a.unchanged = some;
        t.tell(second, a);
        std::map<std::string_view, uint64_t> counts;
        for (const Finding& f : t.checker.findings())
          if (f.earlier.site.ptx_line == 1) counts[row_of(f.kind).name] += f.count;
        std::map<std::string_view, uint64_t> expected{
            {"race", 1 + static_cast<uint64_t>(std::popcount(~(behind | nearly)))}};
        if (nearly != 0)
          expected[how == How::unchanged  ? "equal-stores"
                   : how == How::narrowly ? "scope"
                                          : "release"] = static_cast<uint64_t>(std::popcount(nearly));
        EXPECT_EQ(counts, expected) << static_cast<int>(how) << std::hex << " " << some;
      }
}

// Lanes of a warp read by cp.async what another warp has read too, and some wait. A read of all of them
// stands for the copies of those who have, whether it is looked at as a row or lane by lane; a write of
// theirs is behind these alone.
TEST(Rows, OfLanesOfWhichSomeHaveWaitedForTheirCopiesTheOthersReadsStay) {
  for (const uint32_t waited : {0u, 1u, 1u << 31, 0xFFFEu, 0xFFFF0001u, kAll})
    for (const bool pairs : {false, true})  // CTAs of a cluster, whose rows are looked at lane by lane
      for (const bool own : {false, true}) {
        Trace t({2, 1, 1}, {pairs ? 2u : 1u, 1, 1});
        const Who all{{}, 0, kAll}, other{{}, 1, kAll}, writer{{}, 2, kAll};
        if (!own) t.access(1, other, AccessKind::read, shared(0, 0), {}, 4, 4);
        t.issues(2, all, 1, machine::Ending::copy_group);
        for (int lane = 0; lane < 32; ++lane)
          t.operation(2, all, 1, AccessKind::read, shared(0, 4 * static_cast<uint64_t>(lane)), 4,
                      Proxy::generic, lane);
        t.meets(3, all, Sync::copies_committed);
        if (waited != 0) t.meets(4, {{}, 0, waited}, Sync::copies_waited, 0);
        t.checker.keep(1000);
        if (own) {
          t.access(6, all, AccessKind::write, shared(0, 0), {}, 4, 4);
        } else {
          t.access(5, all, AccessKind::read, shared(0, 0), {}, 4, 4);
          t.bar(7, {other, all, writer});
          t.access(6, writer, AccessKind::write, shared(0, 0), {}, 4, 4);
        }
        uint32_t raced = 0;
        for (const Finding& f : t.checker.findings())
          for (const Finding::Met& m : f.met)
            raced |= f.earlier.site.ptx_line == 2 ? 1u << (m.address - shared(0, 0)) / 4 : 0;
        EXPECT_EQ(raced, ~waited) << pairs << own;
        EXPECT_EQ(t.kinds(), waited == kAll ? Lines{} : Lines{"operation-race 2 6"});
      }
}

// Of a row that races each lane's pair is kept, with the lane that has reached its bytes before.
TEST(Rows, ThatRaceKeepThePairOfEachLane) {
  for (const uint64_t bytes : {4, 16})
    for (const uint32_t further : {0u, 5u}) {
      Trace t;
      t.checker.keep(1000);
      t.access(1, {{}, 0, kAll}, AccessKind::write, global(0), {}, bytes, bytes);
      t.access(2, {{}, 1, kAll}, AccessKind::write, global(bytes * further), {}, bytes, bytes);
      ASSERT_EQ(t.kinds(), Lines{"race 1 2"});
      const MetList& met = t.checker.findings()[0].met;
      ASSERT_EQ(met.size(), machine::kLanes - further);
      for (uint32_t i = 0; i < met.size(); ++i) {
        EXPECT_EQ(met[i].later.lane, static_cast<int>(i)) << bytes;
        EXPECT_EQ(met[i].earlier.lane, static_cast<int>(i + further)) << bytes;
        EXPECT_EQ(met[i].address, global(bytes * (i + further)));
        EXPECT_EQ(met[i].access, 2u);
      }
    }
}

// What came of a row does not come of the next one, where the warp has learned in between that this is behind
// it: its own time is the same.
TEST(Rows, ComeToSomethingElseWhenMoreIsKnown) {
  for (const bool learns : {false, true}) {
    Trace t;
    const Who first{{}, 0, kAll}, second{{}, 1, kAll};
    for (const uint64_t row : {0, 128}) t.access(1, first, AccessKind::write, shared(0, row), {}, 4, 4);
    t.meets(2, first, Sync::warp_met);
    t.write(3, {{}, 0, 1}, shared(0, 8192), {Semantics::release, Scope::cta});
    t.access(4, second, AccessKind::read, shared(0, 0), {}, 4, 4);
    if (learns) t.read(5, second, shared(0, 8192), {Semantics::acquire, Scope::cta});
    t.access(4, second, AccessKind::read, shared(0, 128), {}, 4, 4);
    ASSERT_EQ(t.kinds(), Lines{"race 1 4"});
    EXPECT_EQ(t.checker.findings()[0].count, learns ? 32u : 64u);
  }
}

// Lanes that have met are each to be behind what all have written, though a row was read before by the same
// instruction of lanes that go by their own.
TEST(Rows, OfLanesThatMeetAreNoneOfTheirOwn) {
  Trace t;
  const Who all{{}, 0, kAll};
  t.access(1, all, AccessKind::write, shared(0, 256), {}, 4, 4);
  std::array<uint64_t, machine::kLanes> addresses{};
  for (const uint32_t met : {0u, kAll}) {
    for (uint64_t i = 0; i < machine::kLanes; ++i) addresses[i] = shared(0, (met == 0 ? 0 : 256) + 4 * i);
    machine::Access a{AccessKind::read, {}, {}, 0, kAll, 0, 1, 2, addresses, 4};
    a.met = met;
    t.tell(all, a);
  }
  EXPECT_EQ(t.kinds(), Lines{"warp-race 1 2"});
}

// Loops over rows that race, of which what came of one is made of others: it is what comes of each by itself,
// as where something that means nothing comes between any two, or where each pair of accesses is kept.
TEST(Rows, OfALoopComeToWhatEachComesTo) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](uint64_t below) { return random() % below; };
    const bool once = seed % 5 == 0;
    std::vector<std::unique_ptr<Trace>> all;
    for (int i = 0; i < 3; ++i)
      all.push_back(std::make_unique<Trace>(Triple{3, 1, 1}, Triple{1, 1, 1}, once));
    const uint64_t most = seed % 4 == 0 ? 0 : 20 * draw(10);
    all[0]->checker.keep(most, seed % 2 == 0);
    all[1]->checker.keep(most, seed % 2 == 0);
    all[2]->checker.keep(100000);
    for (uint64_t loops = 4 + draw(12); loops != 0; --loops) {
      const Who who{{static_cast<uint32_t>(draw(3)), 0, 0}, static_cast<int>(draw(2)), kAll};
      const uint64_t what = draw(10), rows = 2 + draw(10);
      const uint64_t bytes = uint64_t{1} << draw(4), apart = draw(3) == 0 ? 256 : 32 * bytes;
      const uint64_t begin = bytes * draw(draw(3) == 0 ? 40 : 1);
      const bool inside = draw(3) == 0;
      const uint64_t unchanged = draw(4) == 0 ? random() : 0;  // in some of the rows
      const int line = 1 + static_cast<int>(draw(4));
      const uint64_t second = draw(4);  // another instruction behind each: 0, 1 none
      const uint32_t lanes = draw(8) == 0 ? static_cast<uint32_t>(random()) | 1 : kAll;
      for (const auto& t : all) {
        const auto reach = [&](int of_line, AccessKind kind, uint64_t number) {
          const uint64_t offset = begin + number * apart;
          std::array<uint64_t, machine::kLanes> addresses{};
          for (uint32_t i = 0; i < machine::kLanes; ++i)
            addresses[i] = (inside ? shared(0, offset) : global(offset)) + bytes * i;
          machine::Access a{kind, {}, who.cta, who.warp,  what == 2 ? lanes : kAll,
                            0,    1,  of_line, addresses, bytes};
          if (kind == AccessKind::write && (unchanged >> number & 1) != 0) a.unchanged = 0xFF00FF00;
          if (t == all[1]) t->meets(99, who, Sync::emptied);
          t->tell(who, a);
        };
        if (what == 0) t->bar(20, {{who.cta, 0, kAll}, {who.cta, 1, kAll}});
        if (what == 1) t->read(21, {who.cta, who.warp, 4}, shared(0, 8192), {Semantics::acquire, Scope::cta});
        if (what < 2) continue;
        for (uint64_t i = 0; i < rows; ++i) {
          reach(line, what % 2 == 0 ? AccessKind::read : AccessKind::write, i);
          if (second == 2) reach(9, AccessKind::read, i);
          if (second == 3) reach(10, AccessKind::write, i);
        }
      }
    }
    ASSERT_EQ(all[0]->found(), all[1]->found()) << "seed " << seed;
    ASSERT_EQ(all[0]->found(), all[2]->found()) << "seed " << seed;
    ASSERT_EQ(all[0]->kept(), all[1]->kept()) << "seed " << seed;
    found += all[0]->found().size();
  }
  EXPECT_GT(found, 1000u);
}

}  // namespace
}  // namespace bitwell::hazard
