// mbarriers: who may use one, whom its phases order, and what ends it (PTX ISA 9.0, 9.7.13.15).
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard {
namespace {

constexpr Order kRelease{Semantics::release, Scope::cta, Proxy::generic};
constexpr Order kAcquire{Semantics::acquire, Scope::cta, Proxy::generic};
constexpr Order kRelaxedOfCta{Semantics::relaxed, Scope::cta, Proxy::generic};
constexpr Order kFence{Semantics::acq_rel, Scope::cluster, Proxy::generic};
constexpr Triple kFirst{0, 0, 0}, kSecond{1, 0, 0};

// A cluster of two CTAs, whose mbarriers are at an offset of either.
struct Pair : Trace {
  Pair() : Trace({4, 1, 1}, {2, 1, 1}) {}

  void init(int line, const Who& who, uint64_t at) { mbarrier(line, who, AccessKind::write, at); }
  void arrive(int line, const Who& who, uint64_t at, Order order = kRelease) {
    mbarrier(line, who, AccessKind::update, at, order);
  }
  void over(uint64_t at) { meets(0, {kFirst, 0, 0}, Sync::mbarrier_over, at - machine::kSharedWindow); }
  void wait(int line, const Who& who, uint64_t at, Order order = kAcquire) {
    mbarrier(line, who, AccessKind::read, at, order);
    meets(line, who, Sync::mbarrier_passed, at - machine::kSharedWindow, order);
  }
  void invalidate(int line, const Who& who, uint64_t at) { mbarrier(line, who, AccessKind::update, at); }
  void all_know() { cluster_bar(3, {{kFirst, 0, kAll}, {kFirst, 1, kAll}, {kSecond, 0, kAll}}, 1); }
};

std::string words(int line, const Triple& cta, int warp, int lane) {
  return std::to_string(line) + " (" + std::to_string(cta[0]) + ",0,0) w" + std::to_string(warp) + " l" +
         (lane < 0 ? "-" : std::to_string(lane));
}

// Lanes that are told together to have seen a phase over know what each by itself would, and no others do.
TEST(Mbarriers, LanesSeeAPhaseOverTogether) {
  for (const uint32_t lanes : {kAll, 0xFFFF0000u, 6u}) {
    Pair t;
    const uint64_t at = shared(0, 64);
    t.init(1, {kFirst, 0, 1}, at);
    t.all_know();
    t.write(10, {kFirst, 0, 1}, shared(0, 0));
    t.arrive(11, {kFirst, 0, 1}, at);
    t.over(at);
    t.wait(20, {kFirst, 1, lanes}, at);
    Lines races;
    for (int i = 0; i < 32; ++i) {
      t.read(100 + i, {kFirst, 1, 1u << i}, shared(0, 0));
      if ((lanes >> i & 1) == 0) races.push_back("race 10 " + std::to_string(100 + i));
    }
    EXPECT_EQ(t.kinds(), races) << lanes;
  }
}

// Who uses an mbarrier must be behind its initialisation: in its CTA by a barrier, in another by a fence too.
TEST(Mbarriers, AreUsedBehindTheirInitialisation) {
  enum class Meet : uint8_t { no, bar, released, relaxed, fenced_relaxed, relaxed_by_another };
  const Who users[] = {{kFirst, 0, 1}, {kFirst, 0, 2}, {kFirst, 1, 4}, {kSecond, 0, 8}};
  for (const uint64_t offset : {0ul, 72ul})
    for (const AccessKind use : {AccessKind::read, AccessKind::update})
      for (const Who& user : users)
        for (const Meet meet : {Meet::no, Meet::bar, Meet::released, Meet::relaxed, Meet::fenced_relaxed,
                                Meet::relaxed_by_another}) {
          Pair t;
          const Who maker{kFirst, 0, 1};
          const uint64_t at = shared(0, offset);
          t.all_know();
          t.init(5, maker, at);
          const std::vector<Who> both{{kFirst, 0, kAll}, {kFirst, 1, kAll}, {kSecond, 0, kAll}};
          if (meet == Meet::bar) t.bar(6, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
          if (meet == Meet::fenced_relaxed)
            t.meets(6, maker, Sync::mbarrier_init_fence, 0,
                    {Semantics::release, Scope::cluster, Proxy::generic});
          if (meet == Meet::released) t.cluster_bar(7, both, 2);
          if (meet == Meet::relaxed || meet == Meet::fenced_relaxed)
            t.cluster_bar(7, both, 2, Semantics::relaxed);
          if (meet == Meet::relaxed_by_another)  // lane 0, which has initialised it, does not arrive
            t.cluster_bar(7, {{kFirst, 0, ~1u}, {kFirst, 1, kAll}, {kSecond, 0, kAll}}, 2,
                          Semantics::relaxed);
          t.mbarrier(10, user, use, at, use == AccessKind::read ? kAcquire : kRelease);
          const bool own = user.warp == 0 && user.cta == kFirst && user.lanes == 1;
          const bool by_bar = meet == Meet::bar && user.cta == kFirst;
          const bool known = own || by_bar || meet == Meet::released || meet == Meet::fenced_relaxed;
          const std::string kind = meet == Meet::relaxed ? "mbarrier-init-fence" : "mbarrier-init";
          const int lane = std::countr_zero(user.lanes);
          EXPECT_EQ(t.found(), known ? Lines{}
                                     : Lines{kind + " " + words(5, kFirst, 0, 0) + " | " +
                                             words(10, user.cta, user.warp, lane) + " | shared 0 +" +
                                             std::to_string(offset) + ", 8"});
        }
  // Who has not yet passed the barrier that the initialisation met at: before, and behind.
  for (const bool passes : {false, true}) {
    Pair t;
    t.all_know();
    t.init(5, {kFirst, 0, 1}, shared(0, 0));
    t.meets(7, {kFirst, 0, kAll}, Sync::cluster_arrived, 2,
            {Semantics::relaxed, Scope::cluster, Proxy::generic});
    if (passes)
      t.meets(8, {kSecond, 0, kAll}, Sync::cluster_passed, 2,
              {Semantics::acquire, Scope::cluster, Proxy::generic});
    t.arrive(10, {kSecond, 0, 1}, shared(0, 0));
    EXPECT_EQ(t.kinds(), Lines{passes ? "mbarrier-init-fence 5 10" : "mbarrier-init 5 10"});
  }
  // Of several that initialise it alike, one is enough.
  for (const uint32_t makers : {0b01u, 0b11u}) {
    Pair t;
    t.init(5, {kFirst, 0, makers}, shared(0, 0));
    t.arrive(10, {kFirst, 0, 2}, shared(0, 0));
    EXPECT_EQ(t.kinds(), makers == 3 ? Lines{} : Lines{"mbarrier-init 5 10"});
  }
}

// An operation that completes on an mbarrier needs more than order: a fence by who initialised it.
TEST(Mbarriers, AreMadeKnownToOperations) {
  enum class By : uint8_t { nothing, init_fence, async_fence, release, another_lane, before };
  for (const By by :
       {By::nothing, By::init_fence, By::async_fence, By::release, By::another_lane, By::before})
    for (const int warp : {0, 1}) {
      Pair t;
      t.all_know();
      const Who maker{kFirst, 0, 2};
      const uint64_t at = shared(0, 64);
      if (by == By::before)
        t.meets(4, maker, Sync::mbarrier_init_fence, 0, {Semantics::release, Scope::cluster, Proxy::generic});
      t.init(5, maker, at);
      if (by == By::init_fence)
        t.meets(6, maker, Sync::mbarrier_init_fence, 0, {Semantics::release, Scope::cluster, Proxy::generic});
      if (by == By::async_fence)
        t.meets(6, maker, Sync::fence, 3, {Semantics::weak, Scope::cta, Proxy::async});
      if (by == By::another_lane)
        t.meets(6, {kFirst, 0, 4}, Sync::mbarrier_init_fence, 0,
                {Semantics::release, Scope::cluster, Proxy::generic});
      if (by == By::release) t.all_know();
      t.bar(7, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
      const Who issuer{kFirst, warp, 0b1000};
      t.issues(10, issuer, 1, machine::Ending::mbarrier);
      t.completes(10, issuer, 1, at, 3);
      const bool told = by == By::init_fence || by == By::async_fence || by == By::release;
      EXPECT_EQ(t.found(), told ? Lines{}
                                : Lines{"mbarrier-init-fence " + words(5, kFirst, 0, 1) + " | " +
                                        words(10, kFirst, warp, 3) + " | shared 0 +64, 8"});
    }
}

// What an arrival releases, a wait acquires; a relaxed one with a fence does, too.
TEST(Mbarriers, OrderWhatTheirArrivalsRelease) {
  for (const Triple& other : {kFirst, kSecond})
    for (const int sends : {0, 1, 2})  // relaxed, fenced and relaxed, release
      for (const int gets : {0, 1, 2})
        for (const bool waits : {false, true}) {
          Pair t;
          const Who writer{kFirst, 0, 2}, reader{other, other == kFirst ? 1 : 0, 4};
          const uint64_t at = shared(0, 0);
          t.init(2, {kFirst, 0, 1}, at);
          t.all_know();
          t.write(10, writer, global(0));
          if (sends == 1) t.meets(11, writer, Sync::fence, 0, kFence);
          t.arrive(12, writer, at, sends == 2 ? kRelease : kRelaxedOfCta);
          t.write(13, writer, global(4));
          t.over(at);
          if (waits) t.wait(20, reader, at, gets == 2 ? kAcquire : kRelaxedOfCta);
          if (gets == 1) t.meets(21, reader, Sync::fence, 0, kFence);
          t.read(30, reader, global(0));
          t.read(31, reader, global(4));
          const std::string kind = !waits || (sends == 0 && gets == 0) ? "race" : "release";
          Lines found;
          if (!waits || sends == 0 || gets == 0) found.push_back(kind + " 10 30");
          // What comes behind the arrival is not released by it.
          found.push_back("race 13 31");
          EXPECT_EQ(t.kinds(), found) << sends << gets << waits;
        }
}

// What was published for a phase is known to who has seen that phase over, not to who saw the one before.
TEST(Mbarriers, APhaseHasItsOwnArrivals) {
  for (const int waits : {1, 2}) {
    Pair t;
    const Who writer{kFirst, 0, 1}, reader{kFirst, 1, 1};
    const uint64_t at = shared(0, 0);
    t.init(2, writer, at);
    t.all_know();
    t.arrive(10, writer, at);
    t.over(at);
    t.wait(11, reader, at);
    t.arrive(12, reader, at);
    t.write(13, writer, global(0));
    t.arrive(14, writer, at);
    if (waits == 2) t.over(at), t.wait(15, reader, at);
    t.read(20, reader, global(0));
    EXPECT_EQ(t.kinds(), waits == 2 ? Lines{} : Lines{"race 13 20"});
  }
}

// A phase may not end before everyone who waited for the last has seen it: their arrivals say so.
TEST(Mbarriers, APhaseWaitsForWhoSawTheLast) {
  for (const uint64_t offset : {0ul, 40ul})
    for (const uint32_t waiters : {0b1u, 0b100u, 0b101u})
      for (const uint32_t answers : {0u, 0b1u, 0b100u, 0b101u})
        for (const int more : {0, 1, 2}) {
          if (answers != 0 && answers != waiters)
            continue;  // one lane of a warp counts for those that waited with it
          Pair t;
          const Who teller{kFirst, 0, 0b10}, listener{kFirst, 1, waiters};
          const uint64_t at = shared(0, offset), back = shared(0, 128);
          t.init(2, teller, at);
          t.init(2, teller, back);
          t.all_know();
          for (int i = 0; i < more; ++i) t.arrive(9, teller, at), t.over(at);
          t.arrive(10, teller, at);
          t.over(at);
          EXPECT_EQ(t.found(), Lines{});
          t.wait(11, listener, at);
          if (answers != 0) {
            t.arrive(12, {kFirst, 1, answers}, back);
            t.over(back);
            t.wait(13, teller, back);
          }
          t.arrive(14, teller, at);
          t.over(at);
          const uint32_t silent = waiters & ~answers;
          EXPECT_EQ(t.found(),
                    silent == 0
                        ? Lines{}
                        : Lines{"mbarrier-phase " + words(11, kFirst, 1, std::countr_zero(waiters)) + " | " +
                                words(14, kFirst, 0, 1) + " | shared 0 +" + std::to_string(offset) + ", 8"});
        }
}

// So who waits on a fresh mbarrier for the phase before the first, as producers do for a stage that nobody
// has filled: the first phase is over once all have seen that.
TEST(Mbarriers, TheFirstPhaseWaitsForWhoTookTheMbarrierForFree) {
  for (const uint64_t offset : {0ul, 40ul})
    for (const uint32_t waiters : {0b1u, 0b101u})
      for (const bool answers : {false, true})
        for (const bool late : {false, true}) {
          Pair t;
          const Who listener{kFirst, 1, waiters}, consumer{kFirst, 0, 0b10};
          const uint64_t at = shared(0, offset), full = shared(0, 128);
          t.init(2, consumer, at);
          t.init(2, consumer, full);
          t.all_know();
          if (!late) t.wait(11, listener, at);
          if (answers) {
            t.arrive(12, listener, full);
            t.over(full);
            t.wait(13, consumer, full);
          }
          t.arrive(14, consumer, at);
          t.over(at);
          if (late) t.wait(11, listener, at);  // behind the phase, where it would find that one over
          EXPECT_EQ(t.found(), answers || late ? Lines{}
                                               : Lines{"mbarrier-phase " + words(11, kFirst, 1, 0) + " | " +
                                                       words(14, kFirst, 0, 1) + " | shared 0 +" +
                                                       std::to_string(offset) + ", 8"});
        }
}

// An mbarrier ends behind all who have used it; a match is enough of an order for that.
TEST(Mbarriers, EndBehindTheirLastUse) {
  enum class Meet : uint8_t { no, bar, match_then_bar, match_others, match_before, match_alone };
  for (const AccessKind use : {AccessKind::read, AccessKind::update})
    for (const Meet meet : {Meet::no, Meet::bar, Meet::match_then_bar, Meet::match_others, Meet::match_before,
                            Meet::match_alone})
      for (const uint32_t user : {1u, 8u}) {
        Pair t;
        const uint64_t at = shared(0, 24);
        t.init(2, {kFirst, 0, 1}, at);
        t.all_know();
        if (meet == Meet::match_before) t.meets(6, {kFirst, 1, kAll}, Sync::warp_met, 1);
        t.mbarrier(10, {kFirst, 1, user}, use, at, use == AccessKind::read ? kAcquire : kRelease);
        if (meet == Meet::bar) t.bar(15, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
        if (meet == Meet::match_then_bar || meet == Meet::match_alone)
          t.meets(14, {kFirst, 1, user | 4}, Sync::warp_met, 1);
        if (meet == Meet::match_others) t.meets(14, {kFirst, 1, kAll & ~user}, Sync::warp_met, 1);
        // Lane 2 of the user's warp, or one that met nobody, goes on to a barrier that its user does not come
        // to.
        if (meet != Meet::no && meet != Meet::bar)
          t.bar(16, {{kFirst, 0, kAll}, {kFirst, 1, meet == Meet::match_alone ? 2u : 4u}});
        t.invalidate(20, {kFirst, 0, 2}, at);
        const bool behind = meet == Meet::bar || meet == Meet::match_then_bar;
        EXPECT_EQ(t.found(), behind ? Lines{}
                                    : Lines{"mbarrier-reuse " + words(10, kFirst, 1, std::countr_zero(user)) +
                                            " | " + words(20, kFirst, 0, 1) + " | shared 0 +24, 8"});
        // It is gone: initialised again it is another.
        t.init(30, {kFirst, 0, 2}, at);
        t.bar(31, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
        t.arrive(32, {kFirst, 1, 1}, at);
        t.bar(33, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
        t.invalidate(34, {kFirst, 0, 2}, at);
        EXPECT_EQ(t.found().size(), behind ? 0u : 1u);
      }
}

// A plain write into another CTA, and an arrival there that should publish it: in the cluster's scope.
TEST(Mbarriers, RemoteArrivalsPublishInTheScopeOfTheCluster) {
  for (const Scope scope : {Scope::cta, Scope::cluster})
    for (const uint32_t to : {0u, 1u})         // of the word
      for (const uint32_t barrier : {0u, 1u})  // of the mbarrier
        for (const uint32_t lane : {0u, 31u})
          for (const int between :
               {0, 1, 2, 3}) {  // nothing, a fence, a barrier of the cluster, an arrival of its scope
            Pair t;
            const Who writer{kFirst, 0, 1u << lane};
            const uint64_t at = shared(barrier, 8), other = shared(1, 16);
            t.init(2, {kFirst, 0, 1}, at);
            t.init(2, {kFirst, 0, 1}, other);
            t.all_know();
            t.write(10, writer, shared(to, 64));
            if (between == 1) t.meets(11, writer, Sync::fence, 0, kFence);
            if (between == 2) t.cluster_bar(11, {{kFirst, 0, kAll}, {kSecond, 0, kAll}}, 2);
            if (between == 3)
              t.arrive(11, writer, other, {Semantics::release, Scope::cluster, Proxy::generic});
            t.arrive(12, writer, at, {Semantics::release, scope, Proxy::generic});
            const bool found = scope == Scope::cta && to == 1 && barrier == 1 && between == 0;
            EXPECT_EQ(t.found(),
                      found ? Lines{"mbarrier-scope " + words(10, kFirst, 0, static_cast<int>(lane)) + " | " +
                                    words(12, kFirst, 0, static_cast<int>(lane)) + " | shared 1 +8, 8"}
                            : Lines{});
          }
  // Of another thread's write only what it knows.
  for (const bool met : {false, true}) {
    Pair t;
    t.init(2, {kFirst, 0, 1}, shared(1, 8));
    t.all_know();
    t.write(10, {kFirst, 0, 2}, shared(1, 64));
    if (met) t.bar(11, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
    t.arrive(12, {kFirst, 1, 4}, shared(1, 8));
    EXPECT_EQ(t.found(), met ? Lines{"mbarrier-scope " + words(10, kFirst, 0, 1) + " | " +
                                     words(12, kFirst, 1, 2) + " | shared 1 +8, 8"}
                             : Lines{});
  }
}

// What a copy brings is there for who has waited at its mbarrier, in each CTA that it writes to.
TEST(Mbarriers, CopiesAreOverForWhoWaitsWhereTheyComplete) {
  for (const uint32_t waited : {0u, 1u, 2u})  // 2: nobody waits
    for (const uint32_t read : {0u, 1u})
      for (const int reader : {0, 1}) {
        Pair t;
        const Who issuer{kFirst, 0, 2};
        for (const uint32_t rank : {0u, 1u}) t.init(2, {rank == 0 ? kFirst : kSecond, 0, 2}, shared(rank, 0));
        t.all_know();
        t.issues(10, issuer, 1, machine::Ending::mbarrier);
        for (const uint32_t rank : {0u, 1u}) {
          t.operation(10, issuer, 1, AccessKind::write, shared(rank, 128), 32, Proxy::async, 1);
          t.completes(10, issuer, 1, shared(rank, 0), 1);
          t.over(shared(rank, 0));
        }
        const Who who{reader == 0 ? kFirst : kSecond, 0, 4};
        if (waited != 2) t.wait(20, who, shared(waited, 0));
        t.access(30, who, AccessKind::read, shared(read, 144));
        EXPECT_EQ(t.found(),
                  waited == read
                      ? Lines{}
                      : Lines{"operation-race " + words(10, read == 0 ? kFirst : kSecond, -1, -1) + " | " +
                              words(30, who.cta, 0, 2) + " | shared " + std::to_string(read) + " +144, 4"});
      }
}

// An operation under way, whose end nobody knows, has no CTA yet; what it reads may not be written either.
TEST(Mbarriers, OperationsUnderWayMeetWhoComesToTheirBytes) {
  for (const AccessKind its : {AccessKind::read, AccessKind::write})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write}) {
      Pair t;
      const Who issuer{kFirst, 0, 2};
      t.init(2, issuer, shared(0, 0));
      t.all_know();
      t.write(5, issuer, its == AccessKind::read ? global(0) : shared(0, 128));
      t.meets(6, issuer, Sync::fence, machine::kFencesShared | machine::kFencesGlobal,
              {Semantics::weak, Scope::cta, Proxy::async});
      t.issues(10, issuer, 1, machine::Ending::mbarrier);
      const uint64_t at = its == AccessKind::read ? global(0) : shared(0, 128);
      t.operation(10, issuer, 1, its, at, 16, Proxy::async, 1);
      t.access(20, issuer, kind, at);
      const bool reads = its == AccessKind::read && kind == AccessKind::read;
      EXPECT_EQ(t.kinds(), reads ? Lines{} : Lines{"operation-race 10 20"});
    }
}

// Nor has one for another, its own thread's: nothing orders two copies but a wait between them.
TEST(Mbarriers, OperationsUnderWayMeetEachOther) {
  for (const AccessKind its : {AccessKind::read, AccessKind::write})
    for (const AccessKind kind : {AccessKind::read, AccessKind::write})
      for (const uint64_t apart : {0u, 12u, 16u}) {
        Pair t;
        const Who issuer{kFirst, 0, 2};
        t.init(2, issuer, shared(0, 0));
        t.all_know();
        t.issues(10, issuer, 1, machine::Ending::mbarrier);
        t.operation(10, issuer, 1, its, shared(0, 128), 16, Proxy::async, 1);
        t.issues(20, issuer, 2, machine::Ending::mbarrier);
        t.operation(20, issuer, 2, kind, shared(0, 128 + apart), 16, Proxy::async, 1);
        const bool meet = apart < 16 && (its == AccessKind::write || kind == AccessKind::write);
        EXPECT_EQ(t.kinds(), meet ? Lines{"operation-race 10 20"} : Lines{}) << apart;
      }
}

// cp.async.mbarrier.arrive comes for all lanes that execute it: what each of them did before is known to who
// waits.
TEST(Mbarriers, AnArrivalOfCopiesIsOfAllItsLanes) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Pair t;
    const uint64_t at = shared(0, 0);
    const Who issuers{kFirst, 0, 0x8000000B};
    t.init(2, {kFirst, 0, 1}, at);
    t.all_know();
    t.write(10, {kFirst, 0, 1u << lane}, global(0));
    t.issues(11, issuers, 1, machine::Ending::none);
    t.completes(11, issuers, 1, at);
    t.over(at);
    t.wait(20, {kFirst, 1, 1}, at);
    t.read(30, {kFirst, 1, 1}, global(0));
    EXPECT_EQ(t.kinds(), (issuers.lanes >> lane & 1) != 0 ? Lines{} : Lines{"race 10 30"}) << lane;
  }
}

// Of a pair of CTAs a copy may write in one and complete in the other.
TEST(Mbarriers, ACopyMayCompleteInThePairsOtherCta) {
  for (const uint32_t rank : {0u, 1u, 2u, 3u})
    for (uint32_t to = 0; to < 4; ++to) {
      Trace t({4, 1, 1}, {4, 1, 1});
      const Who issuer{{rank, 0, 0}, 0, 1};
      const uint64_t at = shared(rank, 0);
      t.mbarrier(2, issuer, AccessKind::write, at);
      std::vector<Who> all;
      for (uint32_t r = 0; r < 4; ++r) all.push_back({{r, 0, 0}, 0, kAll});
      t.cluster_bar(3, all, 1);
      t.issues(10, issuer, 1, machine::Ending::mbarrier);
      t.operation(10, issuer, 1, AccessKind::write, shared(to, 64), 16, Proxy::async, 0);
      t.completes(10, issuer, 1, at, 0);
      t.meets(0, {issuer.cta, 0, 0}, Sync::mbarrier_over, at - machine::kSharedWindow);
      t.mbarrier(20, issuer, AccessKind::read, at, kAcquire);
      t.meets(20, issuer, Sync::mbarrier_passed, at - machine::kSharedWindow, kAcquire);
      t.read(30, issuer, shared(to, 64));
      EXPECT_EQ(t.kinds(), to / 2 == rank / 2 ? Lines{} : Lines{"operation-race 10 30"}) << rank << to;
    }
}

// fence.proxy.async is for the state spaces that it names, and by who wrote; reads before an operation's
// write are a note.
TEST(Mbarriers, OperationsNeedTheProxyFence) {
  for (const AccessKind before : {AccessKind::read, AccessKind::write})
    for (const bool in_global : {false, true})
      for (const uint64_t spaces : {0ul, 1ul, 2ul, 3ul})
        for (const int fencer :
             {0, 1, 2}) {  // the thread that wrote; one that a barrier puts behind; a lane beside
          Pair t;
          const Who writer{kFirst, 0, 2}, issuer{kFirst, 1, 4};
          t.init(2, issuer, shared(0, 0));
          t.all_know();
          const uint64_t at = in_global ? global(0) : shared(0, 128);
          t.access(5, writer, before, at);
          const Who by = fencer == 0 ? writer : fencer == 1 ? issuer : Who{kFirst, 0, 8};
          if (fencer == 1) t.bar(7, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
          if (spaces != 0) t.meets(6, by, Sync::fence, spaces, {Semantics::weak, Scope::cta, Proxy::async});
          t.bar(7, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
          t.issues(10, issuer, 1, machine::Ending::mbarrier);
          t.operation(10, issuer, 1, AccessKind::write, at, 16, Proxy::async, 2);
          const bool told = (spaces >> (in_global ? 1 : 0) & 1) != 0 && fencer != 2;
          const std::string kind = before == AccessKind::read ? "proxy-fence-war" : "proxy-fence";
          EXPECT_EQ(t.kinds(), told ? Lines{} : Lines{kind + " 5 10"}) << in_global << spaces << fencer;
        }
}

// A store in shared memory that threads have read stands there: a copy over it wants no more than one over
// what they read. In global memory, or where the reader is not before the copy, it is what it was.
TEST(Mbarriers, AStoreThatWasReadStandsInSharedMemory) {
  for (const bool in_global : {false, true})
    for (const bool read : {false, true})
      for (const bool ordered : {false, true}) {
        Pair t;
        const Who writer{kFirst, 0, 2}, reader{kFirst, 1, 1}, issuer{kFirst, 1, 4};
        t.init(2, issuer, shared(0, 0));
        t.all_know();
        const uint64_t at = in_global ? global(0) : shared(0, 128);
        t.write(5, writer, at);
        t.bar(6, {{kFirst, 0, kAll}, {kFirst, 1, kAll}});
        if (read) t.read(8, reader, at);
        if (ordered) t.meets(9, {kFirst, 1, kAll}, Sync::warp_met);
        t.issues(10, issuer, 1, machine::Ending::mbarrier);
        t.operation(10, issuer, 1, AccessKind::write, at, 16, Proxy::async, 2);
        Lines found;
        if (!read || in_global) found.push_back("proxy-fence 5 10");
        if (read) found.push_back(ordered ? "proxy-fence-war 8 10" : "operation-race 8 10");
        EXPECT_EQ(t.kinds(), found) << in_global << read << ordered;
      }
}

}  // namespace
}  // namespace bitwell::hazard
