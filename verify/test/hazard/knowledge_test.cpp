// What threads know, against plain tables: clocks by unit and lane, who gets what at a place where it was
// published, and fences for tensor maps.
#include "model/hazard/knowledge/knowledge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace bitwell::hazard {
namespace {

using machine::Scope;

constexpr UnitId kUnits = 6;
constexpr Scope kScopes[] = {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys};

using Table = std::map<std::pair<UnitId, uint32_t>, uint32_t>;

struct Both {
  Clock clock;
  Table table;

  void raise(UnitId unit, uint32_t lanes, uint32_t time) {
    clock.raise(unit, lanes, time);
    for (uint32_t lane = 0; lane < 32; ++lane)
      if ((lanes >> lane & 1) != 0) table[{unit, lane}] = std::max(table[{unit, lane}], time);
  }
  void join(const Both& o) {
    clock.join(o.clock);
    for (const auto& [at, time] : o.table) table[at] = std::max(table[at], time);
  }
  bool covers(const Both& o) const {
    return std::all_of(o.table.begin(), o.table.end(), [&](const auto& e) {
      const auto at = table.find(e.first);
      return e.second <= (at == table.end() ? 0 : at->second);
    });
  }
  void expect_same() {
    for (UnitId unit = 0; unit <= kUnits; ++unit) {
      uint32_t least = UINT32_MAX, most = 0;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t time = table[{unit, lane}];
        least = std::min(least, time);
        most = std::max(most, time);
        EXPECT_EQ(clock.at(unit, lane), time);
        EXPECT_TRUE(clock.knows({unit, lane, time}));
        EXPECT_FALSE(clock.knows({unit, lane, time + 1}));
      }
      EXPECT_EQ(clock.least(unit), least);
      EXPECT_EQ(clock.most(unit), most);
    }
  }
};

TEST(Clocks, KnowOfEachLaneTheLatestAndNothingElse) {
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    std::array<Both, 3> all;
    for (int step = 0; step < 12; ++step) {
      Both& one = all[random() % all.size()];
      if (random() % 3 == 0) {
        one.join(all[random() % all.size()]);
      } else {
        const std::array<uint32_t, 5> lanes{~0u, 1u, 1u << 31, 0xFFFFu, static_cast<uint32_t>(random())};
        one.raise(random() % kUnits, lanes[random() % lanes.size()], 1 + random() % 4);
      }
      for (const Both& a : all)
        for (const Both& b : all) EXPECT_EQ(a.clock.covers(b.clock), a.covers(b));
    }
    for (Both& b : all) b.expect_same();
  }
}

constexpr size_t kKinds = 9;

// One epoch in one kind of knowledge at a time; by its number.
Clock& part(Knowledge& k, size_t which) {
  Clock* const parts[kKinds] = {&k.happened,       &k.fenced[0],      &k.fenced[1],
                                &k.narrow_release, &k.narrow_acquire, &k.unreleased,
                                &k.unwaited,       &k.used,           &k.offered};
  return *parts[which];
}
Known knowing(size_t which, UnitId unit) {
  Knowledge out;
  part(out, which).raise(unit, ~0u, 3);
  return counted<Knowledge>(out);
}

// Becomes what another one is, and of that nothing is left.
TEST(Clocks, MayComeToKnowNothing) {
  const Clock nothing;
  Clock clock;
  clock.raise(1, ~0u, 3);
  EXPECT_TRUE(clock.covers(nothing));
  EXPECT_FALSE(nothing.covers(clock));
  clock = nothing;
  EXPECT_TRUE(clock.empty());
}

TEST(Knowledge, OfEveryKindIsJoinedWithItsOwn) {
  for (size_t a = 0; a < kKinds; ++a)
    for (size_t b = 0; b < kKinds; ++b)
      for (const UnitId unit : {1u, 2u}) {
        Knowledge out = *joined(knowing(a, 1), knowing(b, unit));
        for (size_t which = 0; which < kKinds; ++which)
          for (const UnitId u : {1u, 2u})
            EXPECT_EQ(part(out, which).at(u, 7),
                      (which == a && u == 1) || (which == b && u == unit) ? 3u : 0u);
      }
  EXPECT_EQ(joined(Known{}, Known{}), nullptr);
  const Known one = knowing(0, 1);
  EXPECT_EQ(joined(one, nullptr), one);
  EXPECT_EQ(joined(nullptr, one), one);
  EXPECT_EQ(joined(one, knowing(0, 1)), one);
}

// Up to when the unit would be known if a scope were wider.
uint32_t wider(const Knowledge& k, UnitId unit) {
  return std::max(k.narrow_release.at(unit, 5), k.narrow_acquire.at(unit, 5));
}

// A release and an acquire synchronise where the scope of either has both threads.
TEST(Messages, ReachWhoIsInBothScopes) {
  const Domain here{3, 1};
  for (const auto& [there, needed] :
       {std::pair{Domain{3, 1}, Scope::cta}, {Domain{2, 1}, Scope::cluster}, {Domain{9, 4}, Scope::gpu}})
    for (const Scope released : kScopes)
      for (const Scope acquired : kScopes) {
        Message m;
        m.publish(knowing(0, 1), released, here);
        const Known got = m.acquire(acquired, there);
        const bool both = released >= needed && acquired >= needed;
        ASSERT_NE(got, nullptr);
        EXPECT_EQ(got->happened.at(1, 5), both ? 3u : 0u);
        EXPECT_EQ(got->happened.at(1, 5) + wider(*got, 1), 3u) << "a wider scope would do";
        EXPECT_TRUE(got->unreleased.empty());
        // And behind it another, of the least scope.
        m.publish(knowing(0, 2), Scope::cta, here);
        m.publish_unreleased(knowing(0, 4));
        const Known two = m.acquire(acquired, there);
        EXPECT_EQ(two->happened.at(1, 5), both ? 3u : 0u);
        EXPECT_EQ(two->happened.at(2, 5), needed == Scope::cta ? 3u : 0u);
        EXPECT_EQ(std::max(two->happened.at(2, 5), wider(*two, 2)), 3u);
        EXPECT_EQ(two->happened.at(4, 5), 0u);
        EXPECT_EQ(two->unreleased.at(4, 5), 3u);
        EXPECT_EQ(m.all()->happened.at(2, 5), 3u);
      }
  // Behind a narrow release another thread releases: who is in the first one's scope gets both, however far
  // the second reaches and whoever made it; and nobody else the first.
  for (const auto& [first, second] : {std::pair{Scope::cta, Scope::gpu},
                                      {Scope::cta, Scope::cta},
                                      {Scope::cluster, Scope::gpu},
                                      {Scope::cluster, Scope::cta}})
    for (const Domain& other : {Domain{2, 1}, Domain{9, 4}})
      for (const Domain& reads : {Domain{3, 1}, Domain{2, 1}, Domain{9, 4}}) {
        Message m;
        m.publish(knowing(0, 1), first, here);
        m.publish(knowing(0, 2), second, other);
        const Known got = m.acquire(Scope::gpu, reads);
        EXPECT_EQ(got->happened.at(1, 5), reads.with(here) <= first ? 3u : 0u);
        EXPECT_EQ(got->happened.at(2, 5), reads.with(other) <= second ? 3u : 0u);
      }
  Message stored;  // by who does not release
  stored.publish_unreleased(knowing(0, 1));
  const Known got = stored.acquire(Scope::sys, here);
  EXPECT_EQ(got->happened.at(1, 5), 0u);
  EXPECT_EQ(got->unreleased.at(1, 5), 3u);
  EXPECT_EQ(Message{}.acquire(Scope::sys, here), nullptr);
}

// A map that was written is known by its acquiring fence, of a scope no wider than the releasing one.
TEST(Messages, OfTensorMapsAreByScopeAndMap) {
  for (const Scope released : kScopes)
    for (const Scope acquired : kScopes) {
      Clock written;
      written.raise(1, ~0u, 3);
      MapFences fences;
      fences.release(written, released);
      fences.acquire(4096, acquired);
      for (size_t scope = 0; scope < 3; ++scope) {
        EXPECT_EQ(fences.released[scope].at(1, 0), scope <= static_cast<size_t>(released) ? 3u : 0u);
        EXPECT_EQ(fences.acquired[4096][scope].at(1, 0),
                  scope <= static_cast<size_t>(released) && scope <= static_cast<size_t>(acquired) ? 3u : 0u);
      }
      // Joined with what another knows.
      Clock other;
      other.raise(2, ~0u, 5);
      MapFences more;
      more.release(other, Scope::gpu);
      more.acquire(8192, Scope::gpu);
      const KnownMaps a = counted<MapFences>(fences), b = counted<MapFences>(more);
      for (const KnownMaps& both : {joined(a, b), joined(b, a)}) {
        for (size_t scope = 0; scope < 3; ++scope) {
          EXPECT_EQ(both->released[scope].at(1, 0), fences.released[scope].at(1, 0));
          EXPECT_EQ(both->released[scope].at(2, 0), 5u);
          EXPECT_EQ(both->acquired.at(4096)[scope].at(1, 0), fences.acquired.at(4096)[scope].at(1, 0));
          EXPECT_EQ(both->acquired.at(4096)[scope].at(2, 0), 0u);
          EXPECT_EQ(both->acquired.at(8192)[scope].at(2, 0), 5u);
        }
      }
      EXPECT_EQ(joined(a, nullptr), a);
      EXPECT_EQ(joined(nullptr, a), a);
      // Knowledge with maps and without.
      Knowledge with, plain;
      with.maps = a;
      plain.happened.raise(4, 1, 1);
      for (const Known& k : {joined(counted<Knowledge>(with), counted<Knowledge>(plain)),
                             joined(counted<Knowledge>(plain), counted<Knowledge>(with)),
                             joined(counted<Knowledge>(), counted<Knowledge>(with))}) {
        ASSERT_NE(k->maps, nullptr);
        EXPECT_EQ(k->maps->acquired.at(4096)[0].at(1, 0), 3u);
      }
    }
}

// Lane by lane what two clocks both know of a unit, and no other unit.
TEST(Clocks, RaiseWhatTwoHaveInCommon) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    Both a, b, out;
    for (Both* one : {&a, &b, &out})
      for (int i = 0; i < 4; ++i)
        one->raise(static_cast<UnitId>(random() % 3), static_cast<uint32_t>(random() | random()),
                   static_cast<uint32_t>(random() % 5));
    const auto unit = static_cast<UnitId>(random() % 3);
    out.clock.raise_common(a.clock, b.clock, unit);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t& time = out.table[{unit, lane}];
      time = std::max(time, std::min(a.table[{unit, lane}], b.table[{unit, lane}]));
    }
    out.expect_same();
  }
}

// A row where more than one lane is ahead, and an entry for each unit.
TEST(Clocks, CountTheirBytes) {
  Clock alike, apart, one;
  EXPECT_EQ(alike.bytes(), 0u);
  alike.raise(1, ~0u, 5);
  one.raise(1, 1, 5);
  EXPECT_EQ(one.bytes(), alike.bytes());
  apart.raise(1, 3, 5);
  EXPECT_EQ(apart.bytes(), alike.bytes() + 32 * sizeof(uint32_t));
  Clock many;
  for (UnitId unit = 1; unit <= 1000; ++unit) many.raise(unit, ~0u, 1);
  EXPECT_GE(many.bytes(), 1000 * (sizeof(UnitId) + sizeof(uint32_t) + sizeof(void*)));
}

}  // namespace
}  // namespace bitwell::hazard
