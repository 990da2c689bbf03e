// What lanes reach that have met for one instruction, as by ldmatrix and stmatrix, while accesses are held
// back: each of them is to be behind what any of them has done, and any of them may have done it.
#include <gtest/gtest.h>

#include <memory>

#include "trace.h"

namespace bitwell::hazard::held_by_hand {
namespace {

// Told of the same run: one checker that is told of each access at once, one that holds back what it can, and
// one that is told of rows, too.
class Held {
 public:
  Held() {
    Checker of_launch({1, 1, 1}, {1, 1, 1});
    of_launch.reached_by_lanes();
    holds_ = of_launch.of_one_cluster();
    takes_rows_ = of_launch.of_one_cluster();
    told.also = [this](const machine::Event& event) {
      holds_->tell(event);
      tell_as_rows(*takes_rows_, event);
    };
  }
  // Lanes of a warp, each by itself, side by side.
  void row(int line, int warp, AccessKind kind, uint64_t address, uint64_t bytes = 4, uint32_t lanes = kAll) {
    told.access(line, {{}, warp, lanes}, kind, address, {}, bytes, bytes);
  }
  // So many of a warp's lanes, each side by side, for all of them.
  void together(int line, int warp, AccessKind kind, uint64_t address, uint32_t lanes = 8,
                uint64_t bytes = 16) {
    std::array<uint64_t, machine::kLanes> addresses{};
    for (uint32_t i = 0; i < lanes; ++i) addresses[i] = address + bytes * i;
    const auto those = static_cast<uint32_t>((uint64_t{1} << lanes) - 1);
    machine::Access a{kind, {}, {}, warp, those, 0, 1, line, addresses, bytes};
    a.met = kAll;
    told.tell({{}, warp, those}, a);
  }
  void meet_in_warp(int warp) { told.meets(90, {{}, warp, kAll}, Sync::warp_met); }
  void meet() { told.bar(91, {{{}, 0, kAll}, {{}, 1, kAll}}); }
  Lines of_held() const {
    const auto lines_of = [](const Checker& checker) {
      Lines out;
      for (const Finding& f : checker.findings())
        out.push_back(std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line) + " " +
                      std::to_string(f.later.site.ptx_line));
      return out;
    };
    EXPECT_EQ(lines_of(*takes_rows_), lines_of(*holds_));
    return lines_of(*holds_);
  }
  // When the cluster has ended: whether something may be missing.
  bool forgot_too_much() const { return holds_->of_cluster().forgot_too_much; }

  Trace told;

 private:
  std::unique_ptr<Checker> holds_, takes_rows_;
};

constexpr AccessKind kRead = AccessKind::read, kWrite = AccessKind::write;

TEST(HeldByHand, LanesThatMeetForAnAccessStandForEachOther) {
  // Who comes first and then: one warp or two, each lane for itself or so many together.
  for (const uint32_t first_together : {0u, 8u, 32u})
    for (const uint32_t then_together : {0u, 8u, 32u})
      for (const AccessKind first : {kRead, kWrite})
        for (const AccessKind then : {kRead, kWrite})
          for (const int warp : {0, 1})
            for (const int order : {0, 1, 2})  // nothing, a barrier of the warp, one of the CTA
              for (const uint64_t at : {shared(0, 0), shared(0, 128), shared(0, 64), global(256)}) {
                Held h;
                const auto reach = [&](uint32_t together, int line, int of_warp, AccessKind kind) {
                  if (together == 0) return h.row(line, of_warp, kind, at);
                  h.together(line, of_warp, kind, at, together, 128 / together);
                };
                reach(first_together, 1, 0, first);
                if (order == 1) h.meet_in_warp(0), h.meet_in_warp(1);
                if (order == 2) h.meet();
                reach(then_together, 2, warp, then);
                Lines expected;
                const bool writes = first == kWrite || then == kWrite;
                // What a lane does behind its own is in order; of lanes that meet each is to be behind all.
                const bool own = first_together != 8 && then_together == 0 && warp == 0;
                const bool ordered = order == 2 || (order == 1 && warp == 0);
                if (writes && !own && !ordered) expected = {warp == 0 ? "warp-race 1 2" : "race 1 2"};
                EXPECT_EQ(h.told.kinds(), expected)
                    << first_together << " " << then_together << static_cast<int>(first)
                    << static_cast<int>(then) << warp << order;
                EXPECT_EQ(h.of_held(), expected)
                    << "held back: " << first_together << " " << then_together << static_cast<int>(first)
                    << static_cast<int>(then) << warp << order;
              }
}

// Lanes at even distances that are no pieces' reach bytes of more pieces than there are lanes; so do lanes
// that each reach a line of their own, but begin within a piece.
TEST(HeldByHand, ALaneMayReachBytesOfTwoPieces) {
  for (const auto& [first, apart] : {std::pair{128, 2}, {130, 256}}) {
    Held h;
    h.told.access(1, {{}, 0, 3}, kRead, shared(0, static_cast<uint64_t>(first)), {}, 4,
                  static_cast<uint64_t>(apart));
    h.row(2, 1, kWrite, shared(0, 132), 4, 1);
    EXPECT_EQ(h.told.kinds(), Lines{"race 1 2"}) << apart;
    EXPECT_EQ(h.of_held(), Lines{"race 1 2"}) << apart;
  }
}

// The one that would make it full comes as an event, and is told with all before it.
TEST(HeldByHand, NoMoreRowsAreKeptThanThereIsRoomFor) {
  HeldBack held(4);
  held.begin(true);
  const Cluster none;
  const std::array<uint32_t, 3> cta{};
  uint32_t kept = 0;
  for (uint64_t i = 0; i < 8; ++i)
    kept += held.keep({kWrite, {}, cta, 0, 1, shared(0, 128 * i), 4, 0}, none) ? 1 : 0;
  EXPECT_EQ(kept, 3U);
  EXPECT_FALSE(held.full());
}

// Two warps read together what nobody writes; then one of them, or a third one, does.
TEST(HeldByHand, AWriteIsBehindAllWhoReadTogether) {
  for (const int writer : {0, 1, 2})
    for (const bool met : {false, true}) {
      Held h;
      h.together(1, 0, kRead, shared(0, 128));
      h.together(2, 1, kRead, shared(0, 128));
      if (met) h.told.bar(3, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
      h.together(4, writer, kWrite, shared(0, 128));
      Lines expected;
      if (!met)
        expected = {writer == 0 ? "warp-race 1 4" : "race 1 4", writer == 1 ? "warp-race 2 4" : "race 2 4"};
      EXPECT_EQ(h.told.kinds(), expected) << writer << met;
      EXPECT_EQ(h.of_held(), expected) << writer << met;
    }
}

// Lanes that have met read what one of them has read before by itself: the read of all does not stand for its
// own, as the others are not behind that.
TEST(HeldByHand, AReadTogetherDoesNotStandForOneLanesOwn) {
  for (const bool meets : {false, true}) {
    Held h;
    h.row(1, 0, kRead, shared(0, 128), 16, 0xFF);
    if (meets) h.meet_in_warp(0);
    h.together(2, 0, kRead, shared(0, 128));
    h.together(3, 1, kWrite, shared(0, 128));
    const Lines expected = meets ? Lines{"race 2 3"} : Lines{"race 1 3", "race 2 3"};
    EXPECT_EQ(h.told.kinds(), expected);
    EXPECT_EQ(h.of_held(), expected);
  }
}

// A warp reaches a row, and one lane of it or of another a piece of that: a race of every lane but the one
// whose piece it is, whichever of them comes first and however the line is noted.
TEST(HeldByHand, ALaneIsItsOwnInARowAndNobodyElses) {
  for (const uint64_t bytes : {1, 4, 16})
    for (const bool pieces : {false, true})  // somebody has reached the line before, by pieces
      for (const bool row_first : {false, true})
        for (const bool inside : {false, true})
          for (const int warp : {0, 1})
            for (const uint32_t lane : {0u, 1u, 15u, 16u, 17u, 31u})
              for (const uint32_t piece : {0u, 1u, 15u, 16u, 17u, 31u}) {
                const uint64_t at = inside ? shared(0, 1024) : global(1024);
                Held h;
                if (pieces) {
                  for (uint32_t i = 0; i < machine::kLanes; ++i)
                    h.told.access(9, {{}, 1, 1u << i}, kRead, at + bytes * i, {}, bytes);
                  h.told.bar(91, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
                  for (const uint32_t i : {0u, 8u, 16u, 24u})  // each line of the row
                    h.told.access(8, {{}, 1, 1u << i}, kRead, at + bytes * i, {}, bytes);
                }
                const auto one = [&](int line) {
                  h.told.access(line, {{}, warp, 1u << lane}, row_first ? kRead : kWrite, at + bytes * piece,
                                {}, bytes);
                };
                const auto all = [&](int line) { h.row(line, 1, row_first ? kWrite : kRead, at, bytes); };
                row_first ? all(1) : one(1);
                row_first ? one(2) : all(2);
                // What has made pieces of the lines is the row's own; a write by another lane is a race with
                // it.
                Lines expected;
                const bool own = warp == 1 && lane == piece;
                const char* const race = warp == 1 ? "warp-race " : "race ";
                if (!row_first && pieces && piece % 8 == 0 && !own)
                  expected.push_back(race + std::string("8 1"));
                if (!own) expected.push_back(race + std::string("1 2"));
                ASSERT_EQ(h.told.kinds(), expected) << bytes << pieces << row_first << warp << lane << piece;
                ASSERT_EQ(h.of_held(), expected)
                    << "held back: " << bytes << pieces << row_first << warp << " " << lane << " " << piece;
              }
}

// However often all threads have met: what was before is nobody's any more, and what is not ordered is found.
TEST(HeldByHand, OfManyMeetingsEachIsItsOwn) {
  for (const int meetings : {1, 1022, 1023, 1024, 2047})
    for (const bool races : {false, true})
      for (const bool lines : {false, true}) {  // all lanes, or some of them
        const uint64_t at = lines ? shared(0, 256) : global(256);
        const uint32_t lanes = lines ? kAll : 0x55555555u;
        Held h;
        h.row(1, 0, kWrite, at, 4, lanes);
        for (int i = 0; i < meetings; ++i) h.meet();
        h.row(2, 0, kWrite, at, 4, lanes);
        if (!races) h.meet();
        h.row(3, 1, kWrite, at, 4, lanes);
        EXPECT_EQ(h.of_held(), races ? Lines{"race 2 3"} : Lines{}) << meetings;
      }
}

// A load past the coherent cache races with stores that it is behind, too: where those were forgotten, of
// that page, it is known that something may be missing.
TEST(HeldByHand, ALoadPastTheCacheAsksForStoresThatWereForgotten) {
  for (const bool stored : {false, true})
    for (const bool read_behind : {false, true})
      for (const bool met : {false, true})
        for (const uint64_t load : {global(0), global(1024)})
          for (const uint32_t lanes : {kAll, 1u, 1u << 31, 0xF0F0u}) {
            Held h;
            h.row(1, 0, stored ? kWrite : kRead, global(0), 4, lanes);
            if (read_behind) h.row(2, 0, kRead, global(0), 4, lanes);
            if (met) h.meet();
            h.told.access(3, {{}, 1, lanes}, kRead, load, {Semantics::weak, Scope::cta, Proxy::non_coherent},
                          4, 4);
            const bool same = stored && load == global(0);
            if (same && !met)
              EXPECT_EQ(h.of_held().size(), 1u);
            else
              EXPECT_EQ(h.of_held(), Lines{});
            EXPECT_EQ(h.told.kinds().size(), same ? 1u : 0u);
            EXPECT_EQ(h.forgot_too_much(), same && met) << stored << read_behind << met << lanes;
          }
}

// What a lane does behind a release is not published by it, and what it does behind an acquire is done with
// what that told, though its warp's accesses of before are held back too.
TEST(HeldByHand, AHeldBackAccessIsOfItsOwnTime) {
  const Order release{Semantics::release, Scope::cta}, acquire{Semantics::acquire, Scope::cta};
  for (const bool before : {false, true})    // both warps have reached something of their own before
    for (const bool behind : {false, true})  // what is asked of stands behind the release
      for (const bool acquires : {false, true})
        for (const bool late :
             {false, true}) {  // the reader's access is kept, and a third one clashes with it
          Held h;
          const Who writer{{}, 0, 1}, reader{{}, 1, 1};
          const uint64_t flag = shared(0, 4096), at = shared(0, 1024), own = shared(0, 2048);
          if (before) h.row(1, 0, kWrite, shared(0, 0)), h.row(2, 1, kWrite, own);
          if (!behind) h.told.write(3, writer, at);
          h.told.write(4, writer, flag, release);
          if (behind) h.told.write(3, writer, at);
          if (acquires) h.told.read(5, reader, flag, acquire);
          Lines expected;
          if (late) {  // of what the reader has acquired it tells another warp, which comes to its own bytes
            h.told.write(6, reader, own);
            h.told.write(7, reader, flag + 4, release);
            h.told.write(8, reader, own);
            h.told.read(9, {{}, 2, 1}, flag + 4, acquire);
            h.told.read(10, {{}, 2, 1}, own);
            expected.push_back("race 8 10");
          }
          h.told.read(11, reader, at);
          if (!acquires || behind) expected.push_back("race 3 11");
          EXPECT_EQ(h.told.kinds(), expected) << before << behind << acquires;
          EXPECT_EQ(h.of_held(), expected) << "held back: " << before << behind << acquires << late;
        }
}

// What was kept is told when an operation comes; where something of it was forgotten before, that is known.
TEST(HeldByHand, AnOperationEndsWhatIsHeldBack) {
  for (const bool meets : {false, true})
    for (const bool by_turns : {false, true})
      for (const bool reaches : {false, true}) {
        Held h;
        const Who who{{}, 1, 1};
        h.row(1, 0, kWrite, shared(0, 0));
        if (meets) h.meet();
        if (!reaches) {  // it is issued alone
          h.told.issues(3, who, 1, machine::Ending::bulk_group);
        } else {
          const uint64_t at = shared(0, 0);
          machine::Access a{kRead, {Semantics::weak, Scope::cta, Proxy::async}, {}, 1, 0, 1, 1, 3, {&at, 1},
                            128};
          a.issuer = 0;
          if (by_turns)
            h.told.tell(who, machine::ByTurns{{&a, 1}, 0});
          else
            h.told.tell(who, a);
        }
        h.row(4, 1, kRead, shared(0, 0));
        EXPECT_EQ(h.of_held(), meets ? Lines{} : Lines{"race 1 4"}) << by_turns << reaches;
        EXPECT_EQ(h.forgot_too_much(), meets) << by_turns << reaches;
      }
}

}  // namespace
}  // namespace bitwell::hazard::held_by_hand
