// What lanes reach that have met for one instruction, as by ldmatrix and stmatrix, while accesses are held
// back: each of them is to be behind what any of them has done, and any of them may have done it.
#include <gtest/gtest.h>

#include <functional>

#include "trace.h"

namespace bitwell::hazard {
namespace {

// Told of the same run: one checker that is told of each access at once, and one that holds back what it can.
class Held {
 public:
  Held() {
    Checker of_launch({1, 1, 1}, {1, 1, 1});
    of_launch.reached_by_lanes();
    holds_ = of_launch.of_one_cluster();
    told.also = [this](const machine::Event& event) { holds_->tell(event); };
  }
  // All lanes of a warp, each a word side by side; or 8 of them, each 16 bytes, for all of the warp.
  void plain(int line, int warp, AccessKind kind, uint64_t address) {
    told.access(line, {{}, warp, kAll}, kind, address, {}, 4, 4);
  }
  void together(int line, int warp, AccessKind kind, uint64_t address) {
    constexpr uint32_t kRows = 0xFF;
    std::array<uint64_t, machine::kLanes> addresses{};
    for (uint32_t i = 0; i < 8; ++i) addresses[i] = address + 16 * i;
    machine::Access a{kind, {}, {}, warp, kRows, 0, 1, line, addresses, 16};
    a.met = kAll;
    told.tell({{}, warp, kRows}, a);
  }
  void meet_in_warp(int warp) { told.meets(90, {{}, warp, kAll}, Sync::warp_met); }
  void meet() { told.bar(91, {{{}, 0, kAll}, {{}, 1, kAll}}); }
  Lines of_held() const {
    Lines out;
    for (const Finding& f : holds_->findings())
      out.push_back(std::string(row_of(f.kind).name) + " " + std::to_string(f.earlier.site.ptx_line) + " " +
                    std::to_string(f.later.site.ptx_line));
    return out;
  }

  Trace told;

 private:
  std::unique_ptr<Checker> holds_;
};

TEST(HeldByHand, LanesThatMeetForAnAccessStandForEachOther) {
  constexpr AccessKind kRead = AccessKind::read, kWrite = AccessKind::write;
  // Who comes first and then: one warp or two, together or each lane for itself.
  for (const bool first_together : {false, true})
    for (const bool then_together : {false, true})
      for (const AccessKind first : {kRead, kWrite})
        for (const AccessKind then : {kRead, kWrite})
          for (const int warp : {0, 1})
            for (const int order : {0, 1, 2})  // nothing, a barrier of the warp, one of the CTA
              for (const uint64_t at : {shared(0, 0), shared(0, 128), global(256)}) {
                Held h;
                const auto reach = [&](bool together, int line, int of_warp, AccessKind kind) {
                  together ? h.together(line, of_warp, kind, at) : h.plain(line, of_warp, kind, at);
                };
                reach(first_together, 1, 0, first);
                if (order == 1) h.meet_in_warp(0), h.meet_in_warp(1);
                if (order == 2) h.meet();
                reach(then_together, 2, warp, then);
                Lines expected;
                const bool writes = first == kWrite || then == kWrite;
                // A lane's own accesses are in order; of lanes that meet each is to be behind all.
                const bool own = !first_together && !then_together && warp == 0;
                const bool ordered = order == 2 || (order == 1 && warp == 0);
                if (writes && !own && !ordered) expected = {warp == 0 ? "warp-race 1 2" : "race 1 2"};
                EXPECT_EQ(h.told.kinds(), expected)
                    << first_together << then_together << static_cast<int>(first) << static_cast<int>(then)
                    << warp << order;
                EXPECT_EQ(h.of_held(), expected)
                    << "held back: " << first_together << then_together << static_cast<int>(first)
                    << static_cast<int>(then) << warp << order;
              }
}

// Two warps read together what nobody writes; then one of them, or a third one, does.
TEST(HeldByHand, AWriteIsBehindAllWhoReadTogether) {
  for (const int writer : {0, 1, 2})
    for (const bool met : {false, true}) {
      Held h;
      h.together(1, 0, AccessKind::read, shared(0, 128));
      h.together(2, 1, AccessKind::read, shared(0, 128));
      if (met) h.told.bar(3, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
      h.together(4, writer, AccessKind::write, shared(0, 128));
      Lines expected;
      if (!met)
        expected = {writer == 0 ? "warp-race 1 4" : "race 1 4", writer == 1 ? "warp-race 2 4" : "race 2 4"};
      EXPECT_EQ(h.told.kinds(), expected) << writer << met;
      EXPECT_EQ(h.of_held(), expected) << writer << met;
    }
}

}  // namespace
}  // namespace bitwell::hazard
