// Random priorities: a seed is a run, and a bug shows as often as the bound promises.
#include "model/explore/pct.h"

#include <gtest/gtest.h>

#include "../kernel.h"
#include "model/explore/explorer.h"
#include "model/explore/order.h"
#include "verify/schedules/given.h"
#include "warps.h"

namespace bitwell::explore {
namespace {

// Word 0 becomes 1 and then 2 while another warp reads it; the other reads 1 in between alone: depth 2.
const Warps kBetween{{{Step::store, 0, 1}, {Step::store, 0, 2}}, {{Step::load, 0, 0}}};

Words run(const std::string& schedule, uint64_t seed, std::string* chance = nullptr) {
  const launch::Launch launch = explore::launch_of(kBetween);
  run::Options options;
  const launch::Start start(launch);
  schedules::Given given(schedule, seed, start, options);
  given.attach(options);
  if (chance != nullptr) *chance = given.chance();
  return explore::words_of(start.run(options, true).buffer(launch, 0));
}
uint32_t read_of(const Words& words) { return words[explore::kWords + explore::kOutputs]; }

TEST(Pct, ASeedIsARun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(run("pct:3", seed), run("pct:3", seed));
}

TEST(Pct, OfDepthOneNeverParts) {
  for (uint64_t seed = 1; seed <= 100; ++seed) EXPECT_NE(read_of(run("pct:1", seed)), 1u) << seed;
}

TEST(Pct, FindsABugOfItsDepthAsOftenAsItSays) {
  std::string chance;
  run("pct:2", 1, &chance);
  const size_t at = chance.find("1 in ");
  ASSERT_NE(at, std::string::npos) << chance;
  const double bound = 1 / std::stod(chance.substr(at + 5));
  constexpr uint64_t kSeeds = 2000;
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) found += read_of(run("pct:2", seed)) == 1 ? 1 : 0;
  EXPECT_GE(static_cast<double>(found), bound * kSeeds) << chance;
}

TEST(Pct, RefusesADepthThatIsNone) {
  for (const char* text : {"pct:", "pct:0", "pct:x", "pct:65", "pct:2x"})
    EXPECT_THROW(run(text, 1), machine::InputError) << text;
}

// Who went, of two warps that always can; from turn `later` on a third can too.
std::vector<uint32_t> went(Pct pct, size_t turns, size_t later = SIZE_MAX) {
  const std::vector<run::Taker> two{{0, 1, 0}, {0, 2, 0}}, three{{0, 1, 0}, {0, 2, 0}, {0, 3, 0}};
  std::vector<uint32_t> out;
  for (size_t turn = 1; turn <= turns; ++turn) {
    const std::vector<run::Taker>& can = turn >= later ? three : two;
    out.push_back(can[pct.choose(can)].warp);
  }
  return out;
}
// Turns before another goes.
std::vector<size_t> stretches(const std::vector<uint32_t>& went) {
  std::vector<size_t> out;
  for (size_t i = 0; i < went.size(); ++i)
    if (i == 0 || went[i] != went[i - 1])
      out.push_back(1);
    else
      ++out.back();
  return out;
}

// Who spins for what the other does is not to go on for ever; each goes on for as long as the other.
TEST(Pct, WhoHadVeryManyTurnsInARowFalls) {
  std::vector<size_t> all = stretches(went({1, 1, 5}, 100'000));
  ASSERT_GE(all.size(), 4u);
  all.pop_back();
  for (const size_t s : all) EXPECT_EQ(s, all[0]);
  const size_t most = all[0];
  EXPECT_GE(most, 1000u);
  // Turns are in a row only where nobody goes between them.
  for (const uint64_t seed : {1, 2, 3, 4}) {
    Pct pct(1, 1, seed);
    const std::vector<run::Taker> both{{0, 0, 0}, {0, 1, 0}};
    const size_t high = pct.choose(both);
    for (size_t i = 1; i < most / 2; ++i) EXPECT_EQ(pct.choose(both), high);
    pct.choose(std::span(both).subspan(1 - high, 1));
    for (size_t i = 0; i < most; ++i) EXPECT_EQ(pct.choose(both), high);
    EXPECT_EQ(pct.choose(both), 1 - high);
  }
  // A third that appears when the first has had all its turns has had none itself.
  size_t highest = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const uint32_t best = went({1, 1, seed}, 1, 1)[0];
    if (best != 3) continue;
    ++highest;
    const std::vector<uint32_t> now = went({1, 1, seed}, 2 * most, most + 1);
    EXPECT_EQ(stretches(now), (std::vector<size_t>{most, most})) << seed;
    EXPECT_EQ(now.back(), 3u);
  }
  EXPECT_GE(highest, 5u);
}

// Of depth d the one that goes falls at d - 1 turns among those that are expected.
TEST(Pct, ChangesAsOftenAsItsDepthSays) {
  constexpr uint64_t kTurns = 1000;
  for (const uint32_t depth : {1u, 2u, 3u, 4u}) {
    size_t right = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const std::vector<size_t> all = stretches(went({depth, kTurns, seed}, 3 * kTurns));
      EXPECT_LE(all.size(), depth);
      EXPECT_GE(all.back(), 2 * kTurns) << "none is behind the turns expected";
      right += all.size() == depth ? 1 : 0;  // two may fall on one turn, or one on the first
    }
    EXPECT_GE(right, 190u) << depth;
  }
  // Of one turn that is expected, that one.
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const uint64_t turns : {0, 1})
      EXPECT_NE(went({2, turns, seed}, 1), went({2, uint64_t{1} << 40, seed}, 1));
}

TEST(Pct, SaysItsChance) {
  EXPECT_EQ(explore::chance({4, 10}, 1), 0.25);
  EXPECT_EQ(explore::chance({4, 10}, 2), 0.025);
  EXPECT_EQ(explore::chance({4, 10}, 3), 0.0025);
  EXPECT_EQ(explore::chance({1, 1}, 3), 1);
  EXPECT_EQ(explore::chance({0, 0}, 3), 1);  // nobody, and no turn
}

TEST(Order, IsReadAsItIsWritten) {
  const explore::Order order{{{0, 1, 0}, 4}, {{0, 1, 2}, 1}, {{12, 3, 4}, 5}};
  EXPECT_EQ(explore::text_of(order), "0:1x4,0:1.2,12:3.4x5");
  EXPECT_EQ(explore::read_order("0:1x4,0:1.2,12:3.4x5"), order);
  for (const char* text : {"0:1x4y", "0:1x4 ", "0:1.2z", "0:1,,0:1", "x:1", ":1"})
    EXPECT_THROW(explore::read_order(text), machine::InputError) << text;
}
// What stands behind the text in memory is not read.
TEST(Order, EndsWhereItsTextDoes) {
  const std::string_view more = "0:1x3.2";
  EXPECT_EQ(read_order(more.substr(0, 3)), (Order{{{0, 1, 0}, 1}}));
  EXPECT_EQ(read_order(more.substr(0, 5)), (Order{{{0, 1, 0}, 3}}));
  EXPECT_THROW(read_order(more.substr(0, 1)), machine::InputError);
  EXPECT_THROW(read_order(more.substr(0, 2)), machine::InputError);
  EXPECT_THROW(read_order(more.substr(0, 4)), machine::InputError);
}

// An exploration of runs that are longer than it was told ends, and says so.
TEST(Order, OfARunThatIsTooLongIsNotExplored) {
  const launch::Launch launch = explore::launch_of(kBetween);
  const launch::Start start(launch);
  for (const size_t most : {size_t{1}, size_t{3}, size_t{1000}}) {
    Explorer explorer(launch.shape, most);
    run::Options options;
    options.chooser = &explorer;
    options.observers.push_back(explorer.observer());
    ASSERT_EQ(explorer.next(), Explorer::Next::run);
    std::string end;
    try {
      start.run(options, true);
    } catch (const Explorer::TooLong& e) {
      end = e.what();
    }
    EXPECT_EQ(end, most == 1000 ? "" : "a run has more than " + std::to_string(most) + " turns");
    explorer.end();
    EXPECT_LE(explorer.turns(), most);
  }
}

TEST(Order, NamesTheTurnThatItsOwnerCannotTake) {
  for (const auto& [order, turn] : {std::pair{"order:0:9", "turn 1 is of 0:9"},
                                    {"order:0:0x2,0:9", "turn 3 is of 0:9"},
                                    {"order:0:1,0:0,0:1.3", "turn 3 is of 0:1.3"}}) {
    std::string said;
    try {
      run(order, 1);
    } catch (const machine::InputError& e) {
      said = e.what();
    }
    EXPECT_NE(said.find(turn), std::string::npos) << said;
  }
}

TEST(Order, RefusesTextThatIsNone) {
  for (const char* text : {"order:0", "order:0:", "order:0:0x", "order:0:0x0", "order:0:0,", "order:a:b",
                           "order:0:0.", "order:7:0", "order:0:9"})
    EXPECT_THROW(run(text, 1), machine::InputError) << text;
}

}  // namespace
}  // namespace bitwell::explore
