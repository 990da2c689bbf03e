// A warp executes before its time what no other can tell from its doing so later. What that costs is noted,
// and counts when its time comes.
#include <algorithm>

#include "model/timing/clock_state.h"

namespace bitwell::timing {

void Clock::Ahead::add(Step of, const run::Reaches& reached) {
  for (const run::Reach& r : reached) {
    accesses.push_back({r.form, r.kind, r.lanes, r.bytes, r.first});
    if (r.form == run::Reach::Form::each)
      addresses.insert(addresses.end(), r.addresses.begin(), r.addresses.end());
    ++of.reaches;
  }
  steps.push_back(of);
}

void Clock::Ahead::take(const Step& of, run::Reaches& reached) {
  reached.clear();
  for (uint32_t k = 0; k < of.reaches; ++k) {
    const Access& a = accesses[access++];
    run::Reach& r = reached.add();
    r.form = a.form;
    r.kind = a.kind;
    r.lanes = a.lanes;
    r.bytes = a.bytes;
    r.first = a.first;
    if (a.form != run::Reach::Form::each) continue;
    std::copy_n(addresses.begin() + static_cast<std::ptrdiff_t>(address), machine::kLanes,
                r.addresses.begin());
    address += machine::kLanes;
  }
}

bool Clock::goes_ahead() {
  reached_.clear();
  ahead_ = true;
  return true;
}

// No further than what is noted takes little room.
bool Clock::may_go_ahead(int function, uint32_t pc) {
  constexpr size_t kMostSteps = 256, kMostAccesses = 128, kMostAddresses = 1024;
  const Ahead& a = warp_->ahead;
  return infos_[static_cast<size_t>(function)][pc].ahead && a.steps.size() < kMostSteps &&
         a.accesses.size() < kMostAccesses && a.addresses.size() < kMostAddresses;
}

void Clock::turn_ends() { warp_->ahead.add({.to = Ahead::kEnd}, {}); }

bool Clock::has_gone_ahead() {
  Ahead& a = warp_->ahead;
  bool over = false;
  while (!over && !a.empty()) {
    const Ahead::Step s = a.steps[a.step++];
    if (s.ends_turn()) {
      over = true;
    } else if (s.to != 0) {
      add_time(s.function, s.pc, s.to);
    } else {
      a.take(s, reached_);
      const Info& i = infos_[s.function][s.pc];
      // No turn ends behind what did nothing, nor behind a branch.
      over = !executed(static_cast<int>(s.function), s.pc, s.lanes) && s.lanes != 0 && !i.ends_block;
    }
  }
  if (a.empty()) a.clear();
  return over;
}

bool Clock::executed(const run::Executed& e) {
  if (!ahead_) return executed(e.function, e.pc, e.lanes);
  warp_->ahead.add({e.pc, 0, e.lanes, static_cast<uint16_t>(e.function), 0}, reached_);
  reached_.clear();
  return true;
}

void Clock::computed(int function, uint32_t from, uint32_t to) {
  if (ahead_)
    warp_->ahead.add({from, to, 0, static_cast<uint16_t>(function), 0}, {});
  else
    add_time(function, from, to);
}

}  // namespace bitwell::timing
