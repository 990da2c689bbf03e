// When a cluster only waits or polls, and what lets it look again.
#include "model/run/cluster.h"
#include "model/run/wait.h"

namespace bitwell::run {

using machine::Warp;

namespace {

// A cluster gives way to others where the turns of its splits were used up polling so often while nothing
// changed, but not at once, so that resuming clusters costs little beside their work; or so often though
// something did.
constexpr uint64_t kIdlePolls = 16;
constexpr uint64_t kShortTurn = 1 << 14;  // warp instructions
constexpr uint64_t kPolls = 1 << 14;
// Rounds of waits that give up while nothing changes.
constexpr uint64_t kTimeOuts = 1 << 17;

}  // namespace

void Cluster::polled() {
  if (idle_since_ != grid.flight.changes()) idle_polls_ = 0;
  idle_since_ = grid.flight.changes();
  ++idle_polls_;
  ++polls_;
}

bool Cluster::only_polled() const {
  return polls_ >= kPolls || (idle_polls_ >= kIdlePolls && grid.flight.time() - gave_way_ >= kShortTurn);
}

// For other clusters: their stores, or the end of the launch before.
bool Cluster::waits_for_others() const {
  for (const auto& cta : ctas)
    for (const Warp& w : cta->warps)
      for (const machine::Split& s : w.splits)
        if (s.wait != nullptr && (s.wait->over != nullptr || (s.wait->polls && s.polls_global))) return true;
  return false;
}

// When nothing can go on, a try_wait gives up, as it does on a device after a while, unless its loop is known
// to come back just as it is. A loop that counts how often it did is given some patience.
bool Cluster::let_waits_time_out() {
  if (time_outs_at_ != grid.flight.changes()) time_outs_ = 0;
  time_outs_at_ = grid.flight.changes();
  if (++time_outs_ > kTimeOuts) return false;
  bool any = false;
  for (const auto& cta : ctas)
    for (Warp& w : cta->warps)
      for (machine::Split& s : w.splits)
        if (s.wait != nullptr && s.wait->gives_up && !cta->repeats(w, s, ~s.pc)) {
          s.wait = nullptr;
          s.times_out = any = true;
        }
  if (any) waits_ = false;
  return any;
}

void Cluster::let_dependents_start() {
  const Policy policy = grid.options.schedule.policy;
  if (starts_late(policy) || (policy == Policy::random && random_() % 2 == 0)) return;
  interrupted_ = yielded_ = true;
}

void Cluster::release_spinners() {
  for (const auto& cta : ctas)
    for (Warp& w : cta->warps) release_spinners(*cta, w);
}

void Cluster::release_spinners(const Cta& cta, Warp& warp) const {
  for (machine::Split& s : warp.splits)
    if ((s.wait == &kSpins && s.seen_changes != changes(cta, warp)) ||
        (s.wait != nullptr && s.wait->over != nullptr && s.wait->over(grid)))
      s.wait = nullptr;
}

}  // namespace bitwell::run
