// Whose cases are whose.
#include "verify/journal/parts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace bitwell::journal {
namespace {

RC_GTEST_PROP(Part, EachPieceIsOfOneShardWhateverTimesThereAre, ()) {
  const size_t count = *rc::gen::inRange(0, 60);
  const uint64_t shards = *rc::gen::inRange(1, 12);
  std::vector<double> seconds;
  if (*rc::gen::arbitrary<bool>())
    for (size_t i = 0; i < count; ++i) seconds.push_back(*rc::gen::inRange(0, 1000) / 7.0);
  std::vector<size_t> all;
  for (uint64_t i = 1; i <= shards; ++i) {
    const std::vector<size_t> its = part(count, seconds, {i, shards});
    all.insert(all.end(), its.begin(), its.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<size_t> each(count);
  std::iota(each.begin(), each.end(), size_t{0});
  RC_ASSERT(all == each);
}

TEST(Part, WithoutTimesShardsTakeTurns) {
  EXPECT_EQ(part(7, {}, {2, 3}), (std::vector<size_t>{1, 4}));
  EXPECT_EQ(part(7, {}, {1, 1}), (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6}));
}

// 8 + 3, 5 + 4 + 2: each goes to whom has least so far, in the order in which each begins them.
TEST(Part, ByTimesTheLongestComeFirstAndShardsEndTogether) {
  const std::vector<double> seconds{2, 5, 3, 8, 4};
  EXPECT_EQ(part(5, seconds, {1, 2}), (std::vector<size_t>{3, 2}));
  EXPECT_EQ(part(5, seconds, {2, 2}), (std::vector<size_t>{1, 4, 0}));
  EXPECT_EQ(part(5, seconds, {1, 1}), (std::vector<size_t>{3, 1, 4, 2, 0}));
  EXPECT_EQ(part(2, {1, 2}, {3, 9}), std::vector<size_t>{});
}

}  // namespace
}  // namespace bitwell::journal
