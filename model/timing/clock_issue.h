// An instruction is issued: when it can be, and when what it gives is there. For what happens at each.
#pragma once
#include <algorithm>

#include "model/timing/clock_state.h"

namespace bitwell::timing {

// When what it needs is there; `loaded`: the load that gave the last of it, or 0.
[[gnu::always_inline]] inline double Clock::needs(const Info& i, const WarpTime& w, int& loaded) const {
  double start = w.clock;
  if (w.given <= start) return start;
  const uint32_t* const operands = operands_.data() + i.first_late;
  const WarpTime::Row* const rows = w.rows.data();
  for (uint32_t k = 0; k < i.late; ++k)
    if (const WarpTime::Row& row = rows[operands[k]]; row.at > start) {
      start = row.at;
      loaded = row.line;
    }
  return start;
}

[[gnu::always_inline]] inline void Clock::give(const Info& i, WarpTime& w, double at, int line) const {
  const uint32_t* const operands = operands_.data() + i.first + i.sources;
  WarpTime::Row* const rows = w.rows.data();
  for (uint32_t k = 0; k < i.results; ++k) rows[operands[k]] = {at, line};
  w.given = std::max(w.given, at);
}

// Takes a cycle of its quarter. Returns when it begins.
[[gnu::always_inline]] inline double Clock::issue(const Info& i, WarpTime& w, Quarter& quarter,
                                                  Quarter::Then& then, int loaded) {
  if (then.at - w.clock > w.stall) {
    w.stall = then.at - w.clock;
    w.stall_line = loaded;
  }
  const double start = std::max(then.at, quarter.issue(then, 1) - 1);
  ++issued_by_source_[static_cast<size_t>(i.source)];
  w.clock += 1;
  w.pending = std::max(w.pending, start);
  return start;
}

// Returns when it begins.
[[gnu::always_inline]] inline double Clock::compute(const Info& i, WarpTime& w, Multiprocessor& sm) {
  int loaded = 0;
  const double start = needs(i, w, loaded);
  if (i.renames) {
    give(i, w, start, loaded);
    return turn_begin_;
  }
  const double begin = execute(i, w, sm, start, loaded);
  now_ = std::max(now_, w.pending);
  return begin;
}

// When what it needs is there. Returns when it begins.
[[gnu::always_inline]] inline double Clock::execute(const Info& i, WarpTime& w, Multiprocessor& sm,
                                                    double ready, int loaded) {
  Quarter& quarter = sm.quarters[w.quarter];
  Quarter::Then then = quarter.then(ready);
  const double start = issue(i, w, quarter, then, loaded);
  double done = start;
  if (i.in_warp) {
    done = sm.memory.take(start, i.interval / kQuarters) - i.interval / kQuarters + i.latency;
  } else if (i.interval > 0) {
    if (start != ready) then = quarter.then(start);  // most often its pipe has it when it is issued
    const double served = i.pipe == Pipe::sfu ? quarter.take(i.pipe, start, i.interval)
                                              : quarter.take(i.pipe, then, i.interval);
    done = served - i.interval + i.latency;
  }
  w.pending = std::max(w.pending, done - i.latency);  // until then it cannot be issued
  give(i, w, done, loaded);
  if (i.ends_block) w.clock = w.pending = std::max({w.clock, w.pending, w.ordered}) + i.latency;
  return start;
}

}  // namespace bitwell::timing
