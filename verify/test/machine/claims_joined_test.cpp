// What one takes over of what another claims, and those that depend on each other there, against sets of
// bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "model/machine/claim/claims.h"

namespace bitwell::machine {
namespace {

using Units = std::set<std::pair<size_t, uint64_t>>;  // region and place
// Units of 4 bytes count for whoever reads or adds.
struct Claimed {
  Units read, added, written;
  std::array<uint64_t, 2> kinds{};  // of what is added, by region

  void join(const Claimed& o) {
    read.insert(o.read.begin(), o.read.end());
    added.insert(o.added.begin(), o.added.end());
    written.insert(o.written.begin(), o.written.end());
    for (size_t r = 0; r < 2; ++r) kinds[r] |= o.kinds[r];
  }
  bool reads(size_t region) const { return has(read, region); }
  bool changes(size_t region) const { return has(added, region) || has(written, region); }

 private:
  static bool has(const Units& units, size_t region) {
    return std::any_of(units.begin(), units.end(), [&](const auto& u) { return u.first == region; });
  }
};
Units of(const Units& units, size_t region, uint64_t unit) {
  Units out;
  for (const auto& [r, at] : units)
    if (r == region) out.insert({r, at / unit});
  return out;
}
bool common(const Units& a, const Units& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& v) { return b.contains(v); });
}
bool depend(const Claimed& a, const Claimed& b, size_t r, bool kinds_differ) {
  const Units wa = of(a.written, r, 4), wb = of(b.written, r, 4), ra = of(a.read, r, 1),
              rb = of(b.read, r, 1);
  const Units aa = of(a.added, r, 1), ab = of(b.added, r, 1);
  return common(of(a.written, r, 1), of(b.written, r, 1)) || common(wa, rb) || common(ra, wb) ||
         common(wa, ab) || common(aa, wb) || common(ra, ab) || common(aa, rb) ||
         (kinds_differ && common(aa, ab));
}

// Two regions, the second of which may be thought to be only read: then nobody takes down where.
struct World {
  explicit World(bool only_read) {
    for (const char* name : {"x", "y"}) regions.push_back(&memory.allocate(name, kClaimPage + 300));
    before.emplace(memory);
    if (!only_read) return;
    std::vector<std::unique_ptr<Claims>> all;
    all.push_back(std::make_unique<Claims>(*before));
    all[0]->read(*regions[1], regions[1]->base(), 4);
    Claims::learn(all, *before);
  }
  void claim(Claims& claims, Claimed& sets, std::mt19937_64& random) {
    for (uint64_t n = random() % 4; n != 0; --n) {
      const size_t r = random() % 2;
      const uint64_t size = 1 + random() % 64, at = kClaimPage - 64 + random() % 300;
      switch (random() % 3) {
        case 0:
          claims.read(*regions[r], regions[r]->base() + at, size);
          for (uint64_t i = at; i < at + size; ++i) sets.read.insert({r, i / 4});
          break;
        case 1:
          claims.write(*regions[r], regions[r]->base() + at, size);
          for (uint64_t i = at; i < at + size; ++i) sets.written.insert({r, i});
          break;
        default: {
          const uint64_t kind = uint64_t{1} << random() % 2;
          claims.add(*regions[r], regions[r]->base() + at, size, kind);
          for (uint64_t i = at; i < at + size; ++i) sets.added.insert({r, i / 4});
          sets.kinds[r] |= kind;
        }
      }
    }
  }

  Memory memory;
  std::vector<Region*> regions;
  std::optional<Before> before;
};

TEST(ClaimsJoined, OneHasWhatBothHad) {
  std::mt19937_64 random(11);
  size_t met = 0, apart = 0, later = 0, unknown = 0;
  for (int run = 0; run < 2000; ++run) {
    const bool only_read = run % 3 == 0;
    World world(only_read);
    std::array<Claimed, 3> sets;
    std::vector<std::unique_ptr<Claims>> all;
    for (Claimed& s : sets) {
      all.push_back(std::make_unique<Claims>(*world.before));
      world.claim(*all.back(), s, random);
    }
    // Where they meet in both regions the last of these is told.
    const Region* where = nullptr;
    bool where_only_read = false;
    for (size_t r = 0; r < 2; ++r) {
      Claimed a = sets[0], b = sets[1];
      if (only_read && r == 1) {
        if ((a.reads(r) || a.changes(r)) && (b.reads(r) || b.changes(r)) && (a.changes(r) || b.changes(r)))
          where = world.regions[r], where_only_read = true, ++unknown;
        a.read.clear(), b.read.clear();
      }
      if (depend(a, b, r, true)) where = world.regions[r], where_only_read = false;
    }
    const Claims::Meeting meeting = all[0]->take_over(*all[1]);
    ASSERT_EQ(meeting.region, where) << run;
    ASSERT_EQ(meeting.only_read, where_only_read) << run;
    ++(where != nullptr ? met : apart);
    // What was the second's is the first's now, and no more the second's.
    sets[0].join(sets[1]);
    Claimed empty;
    for (const auto& [claims, has] : {std::pair{all[1].get(), &empty}, {all[0].get(), &sets[0]}}) {
      std::vector<std::unique_ptr<Claims>> two;
      for (Claims* c : {claims, all[2].get()}) {
        two.push_back(std::make_unique<Claims>(*world.before));
        two.back().reset(c);
      }
      const Region* found = nullptr;
      for (size_t r = 2; r-- > 0;) {
        const bool changed = has->changes(r) || sets[2].changes(r);
        const bool users = (has->reads(r) || has->changes(r)) && (sets[2].reads(r) || sets[2].changes(r));
        const uint64_t kinds = has->kinds[r] | sets[2].kinds[r];
        if (changed && users && ((only_read && r == 1) || depend(*has, sets[2], r, kinds == 3)))
          found = world.regions[r];
      }
      EXPECT_EQ(Claims::meeting(two, *world.before).region, found) << run;
      later += found != nullptr ? 1 : 0;
      for (auto& c : two) static_cast<void>(c.release());
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(met, 200u);
  EXPECT_GT(apart, 200u);
  EXPECT_GT(later, 200u);
  EXPECT_GT(unknown, 50u);
}

// Two that add to one word meet where whoever asks wants to know of additions, of whatever kind.
TEST(ClaimsJoined, AdditionsToOneWordMeetWhereTheyAreAskedFor) {
  for (const uint64_t kind : {1u, 2u})
    for (const bool additions : {false, true})
      for (const uint64_t at : {0u, 4u, 8u}) {
        World world(false);
        std::vector<std::unique_ptr<Claims>> all;
        for (int i = 0; i < 2; ++i) all.push_back(std::make_unique<Claims>(*world.before));
        all[0]->add(*world.regions[0], world.regions[0]->base() + 4, 4, 1);
        all[1]->add(*world.regions[0], world.regions[0]->base() + at, 4, kind);
        const bool meets = at == 4 && (additions || kind != 1);
        EXPECT_EQ(Claims::meeting(all, *world.before, additions).region, meets ? world.regions[0] : nullptr)
            << kind << " " << additions << " " << at;
      }
}

}  // namespace
}  // namespace bitwell::machine
