// Lists of who has read a cell forget nobody: however many there are, of every thread the latest read is
// there, and nothing that was not read.
#include "model/hazard/shadow/readers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <tuple>

namespace bitwell::hazard {
namespace {

class Cell {
 public:
  Cell() : site_(records_.site({1, Actor::thread, machine::AccessKind::read, {}})) {}

  Reader reader(UnitId unit, uint32_t time, uint32_t lanes) {
    return {records_.record({unit, time, site_}), lanes};
  }
  void read(const Reader& r) { readers = sets.with(readers, r); }
  // By unit and lane: the latest time that it read; fails where one stands there twice at one time.
  std::map<std::pair<UnitId, uint32_t>, uint32_t> latest() const {
    std::map<std::pair<UnitId, uint32_t>, uint32_t> out;
    sets.each(readers, [&](const Reader& r) {
      for (uint32_t lanes = r.lanes; lanes != 0; lanes &= lanes - 1) {
        uint32_t& time = out[{records_[r.record].unit, static_cast<uint32_t>(std::countr_zero(lanes))}];
        time = std::max(time, records_[r.record].time);
      }
    });
    return out;
  }
  size_t length() const {
    size_t out = 0;
    sets.each(readers, [&](const Reader&) { ++out; });
    return out;
  }

 private:
  Records records_;
  uint32_t site_;

 public:
  ReaderSets sets{records_};
  Readers readers = kNoAct;
};

TEST(Readers, OfOneLaneAreAnAct) {
  Cell c;
  c.read(c.reader(3, 1, 1u << 7));
  EXPECT_EQ(c.readers & kMany, 0u);
  EXPECT_EQ(lane_of(c.readers), 7u);
}

TEST(Readers, TheFirstOfManyIsThere) {
  Cell c;
  for (UnitId unit = 1; unit <= 5000; ++unit) c.read(c.reader(unit, 1, 1));
  EXPECT_EQ(c.latest().size(), 5000u);
  EXPECT_EQ(c.latest().count({1, 0}), 1u);
}

TEST(Readers, StayFewWhereTheSameOnesReadAgainAndAgain) {
  Cell c;
  for (uint32_t time = 1; time <= 1000; ++time)
    for (UnitId unit = 1; unit <= 32; ++unit) c.read(c.reader(unit, time, ~0u));
  EXPECT_LE(c.length(), 64u);
}

TEST(Readers, AreSharedByCellsThatAreReadAlike) {
  Cell c;
  Readers one = kNoAct, other = kNoAct;
  for (UnitId unit = 1; unit <= 100; ++unit) {
    const Reader reader = c.reader(unit, 1, 5);
    one = c.sets.with(one, reader);
    const size_t bytes = c.sets.list_bytes();
    other = c.sets.with(other, reader);
    EXPECT_EQ(one, other);
    EXPECT_EQ(c.sets.list_bytes(), bytes);
  }
}

// Each lane of a warp reads a cell of its own, then the lanes of another do.
TEST(Readers, AreSharedByCellsThatEachLaneReadsAlike) {
  Cell c;
  std::array<Readers, machine::kLanes> cells{};
  size_t bytes = 0;
  for (uint32_t lane = 0; lane < machine::kLanes; ++lane) {
    const auto of = [&](uint32_t beside) { return 1u << (lane + beside) % machine::kLanes; };
    for (UnitId unit = 1; unit <= 5; ++unit)
      cells[lane] = c.sets.with(cells[lane], c.reader(unit, 1, of(0) | of(unit - 1)));
    if (lane == 0) bytes = c.sets.list_bytes();
    c.readers = cells[lane];
    std::map<std::pair<UnitId, uint32_t>, uint32_t> expected;
    for (UnitId unit = 1; unit <= 5; ++unit)
      expected[{unit, lane}] = expected[{unit, (lane + unit - 1) % machine::kLanes}] = 1;
    EXPECT_EQ(c.latest(), expected) << lane;
  }
  EXPECT_LT(c.sets.list_bytes(), 5 * bytes);  // a few are made again
  c.sets.keep([&](auto visit) {
    for (Readers& r : cells) r = visit(r);
  });
  for (uint32_t lane = 0; lane < machine::kLanes; ++lane) {
    c.readers = cells[lane];
    EXPECT_EQ(c.latest().size(), 9u) << lane;
    EXPECT_TRUE(c.latest().contains({1, lane})) << lane;
  }
}

// Nor does one who is turned by as many lanes stand for those behind whom another one is.
TEST(Readers, OfOneLaneStandForNoOtherLanes) {
  Cell c;
  for (const bool alike : {false, true})
    for (uint32_t lane = 0; lane < machine::kLanes; ++lane) {
      c.readers = kNoAct;
      for (UnitId unit = 1; unit <= 3; ++unit) c.read(c.reader(unit, 1, 1u << lane));
      const auto over = [&](const Reader& r) { return alike || r.lanes == 1; };
      c.readers = c.sets.with(c.readers, c.reader(4, 1, 1u << lane), over, alike);
      EXPECT_EQ(c.latest().size(), alike || lane == 0 ? 1u : 4u) << lane;
      EXPECT_TRUE(c.latest().contains({4, lane})) << lane;
    }
}

TEST(Readers, OfCellsThatAreKeptStayWhenOthersGo) {
  Cell c;
  std::vector<Readers> kept;
  for (UnitId cell = 0; cell < 1000; ++cell) {
    c.readers = kNoAct;
    for (UnitId unit = 1; unit <= 300; ++unit) c.read(c.reader(unit + 7 * cell, 1, 3));
    if (cell % 100 == 0) kept.push_back(c.readers);
  }
  const size_t before = c.sets.list_bytes();
  c.sets.keep([&](auto visit) {
    for (Readers& r : kept) r = visit(r);
  });
  EXPECT_LT(c.sets.list_bytes(), before / 50);
  for (size_t i = 0; i < kept.size(); ++i) {
    c.readers = kept[i];
    const auto latest = c.latest();
    EXPECT_EQ(latest.size(), 600u);
    EXPECT_EQ(latest.begin()->first, (std::pair<UnitId, uint32_t>(1 + 700 * static_cast<UnitId>(i), 0)));
  }
}

// Who does not wait for the later of two accesses races with it at least where he races with the earlier.
TEST(Readers, AStrongerAccessStandsForNoWeakerOne) {
  using machine::Proxy;
  using machine::Scope;
  using machine::Semantics;
  const machine::Order weak{}, cta{Semantics::relaxed, Scope::cta},
      cluster{Semantics::acquire, Scope::cluster}, gpu{Semantics::relaxed, Scope::gpu},
      whole{Semantics::volatile_, Scope::sys}, past{Semantics::weak, Scope::cta, Proxy::non_coherent};
  const auto stands = [](const machine::Order& later, const machine::Order& earlier) {
    return stands_for({2, Actor::thread, machine::AccessKind::read, later},
                      {1, Actor::thread, machine::AccessKind::read, earlier});
  };
  const machine::Order stronger[] = {weak, cta, cluster, gpu};
  for (size_t later = 0; later < std::size(stronger); ++later)
    for (size_t earlier = 0; earlier < std::size(stronger); ++earlier)
      EXPECT_EQ(stands(stronger[later], stronger[earlier]), later <= earlier) << later << " " << earlier;
  EXPECT_TRUE(stands(gpu, whole));  // one device
  EXPECT_TRUE(stands(whole, gpu));
  EXPECT_FALSE(stands(weak, past));
  EXPECT_TRUE(stands(past, weak));
}

// So does a list of very many.
TEST(Readers, OfOneThreadStayAsStrongAsTheyWere) {
  using machine::Scope;
  using machine::Semantics;
  Records records;
  ReaderSets sets(records);
  const auto read = [&](UnitId unit, uint32_t time, machine::Order order) {
    const uint32_t site = records.site({1, Actor::thread, machine::AccessKind::read, order});
    return Reader{records.record({unit, time, site}), 1};
  };
  Readers all = kNoAct;
  const machine::Order orders[] = {{},
                                   {Semantics::relaxed, Scope::cta},
                                   {Semantics::relaxed, Scope::cluster},
                                   {Semantics::relaxed, Scope::gpu}};
  uint32_t time = 0;
  for (int round = 0; round < 10; ++round)
    for (const machine::Order& order : orders)
      for (UnitId unit = 1; unit <= 9; ++unit) all = sets.with(all, read(unit, ++time, order));
  std::map<UnitId, std::map<uint32_t, uint32_t>> latest;  // by unit and strength
  sets.each(all, [&](const Reader& r) {
    uint32_t& at = latest[records[r.record].unit][strength(records.site_of(records[r.record]))];
    at = std::max(at, records[r.record].time);
  });
  for (UnitId unit = 1; unit <= 9; ++unit)
    for (uint32_t s = 0; s < 4; ++s) EXPECT_EQ(latest[unit][s], 9 * (4 * 9 + s) + unit) << unit << " " << s;
}

RC_GTEST_PROP(Readers, HoldTheLatestReadOfEveryThreadAndNothingElse, ()) {
  Cell c;
  std::map<UnitId, uint32_t> now;
  std::map<std::pair<UnitId, uint32_t>, uint32_t> expected;
  const auto steps = *rc::gen::resize(
      300, rc::gen::container<std::vector<std::tuple<UnitId, uint32_t, bool>>>(rc::gen::tuple(
               rc::gen::inRange<UnitId>(1, 40), rc::gen::nonZero<uint32_t>(), rc::gen::arbitrary<bool>())));
  for (const auto& [unit, lanes, goes_on] : steps) {
    const uint32_t time = now[unit] += goes_on || now[unit] == 0 ? 1 : 0;
    c.read(c.reader(unit, time, lanes));
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      expected[{unit, static_cast<uint32_t>(std::countr_zero(rest))}] = time;
  }
  RC_ASSERT(c.latest() == expected);
}

// Instructions that differ in anything are told apart, also where a line's last one was another.
TEST(Records, TellSitesApartByAllTheyHave) {
  Records records;
  const Site first{1, Actor::thread, machine::AccessKind::read, {}};
  std::vector<Site> sites(9, first);
  sites[1].ptx_line = 2;
  sites[2].actor = Actor::tcgen05;
  sites[3].kind = machine::AccessKind::write;
  sites[4].order.semantics = machine::Semantics::acquire;
  sites[5].order.scope = machine::Scope::sys;
  sites[6].order.proxy = machine::Proxy::async;
  sites[7].tensor = 1;
  sites[8].tensor = 2;
  std::vector<uint32_t> numbers;
  for (const Site& s : sites) numbers.push_back(records.site(s));
  for (size_t i = 0; i < sites.size(); ++i)
    for (size_t j = 0; j < sites.size(); ++j) {
      records.site(sites[j]);
      EXPECT_EQ(records.site(sites[i]), numbers[i]) << i << " behind " << j;
      EXPECT_EQ(numbers[i] == numbers[j], i == j) << i << " " << j;
    }
}

// A unit that has ended without an act has nothing to forget.
TEST(Records, OfAUnitThatDidNothingNoneAreForgotten) {
  Records records;
  records.ended(1000);
  const uint32_t site = records.site({1, Actor::thread, machine::AccessKind::read, {}});
  const uint32_t number = records.record({3, 1, site});
  records.ended(4);
  EXPECT_EQ(records.record({3, 1, site}), number);
  records.ended(3);
  EXPECT_NE(records.record({3, 1, site}), number);
}

// Strong reads of each scope are of another class, and so are those of other units, proxies and actors: a
// later one of one class does not make an earlier one of another go.
TEST(Readers, OfEveryClassTheLatestStays) {
  Records records;
  ReaderSets sets{records};
  std::vector<Site> classes(6, Site{1, Actor::thread, machine::AccessKind::read, {}});
  classes[1].order.semantics = machine::Semantics::relaxed;
  classes[2].order = {machine::Semantics::relaxed, machine::Scope::gpu};
  classes[3].order.proxy = machine::Proxy::non_coherent;
  classes[4].actor = Actor::wgmma;
  classes[5].tensor = 1;
  Readers readers = kNoAct;
  const auto read = [&](UnitId unit, const Site& site, uint32_t time) {
    readers = sets.with(readers, {records.record({unit, time, records.site(site)}), 1});
  };
  for (UnitId unit = 1; unit <= 3; ++unit)
    for (const Site& site : classes) read(unit, site, unit);
  for (uint32_t time = 4; time < 200; ++time) read(4, classes[0], time);
  std::map<std::pair<UnitId, uint32_t>, uint32_t> latest;
  sets.each(readers, [&](const Reader& r) {
    const Record& record = records[r.record];
    latest[{record.unit, record.site}] = std::max(latest[{record.unit, record.site}], record.time);
  });
  for (UnitId unit = 1; unit <= 3; ++unit)
    for (const Site& site : classes) EXPECT_EQ((latest[{unit, records.site(site)}]), unit) << site.tensor;
  EXPECT_EQ((latest[{4, records.site(classes[0])}]), 199u);
}

}  // namespace
}  // namespace bitwell::hazard
