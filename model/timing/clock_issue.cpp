// An instruction is issued: when it can be, and when what it gives is there.
#include <algorithm>

#include "model/timing/clock_state.h"

namespace bitwell::timing {

std::span<const uint32_t> Clock::sources(const Info& i) const { return {&operands_[i.first], i.sources}; }
std::span<const uint32_t> Clock::results(const Info& i) const {
  return {&operands_[i.first] + i.sources, i.results};
}

bool Clock::executed(const run::Executed& e) {
  const Info& i = infos_[static_cast<size_t>(e.function)][e.pc];
  WarpTime& w = *warp_;
  turn_line_ = e.line.ptx;
  if (!i.has_row) ++without_row_[e.line.text];
  double start = w.clock;
  int loaded = 0;
  for (const uint32_t s : sources(i))
    if (const WarpTime::Row& row = w.rows[s]; row.at > start) {
      start = row.at;
      loaded = row.line;
    }
  const auto give = [&](double at, int line) {
    for (const uint32_t d : results(i)) w.rows[d] = {at, line};
  };
  if (i.kind == OpKind::arithmetic && i.interval == 0 && i.results == 1) {  // a name for a register
    give(start, loaded);
    return i.goes_on;
  }
  if (start - w.clock > w.stall) {
    w.stall = start - w.clock;
    w.stall_line = loaded;
  }
  Multiprocessor& sm = sm_of(*at_, w.rank);
  Quarter& quarter = sm.quarters[w.quarter];
  const double slot = quarter.issue.take(start, 1);
  issued_ += 1;
  issue_by_source_[static_cast<size_t>(i.source)] += 1;
  start = std::max(start, slot - 1);
  w.clock += 1;
  w.pending = std::max(w.pending, start);
  constexpr double kAhead = 1000;  // cycles that a warp may go before the others
  const bool goes_on = i.goes_on && start - turn_begin_ < kAhead;
  if (e.lanes == 0 && i.kind != OpKind::arithmetic) {  // its guard held for none
    now_ = std::max(now_, w.pending);
    return goes_on;
  }
  // Nothing behind what waits or orders goes before it.
  const auto all_before = [&] { return std::max(w.clock, w.pending); };
  switch (i.kind) {
    case OpKind::arithmetic: {
      double done = start;
      if (i.in_warp)
        done = sm.memory.take(start, i.interval / kQuarters) - i.interval / kQuarters + i.latency;
      else if (i.interval > 0)
        done = quarter.pipes[static_cast<size_t>(i.pipe)].take(start, i.interval) - i.interval + i.latency;
      w.pending = std::max(w.pending, done - i.latency);  // until then it cannot be issued
      give(done, loaded);
      break;
    }
    case OpKind::multiply_warp:
      sm.tensor_busy += i.interval;
      give(sm.tensor_sync.take(start, i.interval) - i.interval + i.latency, loaded);
      break;
    case OpKind::memory: memory(e, i, w, start); break;
    case OpKind::barrier: {
      const double at = all_before();
      w.clock = w.pending = at + i.interval;
      now_ = std::max(now_, at + i.seen);
      give(at + i.latency, 0);
      break;
    }
    case OpKind::copy:
      w.role = Role::copies;
      now_ = std::max(now_, all_before());
      w.clock = w.pending = all_before() + i.latency;
      reached_.clear();
      return false;
    case OpKind::multiply:
    case OpKind::tensor:
      w.role = Role::multiplies;
      w.clock = w.pending = all_before() + i.latency;
      w.issues.push_back(w.clock);
      now_ = std::max(now_, w.clock);
      break;
    case OpKind::tensor_load:
    case OpKind::tensor_store: {
      const double served = sm.tensor_memory.take(start, i.interval);
      w.pending = std::max(w.pending, served);
      give(served + i.latency, e.line.ptx);
      break;
    }
    case OpKind::order:
      w.clock = w.pending = all_before() + i.latency;
      now_ = std::max(now_, w.clock);
      break;
  }
  if (i.ends_block) w.clock = w.pending = all_before() + i.latency;
  now_ = std::max(now_, w.pending);
  reached_.clear();
  return goes_on;
}

}  // namespace bitwell::timing
