// mbarriers (PTX ISA 9.0, 9.7.13.15) against a model of a few lines, written from the manual: counts, phases
// and what is out of range, over random sequences of operations.
#include "model/machine/mbarrier.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace bitwell::machine {
namespace {

constexpr int64_t kMost = 1048575;  // of arrivals and of bytes

// What the manual says: an expected and a pending count, a transaction count, a phase. A phase ends when
// nothing is pending; then as many arrivals as are expected are pending again. out_of_range: undefined there,
// a fault here.
struct Barrier {
  int64_t expected = 0, pending = 0, bytes = 0;
  uint64_t phase = 0;
  bool touched = false;  // since it was initialised
  static void need(bool holds) {
    if (!holds) throw std::out_of_range("undefined");
  }
  void step(int64_t arrivals, int64_t dropped, int64_t tx, bool may_end = true) {
    need(dropped <= expected && arrivals <= pending && tx + bytes <= kMost && tx + bytes >= -kMost);
    const bool ends = pending == arrivals && bytes + tx == 0;
    need(may_end || !ends);
    touched = touched || arrivals != 0 || tx != 0;
    expected -= dropped, bytes += tx;
    pending = ends ? expected : pending - arrivals;
    phase += ends ? 1 : 0;
  }
};

enum class What {
  init,
  inval,
  arrive,
  drop,
  arrive_no_complete,
  drop_no_complete,
  increment,
  expect,
  complete
};
constexpr std::array<const char*, 9> kNames{"init",
                                            "inval",
                                            "arrive",
                                            "arrive_drop",
                                            "arrive.noComplete",
                                            "arrive_drop.noComplete",
                                            "increment_pending",
                                            "expect_tx",
                                            "complete_tx"};
struct Step {
  What what = What::init;
  uint64_t address = 0;
  uint64_t n = 0;
};
std::ostream& operator<<(std::ostream& out, const Step& s) {
  return out << kNames[static_cast<size_t>(s.what)] << " [" << s.address << "], " << s.n;
}

// Both sides take every step; neither changes where it is out of range.
class Twins {
 public:
  Twins() : shared_("shared", 0, 64, false), subject_(shared_) {}

  // Whether it was in range, by the manual. difference() says what the two do not agree on.
  bool take(const Step& s) {
    std::map<uint64_t, Barrier> next = model_;
    bool in_range = true;
    uint64_t before = 0;
    try {
      before = next.count(s.address) != 0 ? next.at(s.address).phase : 0;
      by_the_manual(next, s);
    } catch (const std::out_of_range&) {
      in_range = false;
    }
    bool taken = true;
    bool ended = false;
    try {
      ended = by_the_subject(s);
    } catch (const Fault&) {
      taken = false;
    }
    agree(taken == in_range, in_range ? "faults" : "does not fault");
    if (in_range) {
      model_ = next;
      const bool ends = s.what != What::init && s.what != What::inval && model_.at(s.address).phase != before;
      agree(ended == ends, "says that a phase ended");
    }
    compare();
    return in_range;
  }
  const std::string& difference() const { return difference_; }
  const std::map<uint64_t, Barrier>& model() const { return model_; }

 private:
  static void by_the_manual(std::map<uint64_t, Barrier>& all, const Step& s) {
    const auto n = static_cast<int64_t>(s.n);
    if (s.what == What::init) {
      Barrier::need(n >= 1 && n <= kMost);
      // Again, with nothing in between: what an H200 takes from several lanes.
      if (const auto there = all.find(s.address);
          there != all.end() && !there->second.touched && there->second.expected == n)
        return;
      for (const auto& [address, barrier] : all)  // eight bytes each
        Barrier::need(address + 8 <= s.address || s.address + 8 <= address);
      all[s.address] = {n, n, 0, 0, false};
      return;
    }
    Barrier& b = all.at(s.address);
    const bool counts = s.what == What::arrive || s.what == What::drop ||
                        s.what == What::arrive_no_complete || s.what == What::drop_no_complete;
    Barrier::need(!counts || (n >= 1 && n <= kMost));
    switch (s.what) {
      case What::inval: all.erase(s.address); return;
      case What::arrive: return b.step(n, 0, 0);
      case What::drop: return b.step(n, n, 0);
      case What::arrive_no_complete: return b.step(n, 0, 0, false);
      case What::drop_no_complete: return b.step(n, n, 0, false);
      case What::expect: Barrier::need(n <= kMost); return b.step(0, 0, n);
      case What::complete: return b.step(0, 0, -n);
      default: Barrier::need(b.pending < kMost); ++b.pending, b.touched = true;
    }
  }

  bool by_the_subject(const Step& s) {
    switch (s.what) {
      case What::init: subject_.init(s.address, s.n, {}); return false;
      case What::inval: subject_.inval(s.address); return false;
      case What::arrive: return subject_.arrive(s.address, s.n, {});
      case What::drop: return subject_.arrive_drop(s.address, s.n, {});
      case What::arrive_no_complete: subject_.arrive_no_complete(s.address, s.n, false, {}); return false;
      case What::drop_no_complete: subject_.arrive_no_complete(s.address, s.n, true, {}); return false;
      case What::increment: subject_.increment_pending(s.address); return false;
      case What::expect: return subject_.expect(s.address, s.n);
      default: return subject_.complete(s.address, s.n);
    }
  }

  void agree(bool holds, const char* what) {
    if (!holds && difference_.empty()) difference_ = what;
  }

  void compare() {
    agree(subject_.all().size() == model_.size(), "number of barriers");
    if (!difference_.empty()) return;
    for (const auto& [address, b] : model_) {
      const MbarrierWord word = subject_.word(address);
      agree(word.expected == b.expected, "expected arrivals");
      agree(word.pending == b.pending, "pending arrivals");
      agree(word.bytes == b.bytes, "bytes");
      agree(subject_.all().at(address).phases == b.phase, "phase");
      // The phase of a parity is over where the one under way has the other parity.
      agree(subject_.phase_over(address, 0) == (b.phase % 2 == 1), "parity 0");
      agree(subject_.phase_over(address, 1) == (b.phase % 2 == 0), "parity 1");
      const MbarrierWord state = decode_mbarrier(subject_.state(address));
      agree(!subject_.phase_over(address, state.parity), "the state's phase");
      agree(state.pending == b.pending, "the state's pending count");
    }
  }

  Region shared_;
  Mbarriers subject_;
  std::map<uint64_t, Barrier> model_;
  std::string difference_;
};

// Counts near what is pending, near the limits, small ones and beyond; `pick` says which.
uint64_t likely_count(const std::map<uint64_t, Barrier>& model, uint64_t address, size_t pick) {
  std::vector<uint64_t> likely{1, 0, 2, 3, kMost - 1, kMost, kMost + 1, 0xFFFFFFFF};
  const auto found = model.find(address);
  if (found != model.end())
    for (const int64_t v : {found->second.pending, found->second.expected, found->second.bytes,
                            -found->second.bytes, kMost - found->second.bytes, kMost + found->second.bytes})
      for (const int64_t near : {v, v, v, v - 1, v + 1})
        if (near >= 0) likely.push_back(static_cast<uint64_t>(near));
  return likely[pick % likely.size()];
}

RC_GTEST_PROP(Mbarrier, CountsAsTheManualSays, ()) {
  using Draw = std::tuple<What, uint64_t, size_t>;  // a vector of them shrinks by leaving steps out
  const auto draws = *rc::gen::scale(
      4.0, rc::gen::container<std::vector<Draw>>(
               rc::gen::tuple(rc::gen::weightedElement<What>({{3, What::init},
                                                              {1, What::inval},
                                                              {8, What::arrive},
                                                              {3, What::drop},
                                                              {2, What::arrive_no_complete},
                                                              {2, What::drop_no_complete},
                                                              {2, What::increment},
                                                              {6, What::expect},
                                                              {6, What::complete}}),
                              rc::gen::weightedElement<uint64_t>({{12, 0}, {3, 8}, {1, 4}, {1, 15}, {1, 56}}),
                              rc::gen::resize(100, rc::gen::inRange<size_t>(0, 1000)))));
  Twins twins;
  for (const auto& [what, address, pick] : draws) {
    const Step s{what, address, likely_count(twins.model(), address, pick)};
    RC_LOG() << s << "\n";
    twins.take(s);
    RC_ASSERT(twins.difference() == "");
  }
}

// Every limit by name: the last value that is in range, and one beyond.
struct Limit {
  const char* name;
  std::vector<Step> before;
  Step last, beyond;
};
TEST(Mbarrier, EveryLimitHoldsAndOneBeyondFaults) {
  using enum What;
  const uint64_t most = kMost;
  const std::vector<Limit> limits{
      {"least count", {}, {init, 0, 1}, {init, 0, 0}},
      {"most count", {}, {init, 0, most}, {init, 0, most + 1}},
      {"nearest neighbour", {{init, 0, 1}}, {init, 8, 1}, {init, 7, 1}},
      {"the same again", {{init, 0, 2}}, {init, 0, 2}, {init, 0, 3}},
      {"... where nothing arrived", {{init, 0, 2}, {increment, 0, 0}}, {arrive, 0, 1}, {init, 0, 2}},
      {"... not behind what made it as it was",
       {{init, 0, 2}, {increment, 0, 0}, {arrive, 0, 1}},
       {arrive, 0, 1},
       {init, 0, 2}},
      {"an invalidated one", {{init, 0, 1}, {inval, 0, 0}}, {init, 0, 1}, {arrive, 0, 1}},
      {"most arrivals at once", {{init, 0, most}}, {arrive, 0, most}, {arrive, 0, most + 1}},
      {"pending arrivals", {{init, 0, 5}, {arrive, 0, 2}}, {arrive, 0, 3}, {arrive, 0, 4}},
      {"least arrivals", {{init, 0, 5}}, {arrive, 0, 1}, {arrive, 0, 0}},
      {"arrivals that do not end a phase",
       {{init, 0, 5}},
       {arrive_no_complete, 0, 4},
       {arrive_no_complete, 0, 5}},
      {"... with bytes to come",
       {{init, 0, 5}, {expect, 0, 1}},
       {arrive_no_complete, 0, 5},
       {arrive_no_complete, 0, 6}},
      {"drops that do not end a phase", {{init, 0, 5}}, {drop_no_complete, 0, 4}, {drop_no_complete, 0, 5}},
      {"drops of what is expected", {{init, 0, 5}, {increment, 0, 0}}, {drop, 0, 5}, {drop, 0, 6}},
      {"most pending", {{init, 0, most}}, {arrive, 0, 1}, {increment, 0, 0}},
      {"... after one arrived", {{init, 0, most}, {arrive, 0, 1}}, {increment, 0, 0}, {arrive, 0, most}},
      {"most bytes expected at once", {{init, 0, 1}}, {expect, 0, most}, {expect, 0, most + 1}},
      {"most bytes expected in all", {{init, 0, 1}, {expect, 0, most - 1}}, {expect, 0, 1}, {expect, 0, 2}},
      {"most bytes that came first", {{init, 0, 1}}, {complete, 0, most}, {complete, 0, most + 1}},
      {"... in all", {{init, 0, 1}, {complete, 0, most - 1}}, {complete, 0, 1}, {complete, 0, 2}},
  };
  for (const Limit& l : limits)
    for (const bool beyond : {false, true}) {
      Twins twins;
      for (const Step& s : l.before) EXPECT_TRUE(twins.take(s)) << l.name << ": " << s;
      const Step& s = beyond ? l.beyond : l.last;
      EXPECT_NE(twins.take(s), beyond) << l.name << ": " << s;
      EXPECT_EQ(twins.difference(), "") << l.name << ": " << s;
    }
}

}  // namespace
}  // namespace bitwell::machine
