// Operations that several lanes or warps have to do with: who is behind a copy that others have issued, what
// makes an mbarrier known, what lanes that know different things come out of a barrier with.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "trace.h"

namespace bitwell::hazard {
namespace {

constexpr Order kClusterRelease{Semantics::release, Scope::cluster, Proxy::generic};

// A copy over what another warp's copy writes: that its thread knows of something says nothing of the copy.
TEST(CopiesOfOthers, AreNotKnownByKnowingSomethingElse) {
  const Who first{{}, 0, 1}, second{{}, 1, 1};
  for (const bool behind : {false, true}) {
    Trace t;
    t.issues(10, first, 1, machine::Ending::bulk_group);
    t.operation(10, first, 1, AccessKind::write, global(0), 16, Proxy::async, 0);
    t.meets(11, first, Sync::bulk_committed);
    t.meets(12, first, Sync::bulk_waited, 0);
    if (behind)
      t.bar(13, {{{}, 0, kAll}, {{}, 1, kAll}});
    else
      t.bar(13, {{{}, 1, kAll}, {{}, 2, kAll}});
    t.issues(20, second, 2, machine::Ending::bulk_group);
    t.operation(20, second, 2, AccessKind::write, global(0), 16, Proxy::async, 0);
    EXPECT_EQ(t.kinds(), behind ? Lines{} : Lines{"operation-race 10 20"});
  }
}

// Reads of one operation that are told at once are those that are told one after the other.
TEST(CopiesOfOthers, ReadSeveralPiecesAsOneAfterTheOther) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](uint64_t below) { return random() % below; };
    std::array<Trace, 2> both;
    for (Trace& t : both) t.checker.keep(1000);
    uint64_t number = 0;
    for (uint64_t steps = 4 + draw(30); steps != 0; --steps) {
      const Who who{{}, static_cast<int>(draw(3)), 1};
      const int line = 1 + static_cast<int>(draw(6));
      const uint64_t what = draw(6), place = 16 * draw(40), bytes = 16 * (1 + draw(3));
      std::vector<uint64_t> pieces(1 + draw(32));
      for (uint64_t& address : pieces) address = shared(0, 16 * draw(40));
      if (what >= 4) ++number;
      for (Trace& t : both) {
        if (what < 2) t.write(line, who, shared(0, place));
        if (what == 2) t.meets(20, who, Sync::fence, 3, {Semantics::weak, Scope::cta, Proxy::async});
        if (what == 3) t.bar(21, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
        if (what < 4) continue;
        t.issues(10 + line, who, number, machine::Ending::bulk_group);
        machine::Access a{AccessKind::read,
                          {Semantics::weak, Scope::cta, Proxy::async},
                          {},
                          who.warp,
                          0,
                          number,
                          1,
                          10 + line,
                          pieces,
                          bytes};
        a.issuer = 0;
        for (size_t i = 0; i < pieces.size(); ++i) {
          machine::Access one = a;
          one.addresses = a.addresses.subspan(i, 1);
          if (&t == &both[1]) t.tell(who, one);
        }
        if (&t == &both[0]) t.tell(who, a);
        t.meets(22, who, Sync::bulk_committed);
        if (what == 5) t.meets(23, who, Sync::bulk_read, 0);
      }
    }
    ASSERT_EQ(both[0].found(), both[1].found()) << "seed " << seed;
    for (size_t i = 0; i < both[0].checker.findings().size(); ++i) {
      const auto &x = both[0].checker.findings()[i].met, &y = both[1].checker.findings()[i].met;
      ASSERT_EQ(x.size(), y.size());
      for (size_t n = 0; n < x.size(); ++n) {
        ASSERT_EQ(x[n].access, y[n].access) << "seed " << seed;
        ASSERT_EQ(x[n].address, y[n].address) << "seed " << seed;
      }
    }
    found += both[0].found().size();
  }
  EXPECT_GT(found, 300u);
}

// Lanes that have issued one copy each, the same: it is over for a lane when it has waited for its own, and
// the others' may still write then.
TEST(CopiesOfOthers, OfLanesThatIssueTheSameEachWaitsForItsOwn) {
  for (const uint32_t waits : {0b01u, 0b10u, 0b11u})
    for (const uint32_t reads : {0b01u, 0b10u}) {
      Trace t;
      const Who both{{}, 0, 0b11};
      t.issues(10, both, 1, machine::Ending::bulk_group);
      t.operation(10, both, 1, AccessKind::write, global(0), 16, Proxy::async);
      t.meets(11, both, Sync::bulk_committed);
      t.meets(12, {{}, 0, waits}, Sync::bulk_waited, 0);
      t.meets(13, both, Sync::warp_met);
      t.read(20, {{}, 0, reads}, global(0));
      const bool over = (waits & 0b10) != 0;  // of the lanes that write the last one's is taken for all
      EXPECT_EQ(t.kinds(), over ? Lines{} : Lines{"operation-race 10 20"}) << waits << reads;
    }
}

// A copy into another CTA's shared memory, as a thread's own access, wants that CTA to have begun.
TEST(CopiesOfOthers, ReachACtaThatHasBegun) {
  for (const uint32_t to : {0u, 1u})
    for (const bool met : {false, true}) {
      Trace t({2, 1, 1}, {2, 1, 1});
      const Who who{{0, 0, 0}, 0, 1};
      if (met) t.cluster_bar(5, {{{0, 0, 0}, 0, kAll}, {{1, 0, 0}, 0, kAll}}, 1);
      t.issues(10, who, 1, machine::Ending::mbarrier);
      t.operation(10, who, 1, AccessKind::write, shared(to, 64), 16, Proxy::async, 0);
      EXPECT_EQ(t.kinds(), to == 1 && !met ? Lines{"cluster-start 10 10"} : Lines{});
    }
}

// A tensor map that a copy of a bulk group goes by is its thread's again when it has waited.
TEST(CopiesOfOthers, KeepTheirMapUntilTheirThreadHasWaited) {
  for (const uint32_t lane : {0u, 3u, 31u})
    for (const bool waited : {false, true}) {
      Trace t;
      const Who who{{}, 0, 1u << lane};
      t.read(10, who, global(0), {Semantics::weak, Scope::cta, Proxy::tensor_map});
      t.issues(10, who, 1, machine::Ending::bulk_group);
      t.operation(10, who, 1, AccessKind::write, global(4096), 16, Proxy::async, static_cast<int>(lane));
      t.meets(11, who, Sync::bulk_committed);
      if (waited) t.meets(12, who, Sync::bulk_waited, 0);
      t.write(20, who, global(64));
      EXPECT_EQ(t.kinds(), waited ? Lines{} : Lines{"operation-race 10 20"}) << lane;
    }
}

// Of lanes that copy by one instruction each goes by its own map: what another lane has read keeps nothing
// for it.
TEST(CopiesOfOthers, KeepTheMapsOfTheirOwnLanes) {
  for (const uint32_t reads : {0u, 3u, 31u})
    for (const uint32_t copies : {0u, 3u, 31u}) {
      Trace t;
      const Who reader{{}, 0, 1u << reads}, copier{{}, 0, 1u << copies};
      t.read(10, reader, global(0), {Semantics::weak, Scope::cta, Proxy::tensor_map});
      t.issues(10, copier, 1, machine::Ending::bulk_group);
      t.operation(10, copier, 1, AccessKind::write, global(4096), 16, Proxy::async, static_cast<int>(copies));
      t.meets(11, copier, Sync::bulk_committed);
      t.write(20, reader, global(64));
      EXPECT_EQ(t.kinds(), reads == copies ? Lines{"operation-race 10 20"} : Lines{})
          << reads << " " << copies;
    }
}

// MMAs on one accumulator by two warps, with fences around what orders the warps, are in order as one warp's
// are.
TEST(CopiesOfOthers, OfTwoWarpsMmasInOrderAreThoseOfOneAccumulator) {
  const machine::TensorOrder mma{machine::TensorOrder::Kind::mma, {0, 128, 64, 1}};
  const machine::TensorOrder apart{machine::TensorOrder::Kind::mma, {256, 128, 64, 1}};
  for (const int fences : {0, 1, 2, 3})
    for (const bool same : {false, true}) {
      Trace t;
      const Who first{{}, 0, 1}, second{{}, 1, 1};
      t.issues(10, first, 1, mma);
      t.cells(10, first, 1, AccessKind::update, 0, 4);
      if ((fences & 1) != 0) t.meets(11, {{}, 0, kAll}, Sync::tensor_fence_before);
      t.bar(12, {{{}, 0, kAll}, {{}, 1, kAll}});
      if ((fences & 2) != 0) t.meets(13, {{}, 1, kAll}, Sync::tensor_fence_after);
      t.issues(20, second, 2, same ? mma : apart);
      t.cells(20, second, 2, AccessKind::update, 0, 4);
      EXPECT_EQ(t.kinds(), fences != 3 ? Lines{"operation-race 10 20"}
                           : same      ? Lines{}
                                       : Lines{"tcgen05-mma 10 20"});
    }
}

// The fence that makes an mbarrier known to operations is of a thread that has initialised it: not of another
// warp's with the same number.
TEST(CopiesOfOthers, FindAnMbarrierThatItsMakerHasFenced) {
  for (const int warp : {0, 1, 2}) {
    Trace t;
    t.mbarrier(5, {{}, 0, 1}, AccessKind::write, shared(0, 64));
    t.meets(6, {{}, warp, 1}, Sync::mbarrier_init_fence, 0, kClusterRelease);
    t.bar(7, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
    const Who issuer{{}, 1, 1};
    t.issues(10, issuer, 1, machine::Ending::mbarrier);
    t.completes(10, issuer, 1, shared(0, 64), 0);
    EXPECT_EQ(t.kinds(), warp == 0 ? Lines{} : Lines{"mbarrier-init-fence 5 10"});
  }
}

// What an arrival of the cluster's scope has published of the writes to another CTA, no later one of its
// CTA's is blamed for; what came behind it is.
TEST(CopiesOfOthers, AWriteToAnotherCtaIsPublishedOnce) {
  for (const bool again : {false, true}) {
    Trace t({2, 1, 1}, {2, 1, 1});
    const Who writer{{0, 0, 0}, 0, 1};
    const uint64_t at = shared(1, 8);
    t.mbarrier(2, writer, AccessKind::write, at);
    t.cluster_bar(3, {{{0, 0, 0}, 0, kAll}, {{1, 0, 0}, 0, kAll}}, 1);
    t.write(10, writer, shared(1, 64));
    t.write(11, {{0, 0, 0}, 0, 2}, shared(1, 128));  // by a lane that releases nothing yet
    t.mbarrier(12, writer, AccessKind::update, at, kClusterRelease);
    if (again) t.write(13, writer, shared(1, 64));
    t.mbarrier(14, writer, AccessKind::update, at, {Semantics::release, Scope::cta, Proxy::generic});
    EXPECT_EQ(t.kinds(), again ? Lines{"mbarrier-scope 13 14"} : Lines{});
  }
}

// Lanes that know different things keep them at a barrier of the cluster that tells nothing.
TEST(CopiesOfOthers, ABarrierTakesNothingFromALaneThatKnowsMore) {
  const Who writer{{}, 1, 1};
  const Order release{Semantics::release, Scope::cta, Proxy::generic},
      acquire{Semantics::acquire, Scope::cta, Proxy::generic};
  for (const uint32_t lane : {0u, 1u, 5u, 31u})
    for (const uint32_t reads : {0u, 5u}) {
      Trace t;
      t.write(10, writer, shared(0, 64));
      t.write(11, writer, shared(0, 0), release);
      t.read(12, {{}, 0, 1u << lane}, shared(0, 0), acquire);
      t.cluster_bar(13, {{{}, 0, kAll}, {{}, 1, kAll}}, 1, Semantics::relaxed);
      t.read(20, {{}, 0, 1u << reads}, shared(0, 64));
      EXPECT_EQ(t.kinds(), lane == reads ? Lines{} : Lines{"race 10 20"}) << lane << reads;
    }
}

}  // namespace
}  // namespace bitwell::hazard
