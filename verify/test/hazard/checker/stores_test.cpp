// Lanes that store together: at places that overlap in part, with and without a change, and at another CTA's
// whose first warp alone is known to have begun.
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard {
namespace {

using Found = std::vector<std::string>;

// Two lanes of one instruction that write over each other: the manual leaves it to one of them, whichever
// lanes they are.
TEST(Stores, OfOneInstructionMayOverlapInPart) {
  for (const auto& [one, other] : {std::pair{0u, 1u}, {3u, 5u}, {5u, 31u}, {30u, 31u}})
    for (const uint64_t apart : {0u, 4u}) {
      Trace t;
      std::array<uint64_t, machine::kLanes> addresses{};
      addresses.fill(global(4096));
      addresses[one] = global(64);
      addresses[other] = global(64 + apart);
      t.access(1, {{}, 0, 1u << one | 1u << other}, AccessKind::write, addresses, {}, 8);
      EXPECT_EQ(t.kinds(), Found{}) << one << " " << other << " " << apart;
      // By two instructions they race.
      Trace apart_in_time;
      apart_in_time.access(1, {{}, 0, 1u << one}, AccessKind::write, addresses, {}, 8);
      apart_in_time.access(2, {{}, 0, 1u << other}, AccessKind::write, addresses, {}, 8);
      EXPECT_EQ(apart_in_time.kinds(), Found{"warp-race 1 2"}) << one << " " << other << " " << apart;
    }
}

// A lane that changes nothing stays one, whatever lanes beside its bytes change.
TEST(Stores, ThatChangeNothingAreNotToldForTheirNeighbours) {
  for (const uint64_t beside : {0u, 60u, 63u, 64u, 68u, 128u}) {
    Trace t;
    t.write(1, {{}, 1}, global(64));
    std::array<uint64_t, machine::kLanes> addresses{};
    addresses[1] = global(beside);
    addresses[2] = global(64);
    machine::Access a{AccessKind::write, {}, {}, 0, 6, 0, 100, 2, addresses, 4};
    a.unchanged = 4;
    t.tell({}, a);
    const bool meets = beside > 60 && beside < 68;
    const Found found = t.kinds();
    ASSERT_FALSE(found.empty()) << beside;
    EXPECT_EQ(found[0], meets ? "race 1 2" : "equal-stores 1 2") << beside;
  }
}

// Who has seen any warp of another CTA at work may use its shared memory.
TEST(Stores, IntoACtaOfWhichOneWarpHasBegun) {
  for (const int warp : {0, 1, 3})
    for (const bool seen : {true, false}) {
      Trace t({2, 1, 1}, {2, 1, 1});
      const Who own{{0, 0, 0}, 0, 1}, peer{{1, 0, 0}, warp, 1};
      const Order release{Semantics::release, Scope::gpu, Proxy::generic},
          acquire{Semantics::acquire, Scope::gpu, Proxy::generic};
      t.write(1, peer, global(0), release);
      t.read(2, own, global(0), seen ? acquire : Order{Semantics::relaxed, Scope::gpu, Proxy::generic});
      t.write(3, own, shared(1, 64));
      EXPECT_EQ(t.kinds(), seen ? Found{} : Found{"cluster-start 3 3"}) << warp;
    }
}

// Sets of readers that no cell has any more go, and others get their numbers: what was found of the set of
// one cell is not taken for what another's comes to.
TEST(Stores, LeaveTheirOwnReadersWhereOtherSetsHaveGone) {
  Trace t;
  const Who lane{{}, 0, 1};
  t.read(1, {{}, 1, 1}, shared(0, 0));
  t.read(2, {{}, 2, 1}, shared(0, 0));
  t.read(10, {{}, 0, 1u << 3}, shared(0, 64));
  t.read(11, {{}, 0, 1u << 5}, shared(0, 64));
  t.write(20, lane, shared(0, 0));  // no reader is of its warp
  for (int i = 0; i < 4000; ++i) t.read(100 + i, {{}, 3 + i % 2, 1u << i / 2 % 32}, shared(0, 128));
  t.write(20, lane, shared(0, 64));  // both are
  t.write(21, {{}, 0, 2}, shared(0, 64));
  EXPECT_EQ(t.kinds(), (Lines{"race 1 20", "race 2 20", "warp-race 10 20", "warp-race 11 20",
                              "warp-race 20 21", "warp-race 10 21", "warp-race 11 21"}));
}

}  // namespace
}  // namespace bitwell::hazard
