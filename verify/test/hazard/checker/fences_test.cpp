// fence.sc by threads that hand nothing on themselves, and what orders tensor memory (PTX ISA 9.0, 8.9 and
// 9.7.16.6).
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard {
namespace {

using machine::TensorOrder;

constexpr Order kFlag{Semantics::relaxed, Scope::gpu, Proxy::generic};

// Threads write and fence, another of their CTA raises a flag for them behind a barrier; one of another CTA
// sees it, and behind a barrier others fence and read. Both fences must be fence.sc with the other in scope.
TEST(ScFences, SynchroniseThoseOnBothSidesOfAFlag) {
  enum class Kind : uint8_t { none, acq_rel, sc };
  for (const uint32_t other : {1u, 2u})  // of the cluster, of another
    for (const Kind before : {Kind::none, Kind::acq_rel, Kind::sc})
      for (const Kind behind : {Kind::none, Kind::acq_rel, Kind::sc})
        for (const Scope a : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys})
          for (const Scope b : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys})
            for (const bool own_flag : {false, true})
              for (const bool earlier_fence : {false, true}) {
                Trace t({4, 1, 1}, {2, 1, 1});
                const Who writer{{0, 0, 0}, 0, 0b100}, flagger{{0, 0, 0}, own_flag ? 0 : 1, 0b10};
                const Who seer{{other, 0, 0}, own_flag ? 2 : 1, 1}, reader{{other, 0, 0}, 2, 0b1000};
                const auto fence = [&](int line, const Who& who, Kind kind, Scope scope) {
                  if (kind == Kind::none) return;
                  t.meets(line, who, Sync::fence, 0,
                          {kind == Kind::sc ? Semantics::sc : Semantics::acq_rel, scope, Proxy::generic});
                };
                // A fence of another lane, before, says nothing of what is written behind it.
                if (earlier_fence) fence(5, {writer.cta, 0, 0b111}, Kind::sc, Scope::gpu);
                t.write(10, writer, global(0));
                fence(11, {writer.cta, 0, 0b1100}, before, a);
                t.write(12, writer, global(4));  // behind the fence
                t.bar(15, {{writer.cta, 0, kAll}, {writer.cta, 1, kAll}});
                t.write(20, flagger, global(64), kFlag);
                t.read(30, seer, global(64), kFlag);
                t.bar(35, {{seer.cta, 1, kAll}, {seer.cta, 2, kAll}});
                fence(36, {reader.cta, 2, 0b1010}, behind, b);
                t.read(40, reader, global(0));
                t.read(41, reader, global(4));
                t.read(42, {reader.cta, 2, 0b100}, global(0));  // a lane that has not fenced
                const auto has = [&](Kind kind, Scope s) {
                  return kind == Kind::sc && s >= (other == 1 ? Scope::cluster : Scope::gpu);
                };
                bool late = false, silent = true;
                for (const Finding& f : t.checker.findings()) {
                  if (f.later.site.ptx_line == 40) silent = false;
                  if (f.later.site.ptx_line == 40 && row_of(f.kind).name == "release") late = true;
                }
                const bool right = has(before, a) && has(behind, b);
                EXPECT_EQ(silent, right) << int(before) << int(behind) << int(a) << int(b) << other;
                if (has(before, a) && !right) {
                  EXPECT_TRUE(late) << int(before) << int(behind) << int(a) << int(b) << other;
                }
                const Lines kinds = t.kinds();
                EXPECT_TRUE(std::find(kinds.begin(), kinds.end(), "race 12 41") != kinds.end());
                EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(),
                                        [](const std::string& k) { return k.ends_with(" 10 42"); }));
              }
}

// A tensor map that a thread writes, and another copies by: released by the one, acquired by the other for
// this map, in a scope that has both (9.7.13.5).
TEST(MapFences, AreOnBothSidesOfAChangedMap) {
  for (const uint32_t other : {0u, 1u})
    for (const int releases : {-1, 0, 1, 2, 3})  // not, or in that scope
      for (const int acquires : {-1, 0, 1, 2, 3})
        for (const bool this_map : {false, true}) {
          Trace t({2, 1, 1}, {2, 1, 1});
          const Who writer{{0, 0, 0}, 0, 2}, reader{{other, 0, 0}, 1, 4};
          t.write(10, writer, global(0));
          if (releases >= 0)
            t.meets(11, writer, Sync::fence, 0,
                    {Semantics::release, static_cast<Scope>(releases), Proxy::tensor_map});
          t.cluster_bar(12, {{{0, 0, 0}, 0, kAll}, {reader.cta, 1, kAll}}, 1);
          if (acquires >= 0)
            t.meets(13, reader, Sync::fence, this_map ? global(0) : global(128),
                    {Semantics::acquire, static_cast<Scope>(acquires), Proxy::tensor_map});
          t.read(20, reader, global(0), {Semantics::weak, Scope::cta, Proxy::tensor_map});
          const bool acquired = acquires >= 0 && this_map;
          const int needed = other == 0 ? 0 : 1;
          const std::string both =
              " 10 (0,0,0) w0 l1 | 20 (" + std::to_string(other) + ",0,0) w1 l2 | global +0, 4";
          Lines found;
          if (releases >= 0 && acquired) {
            if (releases < needed || acquires < needed) found = {"scope" + both};
          } else {
            const bool either = releases < 0 && !acquired;
            found = {"tensormap-fence" + both + (either ? "" : releases >= 0 ? ", later" : ", earlier")};
          }
          EXPECT_EQ(t.found(), found) << releases << acquires << this_map;
        }
}

// tensormap.cp_fenceproxy is by all lanes of a warp, each for itself: none needs an order to the others.
TEST(MapFences, ACopyByTheWarpIsEachLanesOwn) {
  const Order map{Semantics::weak, Scope::cta, Proxy::tensor_map};
  for (const Order& first : {Order{}, map})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write})
      for (const AccessKind next : {AccessKind::read, AccessKind::write})
        for (const int warp : {0, 1})
          for (const uint32_t lane : {1u, 2u}) {
            if (kind == AccessKind::read && next == AccessKind::read) continue;
            Trace t;
            t.access(10, {{}, 0, 1}, kind, global(0), first);
            t.access(20, {{}, warp, lane}, next, global(0), map);
            const bool own = warp == 0 && lane == 1;
            const bool copied = warp == 0 && first.proxy == Proxy::tensor_map && kind == AccessKind::write;
            const std::string race = warp == 0 ? "warp-race 10 20" : "race 10 20";
            const bool needs_fence = (own || copied) && kind == AccessKind::write && next == AccessKind::read;
            EXPECT_EQ(t.kinds(), needs_fence     ? Lines{"tensormap-fence 10 20"}
                                 : own || copied ? Lines{}
                                                 : Lines{race});
          }
}

TensorOrder mma(uint32_t column, uint32_t m, uint32_t n, uint32_t kind) {
  return {TensorOrder::Kind::mma, {column, m, n, kind}};
}
TensorOrder other(TensorOrder::Kind kind) { return {kind, {}}; }

// Two operations of one thread without a wait between: the manual's pairs are in order (9.7.16.6.2), of the
// others some are kept by devices.
TEST(TensorMemory, TheManualsPairsAreInOrder) {
  using K = TensorOrder::Kind;
  struct Case {
    TensorOrder first, second;
    std::string found;
  };
  const TensorOrder a = mma(0, 128, 64, 1), b = mma(0, 128, 64, 2), c = mma(64, 128, 64, 1),
                    d = mma(0, 64, 64, 1), e = mma(0, 128, 32, 1), copy = other(K::copy),
                    wide = other(K::copy_4x256b), shift = other(K::shift);
  const Case cases[] = {
      {a, a, ""},
      {a, b, "tcgen05-kinds"},
      {a, c, "tcgen05-mma"},
      {a, d, "tcgen05-mma"},
      {a, e, "tcgen05-mma"},
      {a, copy, "tcgen05-copy"},
      {a, wide, "tcgen05-copy"},
      {a, shift, ""},
      {copy, a, ""},
      {wide, a, ""},
      {copy, copy, "operation-race"},
      {copy, shift, "operation-race"},
      {wide, copy, "operation-race"},
      {shift, a, ""},
      {shift, wide, ""},
      {shift, copy, "operation-race"},
      {shift, shift, "operation-race"},
  };
  for (const Case& x : cases)
    for (const uint64_t column : {0ul, 77ul})
      for (const bool between : {false, true}) {  // an MMA elsewhere
        Trace t;
        const Who issuer{{}, 2, 0b10};
        t.issues(10, issuer, 1, x.first);
        t.cells(10, issuer, 1, x.first.kind == K::mma ? AccessKind::update : AccessKind::write, column, 4);
        if (between) {
          t.issues(15, issuer, 2, mma(256, 128, 8, 1));
          t.cells(15, issuer, 2, AccessKind::update, 256, 8);
        }
        t.issues(20, issuer, 3, x.second);
        t.cells(20, issuer, 3, x.second.kind == K::mma ? AccessKind::update : AccessKind::write, column + 1,
                1);
        const bool copies = x.first.kind != K::mma && x.first.kind != K::shift && x.second.kind != K::mma &&
                            x.second.kind != K::shift;
        const std::string kind = copies && between ? "tcgen05-copy" : x.found;
        const Lines found = t.found();
        ASSERT_EQ(found.size(), kind.empty() ? 0u : 1u) << (&x - cases) << between;
        const std::string said =
            kind + " 10 (0,0,0) w2 l1 | 20 (0,0,0) w2 l1 | tensor 0 l0 c" + std::to_string(column + 1) + ",";
        EXPECT_TRUE(found.empty() || found.front().starts_with(said)) << found.front() << said;
        // Of another warp's nothing is promised.
        Trace warps;
        warps.issues(10, issuer, 1, x.first);
        warps.cells(10, issuer, 1, AccessKind::write, 0, 4);
        warps.issues(20, {{}, 3, 1}, 2, x.second);
        warps.cells(20, {{}, 3, 1}, 2, AccessKind::write, 0, 4);
        EXPECT_EQ(warps.kinds(), Lines{"operation-race 10 20"});
      }
}

// An MMA that writes its accumulator over what it reads.
TEST(TensorMemory, AnMmasAccumulatorIsApart) {
  for (const AccessKind first : {AccessKind::read, AccessKind::write, AccessKind::update})
    for (const AccessKind second : {AccessKind::read, AccessKind::write, AccessKind::update})
      for (const uint64_t apart : {0ul, 3ul, 4ul}) {
        Trace t;
        t.issues(10, {{}, 0, 1}, 1, mma(0, 128, 4, 1));
        t.cells(10, {{}, 0, 1}, 1, first, 8, 4);
        t.cells(10, {{}, 0, 1}, 1, second, 8 + apart, 4);
        const bool overlap = first == AccessKind::update && second == AccessKind::read && apart < 4;
        EXPECT_EQ(t.kinds(), overlap ? Lines{"tcgen05-overlap 10 10"} : Lines{});
      }
}

// tcgen05.ld and st are over when their warp has waited for them; for another warp a fence on both sides of
// what orders them is a note's worth more.
TEST(TensorMemory, LoadsAndStoresAreWaitedFor) {
  for (const AccessKind first : {AccessKind::read, AccessKind::write})
    for (const AccessKind second : {AccessKind::read, AccessKind::write})
      for (const int other_warp : {0, 1})
        for (const Sync waits :
             {Sync::fence, Sync::tensor_loads_waited, Sync::tensor_stores_waited, Sync::tensor_loads_used})
          for (const int fences : {0, 1, 2, 3}) {  // before, after
            if (first == AccessKind::read && second == AccessKind::read) continue;
            if (waits == Sync::tensor_loads_used && first == AccessKind::write) continue;
            Trace t;
            const Who all{{}, 0, kAll}, next{{}, other_warp, kAll};
            t.cells(10, all, 0, first, 16, 2, 32, 32);
            if (waits != Sync::fence) t.meets(11, all, waits, waits == Sync::tensor_loads_used ? 1 : 0);
            if ((fences & 1) != 0) t.meets(12, all, Sync::tensor_fence_before);
            t.bar(15, {all, {{}, 1, kAll}});
            if ((fences & 2) != 0) t.meets(16, next, Sync::tensor_fence_after);
            t.cells(20, next, 0, second, 17, 1, 40, 1);
            const bool waited =
                waits == (first == AccessKind::read ? Sync::tensor_loads_waited : Sync::tensor_stores_waited);
            const std::string kind =
                !waited ? waits == Sync::tensor_loads_used ? "tcgen05-wait-used" : "tcgen05-wait"
                : other_warp != 0 && fences != 3 ? "tcgen05-fence"
                                                 : "";
            EXPECT_EQ(t.found(), kind.empty()
                                     ? Lines{}
                                     : Lines{kind + " 10 (0,0,0) w0 l- | 20 (0,0,0) w" +
                                             std::to_string(other_warp) + " l- | tensor 0 l40 c17, 1"})
                << int(waits) << fences;
          }
  // Without anything between two warps.
  Trace t;
  t.cells(10, {{}, 0, kAll}, 0, AccessKind::write, 0, 1, 0, 32);
  t.meets(11, {{}, 0, kAll}, Sync::tensor_stores_waited);
  t.cells(20, {{}, 1, kAll}, 0, AccessKind::read, 0, 1, 0, 32);
  EXPECT_EQ(t.kinds(), Lines{"operation-race 10 20"});
  // Only the loads up to the one whose registers were used.
  for (const uint64_t used : {1ul, 2ul}) {
    Trace two;
    two.cells(10, {{}, 0, kAll}, 0, AccessKind::read, 0, 1, 0, 32);
    two.cells(11, {{}, 0, kAll}, 0, AccessKind::write, 8, 1, 0, 32);
    two.cells(12, {{}, 0, kAll}, 0, AccessKind::read, 4, 1, 0, 32);
    two.meets(13, {{}, 0, kAll}, Sync::tensor_loads_used, used);
    two.cells(20, {{}, 0, kAll}, 0, AccessKind::write, 4, 1, 0, 32);
    EXPECT_EQ(two.kinds(), Lines{used == 2 ? "tcgen05-wait-used 12 20" : "tcgen05-wait 12 20"});
  }
}

// What was waited for before a relaxed barrier of the cluster is handed over by the fences around it.
TEST(TensorMemory, ARelaxedBarrierHandsItOver) {
  const Who all{{}, 0, kAll}, next{{1, 0, 0}, 0, kAll};
  for (const bool waited : {false, true})
    for (const bool before : {false, true})
      for (const bool after : {false, true}) {
        Trace t({2, 1, 1}, {2, 1, 1});
        t.cells(10, all, 0, AccessKind::read, 0, 1, 0, 32);
        if (waited) t.meets(11, all, Sync::tensor_loads_waited);
        if (before) t.meets(12, all, Sync::tensor_fence_before);
        t.cluster_bar(13, {all, next}, 1, Semantics::relaxed);
        if (after) t.meets(14, next, Sync::tensor_fence_after);
        t.cells(20, next, 0, AccessKind::write, 0, 1, 0, 32);
        const std::string kind = !waited || !before ? "operation-race 10 20"
                                 : !after           ? "tcgen05-fence 10 20"
                                                    : "";
        EXPECT_EQ(t.kinds(), kind.empty() ? Lines{} : Lines{kind});
      }
}

}  // namespace
}  // namespace bitwell::hazard
