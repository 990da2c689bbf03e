// Copies that end in groups, of random runs, beside a plain second version of what a wait waits for: each
// lane has lists of what it has issued, and a copy is over for its lane when a wait has named its group.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "trace.h"

namespace bitwell::hazard {
namespace {

struct Copy {
  int line;
  Who who;  // its lane
  bool reads;
  uint64_t address;
  bool read = false, over = false;  // waited for: what it reads, and all of it
};

// Of one lane, of one kind.
struct Groups {
  std::vector<size_t> open;
  std::vector<std::vector<size_t>> committed;
};

struct Drawn {
  uint32_t ctas, warps, lanes;
};

class OneRun {
 public:
  OneRun(const Drawn& drawn, std::mt19937& random)
      : drawn_(drawn), random_(random), trace_({drawn.ctas, 1, 1}) {}

  void step() {
    const bool bulk = below(2) == 0;
    Who who{{below(drawn_.ctas), 0, 0}, static_cast<int>(below(drawn_.warps)), 1u << 3 * below(drawn_.lanes)};
    const int line = ++line_;
    switch (below(8)) {
      case 0:
      case 1:
      case 2: return issue(line, who, bulk);
      case 3:
      case 4:
        who.lanes |= 1u << 3 * below(drawn_.lanes);
        trace_.meets(line, who, bulk ? Sync::bulk_committed : Sync::copies_committed);
        each(who, bulk, [](Groups& g) { g.committed.push_back(std::exchange(g.open, {})); });
        return;
      case 5: {
        who.lanes |= 1u << 3 * below(drawn_.lanes);
        const bool only_read = bulk && below(2) == 0;
        const bool every = !bulk && below(3) == 0;
        const uint64_t left = every ? kEvery : below(3);
        trace_.meets(line, who,
                     !bulk       ? Sync::copies_waited
                     : only_read ? Sync::bulk_read
                                 : Sync::bulk_waited,
                     left);
        each(who, bulk, [&](Groups& g) {
          for (size_t i = 0; i < g.committed.size(); ++i)
            if (every || i + left < g.committed.size()) end(g.committed[i], only_read);
          if (every) end(g.open, only_read);
        });
        return;
      }
      default: return look(line);
    }
  }
  // The thread that has issued it, and nobody else, reaches what it copies.
  void look(int line) {
    if (copies_.empty()) return;
    Copy& copy = copies_[below(static_cast<uint32_t>(copies_.size()))];
    if (copy.line == 0) return;
    const bool writes = copy.reads || below(2) == 0;
    trace_.access(line, copy.who, writes ? AccessKind::write : AccessKind::read, copy.address, {}, 16);
    if (!copy.over && !(copy.reads && copy.read))
      expected_.push_back("operation-race " + std::to_string(copy.line) + " " + std::to_string(line));
    copy.line = 0;  // once
  }
  Lines found() const { return trace_.kinds(); }
  const Lines& expected() const { return expected_; }

 private:
  static constexpr uint64_t kEvery = machine::Synchronisation::kEvery;

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  void issue(int line, const Who& who, bool bulk) {
    const size_t number = copies_.size();
    const bool into_shared = below(2) == 0;
    const uint64_t at = 16 * number;
    Copy copy{line, who, below(2) == 0, into_shared ? shared(0, at) : global(at)};
    trace_.issues(line, who, number + 1, bulk ? machine::Ending::bulk_group : machine::Ending::copy_group);
    trace_.operation(line, who, number + 1, copy.reads ? AccessKind::read : AccessKind::write, copy.address,
                     16, bulk ? Proxy::async : Proxy::generic, std::countr_zero(who.lanes));
    copies_.push_back(copy);
    groups_[{who.cta[0], who.warp, std::countr_zero(who.lanes), bulk}].open.push_back(number);
  }
  template <class Do>
  void each(const Who& who, bool bulk, Do what) {
    for (int lane = 0; lane < 32; ++lane)
      if ((who.lanes >> lane & 1) != 0) what(groups_[{who.cta[0], who.warp, lane, bulk}]);
  }
  void end(const std::vector<size_t>& copies, bool only_read) {
    for (const size_t c : copies) copies_[c].read = true, copies_[c].over = copies_[c].over || !only_read;
  }

  Drawn drawn_;
  std::mt19937& random_;
  Trace trace_;
  int line_ = 0;
  std::vector<Copy> copies_;
  std::map<std::tuple<uint32_t, int, int, bool>, Groups> groups_;
  Lines expected_;
};

TEST(Groups, AreWaitedForAsListsSay) {
  std::mt19937 random(5);
  size_t races = 0, looks = 0;
  for (const Drawn& drawn : {Drawn{1, 1, 1}, Drawn{1, 1, 3}, Drawn{1, 3, 2}, Drawn{2, 6, 11}})
    for (int round = 0; round < 150; ++round) {
      OneRun run(drawn, random);
      for (int step = 0; step < 60; ++step) run.step();
      ASSERT_EQ(run.found(), run.expected()) << "round " << round;
      races += run.expected().size();
      ++looks;
    }
  EXPECT_GT(races, looks);
}

}  // namespace
}  // namespace bitwell::hazard
