// What is known of lines that lanes reached before says what a look for them would say.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "model/timing/multiprocessor.h"

namespace bitwell::timing {
namespace {

// Two caches, one of which is asked by place where a line's is known: they miss the same.
TEST(Spread, ALineIsFoundByItsPlaceWhereALookFindsIt) {
  std::mt19937_64 drawn(1);
  for (const uint64_t sets : {1, 3, 18}) {
    L1 by_place, by_look;
    by_place.set_size(sets * 16 * kLine);
    by_look.set_size(sets * 16 * kLine);
    std::map<std::pair<uint32_t, uint32_t>, L1::Place> places;  // by line and sectors
    uint64_t found = 0;
    for (int i = 0; i < 100000; ++i) {
      const auto line = static_cast<uint32_t>(drawn() % (20 * sets));
      const auto sectors = static_cast<uint32_t>(drawn() % 15 + 1);
      const uint32_t missing = by_look.misses(line, line, sectors);
      L1::Place& place = places[{line, sectors}];
      if (by_place.has(place)) {
        ASSERT_EQ(missing, 0) << sets << " sets, " << i;
        ++found;
      } else {
        ASSERT_EQ(by_place.misses(line, line, sectors, place), missing) << sets << " sets, " << i;
      }
    }
    EXPECT_GT(found, 10000) << sets << " sets";
  }
}

// Lanes reach the same sectors again if each does, of bytes that lie in one.
TEST(Spread, LanesReachTheSameSectorsAgainIfEachDoes) {
  std::mt19937_64 drawn(2);
  uint64_t again = 0, others = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bytes = 1u << drawn() % 5;
    std::vector<uint64_t> first(Spread::kLanes), then(Spread::kLanes);
    std::vector<LineSectors> lines;
    for (size_t lane = 0; lane < first.size(); ++lane) {
      const uint64_t sector = drawn() % 1000;
      const auto place = [&] {
        return sector * Spread::kSector + drawn() % (Spread::kSector / bytes) * bytes;
      };
      first[lane] = place();
      then[lane] = place();
      lines.push_back({sector / 4, 1u << sector % 4});
    }
    Spread spread;
    EXPECT_TRUE(spread.empty());
    spread.remember(first.data(), bytes, lines.data(), lines.size(), {40, 7});
    ASSERT_EQ(spread.count(), lines.size());
    ASSERT_EQ(spread.sectors(), lines.size());
    ASSERT_EQ(spread.banks().fronts, 7);
    ASSERT_EQ(spread.banks().conflicts(), 5);
    if (i % 2 != 0) then[drawn() % then.size()] += Spread::kSector * (drawn() % 3 - 1) + bytes / 2;
    bool same = true;
    for (size_t lane = 0; lane < first.size(); ++lane)
      same = same && then[lane] / Spread::kSector == first[lane] / Spread::kSector && then[lane] % bytes == 0;
    ASSERT_EQ(spread.is_again(then.data(), bytes), same) << i;
    ++(same ? again : others);
    EXPECT_FALSE(spread.is_again(first.data(), bytes, Spread::kLanes - 1));
    EXPECT_FALSE(spread.is_again(first.data(), 2 * bytes));
    spread.forget();
    EXPECT_FALSE(spread.is_again(first.data(), bytes));
  }
  EXPECT_GT(again, 8000);
  EXPECT_GT(others, 5000);
}

// What reaches two sectors with a lane's bytes, or not so many bytes as there are in one, is not remembered.
TEST(Spread, WhatReachesSeveralSectorsIsNotRemembered) {
  std::vector<uint64_t> at(Spread::kLanes, 64);
  std::vector<LineSectors> lines(Spread::kLanes + 1);
  Spread spread;
  const auto remembers = [&](uint32_t bytes, size_t many) {
    spread.remember(at.data(), bytes, lines.data(), many, {});
    return !spread.empty();
  };
  EXPECT_TRUE(remembers(8, Spread::kLanes));
  EXPECT_FALSE(remembers(8, Spread::kLanes + 1));
  EXPECT_FALSE(remembers(12, 1));
  EXPECT_FALSE(remembers(64, 1));
  at[31] = 60;
  EXPECT_FALSE(remembers(8, 1));
}

}  // namespace
}  // namespace bitwell::timing
