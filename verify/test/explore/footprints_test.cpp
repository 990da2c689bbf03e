// Which turns are told to commute: places one by one, the modes, and what a turn of a warp or operation
// reaches.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "model/explore/actor.h"
#include "model/explore/footprint.h"
#include "model/machine/failure.h"

namespace bitwell::explore {
namespace {

constexpr Mode kModes[] = {Mode::read, Mode::write, Mode::join};

// They meet in a place, and do not both read it or join one phase there.
TEST(Footprints, OfOneTouchConflictWhereTheyMeet) {
  for (const Space space : {Space::global, Space::tensor, Space::issues})
    for (const uint32_t cluster : {0u, 1u})
      for (uint64_t begin = 2; begin <= 9; ++begin)
        for (uint64_t end = begin + 1; end <= 10; ++end)
          for (const Mode mode : kModes)
            for (const uint64_t phase : {6u, 7u})
              for (const Mode mine : kModes) {
                const Touch a{Space::tensor, 1, 4, 8, mine, 7}, b{space, cluster, begin, end, mode, phase};
                bool meet = false;
                for (uint64_t cell = begin; cell < end; ++cell) meet = meet || (cell >= 4 && cell < 8);
                bool commute = mine == Mode::read && mode == Mode::read;
                if (mine == Mode::join && mode == Mode::join) commute = phase == 7;
                const bool want = space == Space::tensor && cluster == 1 && meet && !commute;
                EXPECT_EQ(conflict({a}, {b}), want) << begin << " to " << end;
                EXPECT_EQ(conflict({b}, {a}), want) << begin << " to " << end;
                const Touch aside{Space::alive, 5, 0, 1, Mode::write};
                EXPECT_EQ(conflict({aside, a}, {b}), want);
                EXPECT_EQ(conflict({a}, {aside, b}), conflict({a}, {b, aside}));
              }
}

// Who would have joined the phase that a turn ended, and only they, are disturbed by it.
TEST(Footprints, APhaseThatIsOverDisturbsWhoWouldHaveJoinedIt) {
  for (const bool over : {false, true}) {
    const Touch taken{Space::barrier, 1, 3, 4, Mode::join, 2, over};
    for (const Space space : {Space::barrier, Space::groups})
      for (const uint32_t cluster : {0u, 1u, 2u})
        for (const uint64_t number : {2u, 3u, 4u}) {
          const Touch other{space, cluster, number, number + 1, Mode::join, 2};
          EXPECT_FALSE(conflict({taken}, {other}));
          EXPECT_EQ(disturbs({taken}, {other}),
                    over && space == Space::barrier && cluster == 1 && number == 3);
        }
    const Touch next{Space::barrier, 1, 3, 4, Mode::join, 3};
    EXPECT_TRUE(disturbs({taken}, {next})) << "of another phase they conflict";
  }
}

// However touches are put together, each cell is reached as it was told, and by nobody else.
TEST(Footprints, PutTogetherReachTheSameCells) {
  std::mt19937 random(1);
  using Kind = std::tuple<Space, uint32_t, Mode, uint64_t>;
  for (int run = 0; run < 2000; ++run) {
    std::map<Kind, std::set<uint64_t>> want, got;
    Footprint all;
    for (int i = 0; i < 3; ++i) {
      const Space space = random() % 4 == 0 ? Space::shared : Space::tensor;
      const uint64_t begin = random() % 8, end = begin + 1 + random() % 4;
      const Touch t{space, random() % 4 == 0 ? 1u : 0u, begin,
                    end,   kModes[random() % 4 == 0],   random() % 4 == 0};
      for (uint64_t cell = begin; cell < end; ++cell)
        want[{t.space, t.cluster, t.mode, t.phase}].insert(cell);
      add(all, t);
    }
    for (const Touch& t : all)
      for (uint64_t cell = t.begin; cell < t.end; ++cell)
        got[{t.space, t.cluster, t.mode, t.phase}].insert(cell);
    EXPECT_EQ(got, want);
  }
}
TEST(Footprints, ATouchThatContinuesTheLastMakesItLonger) {
  for (const auto& [begin, end, count] :
       {std::array<uint64_t, 3>{8, 9, 1}, {2, 4, 1}, {5, 6, 1}, {9, 10, 2}, {1, 3, 2}}) {
    Footprint all;
    add(all, {Space::shared, 0, 4, 8, Mode::read});
    add(all, {Space::shared, 0, begin, end, Mode::read});
    EXPECT_EQ(all.size(), count) << begin;
  }
}

// The CTAs of a cluster are counted as %cluster_ctarank counts them: x first, then y, then z.
TEST(Names, CountWarpsThroughTheCtasOfACluster) {
  for (const std::array<uint32_t, 3> cluster :
       {std::array<uint32_t, 3>{1, 1, 1}, {4, 1, 1}, {1, 3, 1}, {1, 1, 4}, {2, 3, 1}, {2, 2, 2}, {1, 2, 3}})
    for (const auto& [block, warps] : {std::pair{std::array<uint32_t, 3>{1, 1, 1}, 1u},
                                       {{31, 1, 1}, 1},
                                       {{32, 1, 1}, 1},
                                       {{33, 1, 1}, 2},
                                       {{64, 1, 1}, 2},
                                       {{16, 4, 2}, 4},
                                       {{8, 3, 3}, 3}}) {
      run::Shape shape;
      shape.cluster = cluster;
      shape.block = block;
      const Names names(shape);
      // Of the cluster that is second in every direction.
      uint32_t rank = 0;
      for (uint32_t z = 0; z < cluster[2]; ++z)
        for (uint32_t y = 0; y < cluster[1]; ++y)
          for (uint32_t x = 0; x < cluster[0]; ++x, ++rank) {
            const std::array<uint32_t, 3> cta{cluster[0] + x, cluster[1] + y, cluster[2] + z};
            EXPECT_EQ(names.rank(cta), rank);
            for (uint32_t w = 0; w < warps; ++w)
              EXPECT_EQ(names.warp(7, cta, static_cast<int>(w)), (Actor{7, rank * warps + w, 0}));
          }
    }
}

// An operation's name does not hang on how many others the cluster has issued.
TEST(Names, CountOperationsByTheWarpThatIssuesThem) {
  run::Shape shape;
  shape.block = {64, 1, 1};
  Names names(shape);
  const auto issue = [&](uint32_t cluster, int warp, uint64_t number) {
    machine::Synchronisation s{};
    s.kind = machine::Synchronisation::Kind::issued;
    s.warp = warp;
    s.which = number;
    return names.tell(cluster, s);
  };
  EXPECT_EQ(issue(0, 1, 1), (Actor{0, 1, 1}));
  EXPECT_EQ(issue(0, 0, 2), (Actor{0, 0, 1}));
  EXPECT_EQ(issue(1, 1, 1), (Actor{1, 1, 1}));
  EXPECT_EQ(issue(0, 1, 3), (Actor{0, 1, 2}));
  EXPECT_EQ(names.of({0, 0, 3}), (Actor{0, 1, 2}));
  EXPECT_EQ(names.of({0, 0, 2}), (Actor{0, 0, 1}));
  EXPECT_EQ(names.of({1, 0, 1}), (Actor{1, 1, 1}));
  EXPECT_EQ(names.of({1, 1, 0}), (Actor{1, 1, 0}));
  EXPECT_THROW(names.of({1, 0, 2}), machine::ModelBug);
  EXPECT_EQ(name_of({0, 1, 2}), "0:1.2");
  EXPECT_EQ(name_of({3, 4, 0}), "3:4");
  names.clear();
  EXPECT_EQ(issue(0, 1, 1), (Actor{0, 1, 1}));
}

}  // namespace
}  // namespace bitwell::explore
