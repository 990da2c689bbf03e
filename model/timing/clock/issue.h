// An instruction is issued: when it can be, and when what it gives is there. For what happens at each.
#pragma once
#include <algorithm>

#include "model/timing/clock/state.h"

namespace bitwell::timing {

inline constexpr Time kAhead = 1000 * kCycle;  // that a warp may go before the others

// When what it needs is there; `loaded`: the load that gave the last of it, or 0.
[[gnu::always_inline]] inline Time Clock::needs(const Info& i, const WarpTime& w, int& loaded) const {
  Time start = w.clock;
  if (w.given <= start) return start;
  const uint32_t* const operands = operands_.data() + i.first_late;
  const WarpTime::Row* const rows = w.rows;
  for (uint32_t k = 0; k < i.late; ++k)
    if (const WarpTime::Row& row = rows[operands[k]]; row.at > start) {
      start = row.at;
      loaded = row.line;
    }
  return start;
}

// Before which a load may not be issued, as it may read what one of these stores writes: ptxas leaves them
// in the order of the program, and a warp issues in that.
[[gnu::always_inline]] inline Time Clock::behind_stores(const Info& i, const WarpTime& w) {
  Time out = 0;
  if ((i.behind_stores & Info::kGlobal) != 0) out = w.stored[0];
  if ((i.behind_stores & Info::kShared) != 0) out = std::max(out, w.stored[1]);
  return out;
}

[[gnu::always_inline]] inline void Clock::has_stored(const Info& i, WarpTime& w, Time start) {
  if ((i.stores & Info::kGlobal) != 0) w.stored[0] = std::max(w.stored[0], start);
  if ((i.stores & Info::kShared) != 0) w.stored[1] = std::max(w.stored[1], start);
}

[[gnu::always_inline]] inline void Clock::give(const Info& i, WarpTime& w, Time at, int line) const {
  const uint32_t* const operands = operands_.data() + i.first + i.sources;
  WarpTime::Row* const rows = w.rows;
  for (uint32_t k = 0; k < i.results; ++k) rows[operands[k]] = {at, line};
  w.given = std::max(w.given, at);
}

// What it asks of its quarter from `ready` on; `computes`: of a pipe too. Returns when it is issued, or
// begins in its pipe if that is later.
[[gnu::always_inline]] inline Time Clock::issue(const Info& i, WarpTime& w, Multiprocessor& sm, Time ready,
                                                int loaded, bool computes) {
  if (ready - w.clock > stall_) {
    stall_ = ready - w.clock;
    stall_line_ = loaded;
  }
  Quarter& quarter = sm.quarters[w.quarter];
  const Time start = computes ? quarter.run_one(ready, i.asks) : quarter.issue(ready, i.asks);
  issued_by_source_[static_cast<size_t>(i.source)] += i.issued;
  w.clock += i.stalls;
  w.pending = std::max(w.pending, start);
  return start;
}

// Returns when it begins.
[[gnu::always_inline]] inline Time Clock::compute(const Info& i, WarpTime& w, Multiprocessor& sm) {
  int loaded = 0;
  const Time start = needs(i, w, loaded);
  if (i.predicates && i.issued == 0) return turn_begin_;
  if (i.renames) {
    give(i, w, start, loaded);
    return turn_begin_;
  }
  const Time begin = execute(i, w, sm, start, loaded);
  now_ = std::max(now_, w.pending);
  return begin;
}

// When what it needs is there. Returns when it begins.
[[gnu::always_inline]] inline Time Clock::execute(const Info& i, WarpTime& w, Multiprocessor& sm, Time ready,
                                                  int loaded) {
  const Time start = issue(i, w, sm, ready, loaded, true);
  Time done = start;
  if (i.in_warp) {
    const Time port = i.interval / static_cast<Time>(kQuarters), begin = sm.memory.take(start, port) - port;
    w.pending = std::max(w.pending, begin);
    done = begin + i.latency;
  } else if (i.interval > 0) {
    done += i.latency;
  }
  give(i, w, done, loaded);
  if (i.ends_block) w.clock = w.pending = std::max({w.clock, w.pending, w.ordered}) + i.latency;
  return start;
}

}  // namespace bitwell::timing
