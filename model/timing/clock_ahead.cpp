// A warp executes before its time what no other can tell from its doing so later. What that costs is noted,
// and counts when its time comes.
#include <algorithm>

#include "model/timing/clock_state.h"

namespace bitwell::timing {

void Clock::Ahead::make_room(size_t words) {
  constexpr size_t kLeast = 64;
  room_ = std::max({kLeast, 2 * room_, size_ + words});
  auto more = std::make_unique_for_overwrite<uint64_t[]>(room_);
  std::copy_n(notes_.get(), size_, more.get());
  notes_ = std::move(more);
}

void Clock::Ahead::add(Step of, const run::Reaches& reached) {
  of.reaches = static_cast<uint16_t>(reached.end() - reached.begin());
  constexpr size_t kMost = (sizeof(Access) + sizeof(run::Reach::addresses)) / sizeof(uint64_t);
  const size_t words = sizeof(Step) / sizeof(uint64_t) + of.reaches * kMost;
  if (size_ + words > room_) make_room(words);
  put(of);
  for (const run::Reach& r : reached) {
    put(Access{r.form, r.kind, r.lanes, r.bytes, r.first});
    if (r.form == run::Reach::Form::each) put(r.addresses);
  }
}

Clock::Ahead::Step Clock::Ahead::take(run::Reaches& reached) {
  Step out;
  get(out);
  reached.clear();
  for (uint32_t k = 0; k < out.reaches; ++k) {
    Access a;
    get(a);
    run::Reach& r = reached.add();
    r.form = a.form;
    r.kind = a.kind;
    r.lanes = a.lanes;
    r.bytes = a.bytes;
    r.first = a.first;
    if (a.form == run::Reach::Form::each) get(r.addresses);
  }
  if (empty()) at_ = size_ = 0;
  return out;
}

bool Clock::goes_ahead() {
  reached_.clear();
  ahead_ = true;
  return true;
}

// No further than what is noted takes little room.
bool Clock::may_go_ahead(int function, uint32_t pc) {
  constexpr size_t kMost = 1024;
  return infos_[static_cast<size_t>(function)][pc].ahead && warp_->ahead.size() < kMost;
}

void Clock::turn_ends() { warp_->ahead.add({.ends_turn = true}, {}); }

bool Clock::has_gone_ahead() {
  Ahead& ahead = warp_->ahead;
  while (!ahead.empty()) {
    const Ahead::Step s = ahead.take(reached_);
    if (s.ends_turn) return true;
    const auto function = static_cast<int>(s.function);
    if (s.to != 0) {
      add_time(function, s.pc, s.to);
      continue;
    }
    const bool goes_on = costs_time(function, s.pc, s.did ? machine::kLanes : 0);
    // No turn ends behind what did nothing, nor behind a branch.
    if (!goes_on && s.did && !infos_[s.function][s.pc].ends_block) return true;
  }
  return false;
}

bool Clock::executed(int function, uint32_t pc, uint32_t lanes) {
  if (!ahead_) return costs_time(function, pc, lanes);
  warp_->ahead.add({.pc = pc, .function = static_cast<uint16_t>(function), .did = lanes != 0}, reached_);
  reached_.clear();
  return true;
}

void Clock::computed(int function, uint32_t from, uint32_t to) {
  if (ahead_)
    warp_->ahead.add({.pc = from, .to = to, .function = static_cast<uint16_t>(function)}, {});
  else
    add_time(function, from, to);
}

}  // namespace bitwell::timing
