// What an instruction costs: one that computes, and one that does more.
#include "model/timing/clock/issue.h"

#include <algorithm>

#include "model/isa/form/program.h"

namespace bitwell::timing {

std::span<const uint32_t> Clock::sources(const Info& i) const {
  return {operands_.data() + i.first, i.sources};
}
std::span<const uint32_t> Clock::results(const Info& i) const {
  return {operands_.data() + i.first + i.sources, i.results};
}

// Of a barrier of the cluster: when a warp that comes there can go on. Whoever waits waits for the last that
// arrives, though all have when it comes. Who has passed a barrier may arrive at the next before others look
// at this one, and at no other.
Time Clock::meet_cluster(const Info& i, WarpTime& w, Time at) {
  Time& due = at_->cluster_barrier[w.cluster_barriers % 2];
  if (i.at_cluster == Info::AtCluster::arrives) {
    due = std::max(due, at + i.seen);
    return at;
  }
  ++w.cluster_barriers;
  return std::max(at, due);
}

// A table's interval is of the multiprocessor; each quarter has a tensor core. A warp stands until that takes
// its product: behind a barrier, all that stand there have none under way.
Time Clock::multiply_warp(const Info& i, WarpTime& w, Multiprocessor& sm, Time start) const {
  const Time interval = static_cast<Time>(kQuarters) * i.interval;
  const Time begin = sm.tensor_sync[w.quarter].take(start, interval) - interval;
  w.clock = std::max(w.clock, begin + i.stalls);
  return begin + i.latency;
}

// Of what does more than compute. Returns whether the turn may go on.
[[gnu::always_inline]] inline bool Clock::act(const Info& i, WarpTime& w, Multiprocessor& sm, uint32_t lanes,
                                              Notes reached) {
  int loaded = 0;
  Time ready = needs(i, w, loaded);
  if (i.behind_stores != 0) ready = std::max(ready, behind_stores(i, w));
  const Time start = issue(i, w, sm, ready, loaded, i.kind == OpKind::arithmetic);
  if (i.stores != 0) has_stored(i, w, start);
  const bool goes_on = i.goes_on && start - turn_begin_ < kAhead;
  if (lanes == 0) {  // its guard held for none
    now_ = std::max(now_, w.pending);
    return goes_on;
  }
  // Nothing behind what waits goes before it. What computes in registers may go before an operation that only
  // starts another or orders some: machine code has it there, where it does not depend on it.
  const auto all_before = [&] { return std::max({w.clock, w.pending, w.ordered}); };
  switch (i.kind) {
    case OpKind::arithmetic: break;
    case OpKind::multiply_warp:
      sm.tensor_busy += i.interval;
      give(i, w, multiply_warp(i, w, sm, start), loaded);
      break;
    case OpKind::memory: memory(i, w, start, reached); break;
    case OpKind::barrier: {
      Time at = all_before();
      if (i.at_cluster != Info::AtCluster::no) at = meet_cluster(i, w, at);
      w.clock = w.pending = at + i.interval;
      now_ = std::max(now_, at + i.seen);
      give(i, w, at + i.latency, 0);
      if (i.meets) meet(w);
      break;
    }
    case OpKind::copy:
      now_ = std::max(now_, all_before());
      w.ordered = all_before() + i.latency;
      return false;
    case OpKind::multiply: {  // the warp stands until it has handed it over, and until there is room for it
      const Time begin = std::max(all_before(), w.done[w.products % WarpTime::kMost]);
      const auto many = static_cast<Time>(sm.products[w.quarter].hand_over(w.place, begin));
      w.clock = w.pending = w.ordered = begin + (many == 1 ? i.interval : many * (i.interval + i.seen));
      w.issues.push_back(begin + i.latency);
      if (w.quarter == 0) sm.multiplies = std::max(sm.multiplies, begin) + i.product;
      now_ = std::max(now_, w.issues.back());
      return false;  // others hand theirs over between two of its own
    }
    case OpKind::tensor:
      w.ordered = all_before() + i.latency;
      w.issues.push_back(w.ordered);
      now_ = std::max(now_, w.ordered);
      break;
    case OpKind::tensor_load:
    case OpKind::tensor_store: {
      const Time served = sm.tensor_memory.take(start, i.interval);
      w.pending = std::max(w.pending, served);
      give(i, w, served + i.latency, i.line);
      break;
    }
    case OpKind::order:
      w.ordered = all_before() + i.latency;
      if (i.waits) w.clock = w.pending = w.ordered;
      now_ = std::max(now_, w.ordered);
      break;
  }
  if (i.ends_block) w.clock = w.pending = all_before() + i.latency;
  now_ = std::max(now_, w.pending);
  return goes_on;
}

bool Clock::costs_time(const Info& i, uint32_t lanes, Notes reached) {
  WarpTime& w = *warp_;
  turn_line_ = i.line;
  if (!i.has_row) [[unlikely]]
    lacks_row(i);
  if (i.kind == OpKind::arithmetic) return compute(i, w, *sm_) - turn_begin_ < kAhead && i.goes_on;
  return act(i, w, *sm_, lanes, reached);
}

// A branch that some lanes take and some do not, where machine code has a branch.
void Clock::diverges(const Info& i) {
  if (code_ == nullptr || i.kind != OpKind::arithmetic || !i.ends_block || i.predicates) return;
  warp_->clock += time(Key::diverge);
  warp_->pending = std::max(warp_->pending, warp_->clock);
}

void Clock::lacks_row(const Info& i) {
  const isa::Function& f = program_->functions[static_cast<size_t>(i.function)];
  ++without_row_[f.lines[static_cast<size_t>(f.code[i.pc].line)].text];
}

}  // namespace bitwell::timing
