// An instruction is issued: when it can be, and when what it gives is there.
#include <algorithm>

#include "model/timing/clock_state.h"

namespace bitwell::timing {

using isa::Unit;

void Clock::executed(const run::Executed& e) {
  const Info& i = info(e);
  WarpTime& w = *warp_;
  Multiprocessor& sm = sm_of(*at_, w.rank);
  turn_line_ = e.line.ptx;
  if (!i.has_row) ++without_row_[e.line.text];
  if (i.kind == OpKind::arithmetic && i.interval == 0 && i.results.size() == 1) {  // a name for a register
    double at = 0;
    int line = 0;
    for (const uint32_t s : i.sources)
      if (s < w.ready.size() && w.ready[s] > at) {
        at = w.ready[s];
        line = w.loaded[s];
      }
    w.gives(i.results.front(), at, line);
    reached_.clear();
    return;
  }
  double start = w.clock;
  int loaded = 0;
  for (const uint32_t s : i.sources)
    if (s < w.ready.size() && w.ready[s] > start) {
      start = w.ready[s];
      loaded = w.loaded[s];
    }
  if (start - w.clock > w.stall) {
    w.stall = start - w.clock;
    w.stall_line = loaded;
  }
  Quarter& quarter = sm.quarters[w.quarter];
  const double slot = quarter.issue.take(start, 1);
  issued_ += 1;
  issue_by_source_[i.source] += 1;
  start = std::max(start, slot - 1);
  w.clock += 1;
  w.pending = std::max(w.pending, start);
  double done = start;
  switch (i.kind) {
    case OpKind::arithmetic:
      if (e.line.unit == Unit::warp)
        done = sm.memory.take(start, i.interval / kQuarters) - i.interval / kQuarters + i.latency;
      else if (i.interval > 0)
        done = quarter.pipes[static_cast<size_t>(i.pipe)].take(start, i.interval) - i.interval + i.latency;
      w.pending = std::max(w.pending, done - i.latency);  // until then it cannot be issued
      break;
    case OpKind::multiply_warp:
      sm.tensor_busy += i.interval;
      done = sm.tensor_sync.take(start, i.interval) - i.interval + i.latency;
      break;
    case OpKind::memory: memory(e, i, w, start); break;
    case OpKind::barrier: matched_barrier(e, i, w); break;
    case OpKind::copy:
      w.role = Role::copies;
      w.clock = w.pending = std::max(w.clock, w.pending) + device_.value(Key::copy_issue);
      now_ = std::max(now_, w.pending - device_.value(Key::copy_issue));
      break;
    case OpKind::multiply:
      w.role = Role::multiplies;
      w.clock = w.pending = std::max(w.clock, w.pending) + i.latency;
      w.multiplies.push_back(w.clock);
      now_ = std::max(now_, w.clock);
      break;
    case OpKind::order:
      w.clock = w.pending = std::max(w.clock, w.pending) + i.latency;
      now_ = std::max(now_, w.clock);
      break;
  }
  if (i.kind == OpKind::arithmetic || i.kind == OpKind::multiply_warp)
    for (const uint32_t d : i.results) w.gives(d, done, 0);
  if (i.ends_block) w.clock = w.pending = std::max(w.clock, w.pending) + i.latency;
  now_ = std::max(now_, w.pending);
  reached_.clear();
}

// Barriers, fences and what waits: nothing behind them goes before.
void Clock::matched_barrier(const run::Executed& e, const Info& i, WarpTime& w) {
  const std::string& name = e.line.text;
  const auto begins = [&](std::string_view text) { return name.compare(0, text.size(), text) == 0; };
  const auto has = [&](const char* text) { return name.find(text) != std::string::npos; };
  const double start = std::max(w.clock, w.pending);
  double issue = 2, seen = 2, result = 4;
  const auto warps = static_cast<double>(e.cta.warps.size());
  if (begins("barrier.cluster.arrive")) {
    const double one = device_.value(Key::cluster_barrier),
                 eight = device_.value(Key::cluster_barrier_a_warp);
    issue = device_.value(Key::small_step);
    seen = one + (eight - one) / 7 * (warps - 1) - device_.value(Key::cluster_wait);
  } else if (begins("barrier.cluster.wait")) {
    issue = seen = device_.value(Key::cluster_wait);
  } else if (begins("bar.warp")) {
    issue = seen = 2;
  } else if (begins("bar.arrive") || begins("barrier.arrive") || begins("barrier.cta.arrive")) {
    issue = device_.value(Key::small_step);
    seen = device_.value(Key::bar_sync);
  } else if (begins("bar")) {
    const double one = device_.value(Key::bar_sync), all = device_.value(Key::bar_sync_a_warp);
    issue = seen = one + (all - one) / 31 * (warps - 1);
  } else if (has("try_wait") || has("test_wait")) {
    result = device_.value(Key::mbarrier_wait);
  } else if (begins("mbarrier.arrive")) {
    const double hand_over = device_.value(Key::mbarrier_handover) - device_.value(Key::mbarrier_wait);
    issue = device_.value(has("expect_tx") ? Key::mbarrier_arrive_expect : Key::mbarrier_arrive);
    seen = hand_over;
    result = device_.value(Key::mbarrier_token);
    if (has("shared::cluster")) seen = device_.value(Key::remote_latency) + hand_over;
  } else if (begins("mbarrier")) {
    issue = seen = device_.value(Key::mbarrier_arrive);
  } else if (begins("fence.proxy.async")) {
    issue = seen = device_.value(has("shared::cta") ? Key::fence_proxy_shared : Key::fence_proxy);
    if (has(".global")) issue = seen = device_.value(Key::fence_proxy_global);
  } else if (begins("fence.mbarrier_init")) {
    issue = seen = 2;
  } else if (begins("fence") || begins("membar")) {
    const Key key = has(".sys") ? Key::fence_sys : has(".cta") ? Key::fence_cta : Key::fence_gpu;
    issue = seen = device_.value(key);
  } else if (begins("cp.async.wait") || begins("cp.async.bulk.wait")) {
    issue = seen = 7;
  }
  w.clock = w.pending = start + issue;
  now_ = std::max(now_, start + seen);
  for (const uint32_t d : i.results) w.gives(d, start + result, 0);
}

}  // namespace bitwell::timing
