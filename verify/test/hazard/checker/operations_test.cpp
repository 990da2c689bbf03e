// Operations that several lanes or warps have to do with: who is behind a copy that others have issued, what
// makes an mbarrier known, what lanes that know different things come out of a barrier with.
#include <gtest/gtest.h>

#include <array>
#include <bit>
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

// Reductions do not race with each other, and one that is behind a plain copy does not stand for it.
TEST(CopiesOfOthers, AreNotForgottenBehindReductions) {
  const Who first{{}, 0, 1}, second{{}, 1, 1}, third{{}, 2, 1};
  Trace t;
  const auto copies = [&](int line, const Who& who, uint64_t number, AccessKind kind) {
    t.issues(line, who, number, machine::Ending::bulk_group);
    t.operation(line, who, number, kind, global(0), 256, Proxy::async, 0);
    t.meets(line + 1, who, Sync::bulk_committed);
    t.meets(line + 2, who, Sync::bulk_waited, 0);
  };
  copies(10, first, 1, AccessKind::write);
  t.bar(15, {{{}, 0, kAll}, {{}, 1, kAll}});
  copies(20, second, 2, AccessKind::update);
  copies(30, third, 3, AccessKind::update);
  EXPECT_EQ(t.kinds(), Lines{"operation-race 10 30"});
}

// Of a piece half of which another copy has written, that half is found, whatever came of the piece before.
TEST(CopiesOfOthers, AreFoundInAPartOfAPiece) {
  const Who first{{}, 0, 1}, second{{}, 1, 1};
  Trace t;
  t.issues(10, first, 1, machine::Ending::bulk_group);
  for (const uint64_t at : {0, 256, 384, 512, 640})
    t.operation(10, first, 1, AccessKind::write, shared(0, at), 128, Proxy::async, 0);
  t.meets(11, first, Sync::bulk_committed);
  t.meets(12, first, Sync::bulk_waited, 0);
  t.issues(20, second, 2, machine::Ending::bulk_group);
  t.operation(20, second, 2, AccessKind::write, shared(0, 128), 128, Proxy::async, 0);
  t.issues(30, first, 3, machine::Ending::bulk_group);
  const std::array<uint64_t, 3> pieces{shared(0, 256), shared(0, 512), shared(0, 0)};
  machine::Access a{
      AccessKind::write, {Semantics::weak, Scope::cta, Proxy::async}, {}, 0, 0, 3, 1, 30, pieces, 256};
  a.issuer = 0;
  t.tell(first, a);
  ASSERT_EQ(t.kinds(), Lines{"operation-race 20 30"});
  EXPECT_EQ(t.checker.findings()[0].count, 8u);
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
    ASSERT_EQ(both[0].kept(), both[1].kept()) << "seed " << seed;
    found += both[0].found().size();
  }
  EXPECT_GT(found, 300u);
}

// Pieces that one operation reads and writes, side by side or not, come to the same told at once, by turns,
// or one after the other, whatever has been passed over between.
TEST(CopiesOfOthers, ReachPiecesByTurnsAsOneAfterTheOther) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](uint64_t below) { return random() % below; };
    const Triple ctas = seed % 5 == 0 ? Triple{2, 1, 1} : Triple{1, 1, 1};
    std::array<Trace, 2> both{Trace(ctas, ctas), Trace(ctas, ctas)};
    for (Trace& t : both) t.checker.keep(seed % 3 == 0 ? 1000 : seed % 3, seed % 2 == 0);
    uint64_t number = 0;
    for (uint64_t steps = 4 + draw(30); steps != 0; --steps) {
      const Who who{{}, static_cast<int>(draw(3)), kAll};
      const Who issuer{{}, who.warp, 1};
      const int line = 1 + static_cast<int>(draw(6));
      const uint64_t what = draw(7), begin = 256 * draw(6), bytes = uint64_t{4} << draw(6);
      const uint64_t count = 1 + draw(32), many = 1 + draw(3);
      const auto between = static_cast<uint32_t>(draw(3));
      const bool waits = draw(2) == 0;
      std::vector<std::vector<uint64_t>> pieces;
      std::vector<AccessKind> kinds;
      for (uint64_t i = 0; i < many; ++i) {
        const uint64_t apart = draw(2) == 0 ? bytes : 64 * draw(5);
        const uint64_t first = (draw(2) == 0 ? shared(0, begin) : global(begin)) + 16 * draw(3);
        std::vector<uint64_t>& all = pieces.emplace_back();
        for (uint64_t n = 0; n < count; ++n) all.push_back(first + n * apart);
        kinds.push_back(draw(2) == 0 ? AccessKind::read : AccessKind::write);
      }
      if (what >= 4) ++number;
      for (Trace& t : both) {
        if (what < 2)
          t.access(line, who, what == 0 ? AccessKind::write : AccessKind::read, shared(0, begin), {}, 4, 4);
        if (what == 2) t.meets(20, who, Sync::fence, 3, {Semantics::weak, Scope::cta, Proxy::async});
        if (what == 3) t.bar(21, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
        if (what < 4) continue;
        t.issues(10 + line, issuer, number,
                 what == 6 ? machine::Ending::mbarrier : machine::Ending::bulk_group);
        const auto access = [&](uint64_t i, uint64_t piece, uint64_t pieces_too) {
          machine::Access a{
              kinds[i],  {Semantics::weak, Scope::cta, Proxy::async}, {},   who.warp, 0, number, 1,
              10 + line, {pieces[i].data() + piece, pieces_too},      bytes};
          a.issuer = 0;
          return a;
        };
        std::vector<machine::Access> all;
        for (uint64_t i = 0; i < many; ++i) all.push_back(access(i, 0, count));
        if (&t == &both[0]) t.tell(issuer, machine::ByTurns{all, between});
        for (uint64_t n = 0; &t == &both[1] && n < count; ++n) {
          // Of bytes that nobody else reaches.
          const uint64_t far = shared(0, 1 << 16);
          machine::Access passed = access(0, 0, 1);
          passed.kind = AccessKind::read;
          passed.addresses = {&far, 1};
          for (uint32_t i = 0; n != 0 && i < between; ++i) t.tell(issuer, passed);
          for (uint64_t i = 0; i < many; ++i) t.tell(issuer, access(i, n, 1));
        }
        if (what == 6) continue;
        t.meets(22, issuer, Sync::bulk_committed);
        if (waits) t.meets(23, issuer, Sync::bulk_read, 0);
      }
    }
    ASSERT_EQ(both[0].found(), both[1].found()) << "seed " << seed;
    ASSERT_EQ(both[0].kept(), both[1].kept()) << "seed " << seed;
    found += both[0].found().size();
  }
  EXPECT_GT(found, 1000u);
}

// What one operation does piece by piece comes to what it does where something else comes between any two
// pieces: of those that come one after the other, what came of one is made of others.
TEST(CopiesOfOthers, ComeToTheSameWithSomethingBetweenTheirPieces) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](uint64_t below) { return random() % below; };
    const bool once = seed % 7 == 0;
    std::array<Trace, 2> both{Trace({1, 1, 1}, {1, 1, 1}, once), Trace({1, 1, 1}, {1, 1, 1}, once)};
    for (Trace& t : both) t.checker.keep(seed % 3 == 0 ? 1000 : seed % 3, seed % 2 == 0);
    for (Trace& t : both)
      for (const uint64_t barrier : {0, 8})
        t.mbarrier(1, {{}, 0, 1}, AccessKind::write, shared(0, 1 << 16 | barrier));
    uint64_t number = 0, mma = 0;
    struct Issued {
      uint64_t number;
      int line, warp, issuer;
    };
    std::vector<Issued> issued;
    std::array<uint64_t, 4> begins{};
    for (uint64_t& begin : begins) begin = 256 * draw(8);
    for (uint64_t steps = 6 + draw(40); steps != 0; --steps) {
      const Who who{{}, static_cast<int>(draw(4)), draw(3) == 0 ? 1u : kAll};
      const int line = 2 + static_cast<int>(draw(4));
      const uint64_t what = draw(18), begin = begins[draw(4)], rows = 1 + draw(24);
      const uint64_t bytes = uint64_t{4} << draw(6), apart = draw(3) == 0 ? bytes : 32 * (1 + draw(8));
      const auto space =
          draw(3) == 0 ? [](uint64_t at) { return global(at); } : [](uint64_t at) { return shared(0, at); };
      const std::array<uint64_t, 3> which{draw(1 + issued.size() / 8), draw(4), draw(2)};
      for (Trace& t : both) {
        // Between two pieces: nothing, or what has no meaning for anybody.
        const auto between = [&] {
          if (&t == &both[1]) t.meets(99, who, Sync::emptied);
        };
        const auto does_more = [&](const Issued& of, AccessKind kind) {
          for (uint64_t i = 0; i < rows; ++i) {
            between();
            t.operation(of.line, {{}, of.warp, 1}, of.number, kind, space(begin + apart * i), bytes,
                        Proxy::async, of.issuer);
          }
          between();
        };
        const auto does = [&](int of_line, AccessKind kind, int issuer) {
          const Issued of{number, of_line, who.warp, issuer};
          does_more(of, kind);
          if (&t == &both[1]) issued.push_back(of);
        };
        const auto issues = [&](int of_line, const Who& by, machine::Ending ending) {
          t.issues(of_line, by, number, ending);
        };
        if (what >= 6 && what < 12 && &t == &both[0]) ++number;
        switch (what) {
          case 0:
          case 1:
            t.access(line, who, what == 0 ? AccessKind::write : AccessKind::read, space(begin), {}, 4,
                     4 * (seed % 4));
            break;
          case 2: t.meets(20, who, Sync::fence, 3, {Semantics::weak, Scope::cta, Proxy::async}); break;
          case 3: t.bar(21, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}, {{}, 3, kAll}}); break;
          case 4: t.bar(21, {{{}, 0, kAll}, {{}, 1, kAll}}); break;
          case 5: {
            const uint64_t barrier = shared(0, 1 << 16 | 8 * (begin / 256 % 2));
            t.mbarrier(22, {{}, who.warp, 1}, AccessKind::update, barrier, {Semantics::release, Scope::cta});
            t.meets(22, {{}, 0, 0}, Sync::mbarrier_over, barrier - machine::kSharedWindow);
            for (uint32_t i = 0; i < machine::kLanes; ++i)
              t.meets(23, {{}, (who.warp + 1) % 4, 1u << i}, Sync::mbarrier_passed,
                      barrier - machine::kSharedWindow, {Semantics::acquire, Scope::cta});
            break;
          }
          case 6:
          case 7:
            issues(30 + line, {{}, who.warp, 1}, machine::Ending::bulk_group);
            does(30 + line, what == 6 ? AccessKind::read : AccessKind::write, 0);
            if (what == 6) does(30 + line, AccessKind::write, 0);
            t.meets(24, {{}, who.warp, 1}, Sync::bulk_committed);
            t.meets(25, {{}, who.warp, 1}, line == 2 ? Sync::bulk_read : Sync::bulk_waited, 0);
            break;
          case 8:  // of all lanes, each its part
            issues(40 + line, {{}, who.warp, kAll}, machine::Ending::copy_group);
            for (int i = 0; i < 3; ++i) does(40 + line, AccessKind::write, i);
            t.meets(26, {{}, who.warp, kAll}, Sync::copies_committed);
            t.meets(27, {{}, who.warp, kAll}, Sync::copies_waited, 0);
            break;
          case 9:
          case 10: {
            const uint64_t barrier = shared(0, 1 << 16 | 8 * (begin / 256 % 2));
            issues(50 + line, {{}, who.warp, 1}, machine::Ending::mbarrier);
            does(50 + line, AccessKind::write, 0);
            if (what == 10) t.completes(50 + line, {{}, who.warp, 1}, number, barrier, 0);
            break;
          }
          case 11:
            for (int w = 0; w < 4; ++w) t.meets(60 + line, {{}, w, kAll}, Sync::mma_issued, mma);
            t.meets(60 + line, {{}, 0, 0}, Sync::mma_started, mma);
            does(60 + line, AccessKind::read, -1);
            for (int w = 0; w < 4; ++w) t.meets(61, {{}, w, kAll}, Sync::mma_committed);
            for (int w = 0; w < 4; ++w) t.meets(62, {{}, w, kAll}, Sync::mma_waited, 0);
            if (&t == &both[1]) ++mma;
            break;
          case 14: {  // by tensor memory, and what is read for it
            machine::TensorOrder order;
            order.kind = machine::TensorOrder::Kind::copy;
            if (&t == &both[0]) ++number;
            t.issues(70 + line, {{}, who.warp, 1}, number, order);
            for (int i = 0; i < 3; ++i) {
              between();
              t.cells(70 + line, {{}, who.warp, 1}, number, AccessKind::write, 8 * (begin / 256 % 4), 8);
              does(70 + line, AccessKind::read, 0);
            }
            t.meets(71, {{}, who.warp, 0}, Sync::finished, number);
            if (&t == &both[1]) issued.clear();
            break;
          }
          case 12:
            t.access(28, who, AccessKind::read, space(begin),
                     {Semantics::weak, Scope::cta, Proxy::non_coherent});
            break;
          case 13:  // an mbarrier between
            if (issued.empty()) break;
            t.completes(50 + line, {{}, issued.back().warp, 1}, issued.back().number, shared(0, 1 << 16), 0);
            break;
          default:  // one of the last goes on, by that instruction or another
            if (issued.size() <= which[0]) break;
            Issued of = issued[issued.size() - 1 - which[0]];
            if (which[1] == 0) ++of.line;
            does_more(of, which[2] == 0 ? AccessKind::read : AccessKind::write);
        }
      }
    }
    ASSERT_EQ(both[0].found(), both[1].found()) << "seed " << seed;
    ASSERT_EQ(both[0].kept(), both[1].kept()) << "seed " << seed;
    found += both[0].found().size();
  }
  EXPECT_GT(found, 3000u);
}

// A copy over words that lanes of two warps have read, of which some of one warp's have fenced: those of the
// others are found, lane by lane.
TEST(CopiesOfOthers, AreToldOfReadsByTheLanesThatFence) {
  for (const uint32_t fence : {0u, 1u, 2u, 1u << 31, 0xFFFF0000u, 0x55555555u, kAll})
    for (const bool both : {false, true}) {
      Trace t;
      const Who first{{}, 0, kAll}, second{{}, 1, kAll}, copies{{}, 2, 1};
      t.access(2, first, AccessKind::read, shared(0, 0), {}, 4, 4);
      if (fence != 0) t.meets(3, {{}, 0, fence}, Sync::fence, 3, {Semantics::weak, Scope::cta, Proxy::async});
      if (both) t.access(4, second, AccessKind::read, shared(0, 0), {}, 4, 4);
      t.bar(5, {first, second, {{}, 2, kAll}});
      t.issues(10, copies, 1, machine::Ending::bulk_group);
      t.operation(10, copies, 1, AccessKind::write, shared(0, 0), 128, Proxy::async, 0);
      const auto of = [&](int line) {
        uint64_t out = 0;
        for (const Finding& f : t.checker.findings())
          out += f.kind == Kind::proxy_fence_war && f.earlier.site.ptx_line == line ? f.count : 0;
        return out;
      };
      EXPECT_EQ(of(2), 32u - static_cast<uint64_t>(std::popcount(fence))) << fence << both;
      EXPECT_EQ(of(4), both ? 32u : 0u) << fence << both;
    }
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
// The first lane is named as who has issued the copies of all: each goes by what its own lane has waited for.
TEST(CopiesOfOthers, GoByTheirOwnLane) {
  Trace t;
  const Who all{{}, 0, kAll}, first{{}, 0, 1};
  for (uint64_t number = 1; number <= 2; ++number) {
    t.issues(1, first, number, machine::Ending::copy_group);
    for (int lane = 0; lane < 32; ++lane)
      t.operation(1, all, number, AccessKind::write, shared(0, 4 * static_cast<uint64_t>(lane)), 4,
                  Proxy::generic, lane);
    t.meets(2, all, Sync::copies_committed);
    t.meets(3, all, Sync::copies_waited, 0);
  }
  EXPECT_EQ(t.found(), Lines{});
}

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
