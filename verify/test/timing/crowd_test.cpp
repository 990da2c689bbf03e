// Warps of a quarter that compute side by side.
#include "model/timing/crowd.h"

#include <gtest/gtest.h>

namespace bitwell::timing {
namespace {

// With others a warp takes no less than alone, nor less than all of them need of what they share; and no more
// than if it had waited for each of the others once.
TEST(Crowd, AWarpWaitsForSomeOfTheOthers) {
  for (const Time alone : {Time{1}, kCycle, 3 * kCycle, 1000 * kCycle, 1000000 * kCycle})
    for (const Time busy : {Time{0}, Time{1}, alone / 100, alone / 3, alone - 1, alone, 2 * alone}) {
      const auto longer = Crowd::longer(alone, busy);
      const Time asks = std::min(busy, alone);
      EXPECT_EQ(longer[1], 0) << alone << ", " << busy;
      for (size_t warps = 2; warps <= Crowd::kMost; ++warps) {
        const auto others = static_cast<Time>(warps - 1);
        EXPECT_GE(longer[warps], longer[warps - 1]) << alone << ", " << busy << ", " << warps;
        EXPECT_GE(alone + longer[warps] + 1, (others + 1) * asks) << alone << ", " << busy << ", " << warps;
        EXPECT_LE(longer[warps], others * asks) << alone << ", " << busy << ", " << warps;
      }
    }
}

// Three cases of the analysis, worked out with fractions: a third of the time at what is shared, half, all of
// it.
TEST(Crowd, TwoAndThreeWarpsWaitAsTheAnalysisSays) {
  const Time whole = 3600 * kCycle;
  // By two, the other is there for that part of the time.
  EXPECT_NEAR(static_cast<double>(Crowd::longer(whole, whole / 3)[2]), static_cast<double>(whole) / 9, 1);
  EXPECT_NEAR(static_cast<double>(Crowd::longer(whole, whole / 2)[2]), static_cast<double>(whole) / 4, 1);
  EXPECT_EQ(Crowd::longer(whole, whole)[2], whole);
  EXPECT_EQ(Crowd::longer(whole, whole)[16], 15 * whole);
  // By three: two of them are at what half of the time is spent at 2 * 3/4 of 5/4 = 1.2 on average.
  EXPECT_NEAR(static_cast<double>(Crowd::longer(whole, whole / 2)[3]), 0.6 * static_cast<double>(whole), 1);
}

TEST(Crowd, CountsWhoComputesThen) {
  Crowd crowd;
  const uint8_t a = crowd.comes(), b = crowd.comes(), c = crowd.comes();
  EXPECT_EQ(crowd.at(a, 0), 1U);
  crowd.computes(a, 100 * kCycle, 200 * kCycle);
  crowd.computes(b, 5000 * kCycle, 6000 * kCycle);
  EXPECT_EQ(crowd.at(c, 150 * kCycle), 2U);
  EXPECT_EQ(crowd.at(a, 150 * kCycle), 1U);   // itself
  EXPECT_EQ(crowd.at(c, 50 * kCycle), 1U);    // none has begun
  EXPECT_EQ(crowd.at(c, 1100 * kCycle), 2U);  // a goes on, as far as is known
  EXPECT_EQ(crowd.at(c, 1300 * kCycle), 1U);  // and waits for something by now
  crowd.computes(a, 900 * kCycle, 4500 * kCycle);
  EXPECT_EQ(crowd.at(c, 150 * kCycle), 2U);  // it has since 100
  EXPECT_EQ(crowd.at(c, 5100 * kCycle), 3U);
  crowd.computes(a, 9000 * kCycle, 9100 * kCycle);
  EXPECT_EQ(crowd.at(c, 5100 * kCycle), 2U);  // a waited meanwhile
  for (size_t i = 3; i < Crowd::kMost; ++i) crowd.comes();
  EXPECT_EQ(crowd.comes(), a);
}

// Where a part is twice as slow, who does nothing else takes twice as long, whoever else is there; who needs
// it half of the time then at most waits for others alone.
TEST(Crowd, WhatIsSlowedTakesLonger) {
  const Time whole = 3600 * kCycle;
  const auto all = Crowd::longer(whole, whole, 2 * whole);
  EXPECT_EQ(all[1], whole);
  EXPECT_EQ(all[2], 2 * whole);
  EXPECT_EQ(all[16], 16 * whole);
  const auto none = Crowd::longer(whole, whole / 2, whole / 2);
  EXPECT_EQ(none[1], 0);
  EXPECT_EQ(none[7], 0);
  const auto some = Crowd::longer(whole, whole / 4, whole / 2);
  EXPECT_EQ(some[1], 0);
  // A quarter more in the queue of two: 1/4 of the time by half, 1/16 by a quarter.
  EXPECT_NEAR(static_cast<double>(some[2]), static_cast<double>(whole) * (1.0 / 4 - 1.0 / 16), 1);
}

TEST(Crowd, CountsWhoHandsProductsOver) {
  Products products;
  EXPECT_EQ(products.hand_over(3, 0), 1U);
  EXPECT_EQ(products.hand_over(3, 20 * kCycle), 1U);
  EXPECT_EQ(products.hand_over(4, 25 * kCycle), 2U);
  EXPECT_EQ(products.hand_over(15, 30 * kCycle), 3U);
  EXPECT_EQ(products.hand_over(3, 900 * kCycle), 3U);
  EXPECT_EQ(products.hand_over(3, 1026 * kCycle), 2U);  // the second's was 1,001 cycles ago
  EXPECT_EQ(products.hand_over(4, 5000 * kCycle), 1U);
}

}  // namespace
}  // namespace bitwell::timing
