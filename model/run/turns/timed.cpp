// A launch whose turns go in the order of a model's time.
#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "model/run/turns/chooser.h"
#include "model/run/turns/residents.h"

namespace bitwell::run {

std::optional<Earliest> Cluster::earliest(Timekeeper& keeper) {
  release_spinners();
  keeper.looks_at(*this);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  Earliest out{{}, kNever, kNever, 0};
  const auto consider = [&](const Taker& taker, const machine::Agent* operation) {
    const double at = keeper.ready(taker, operation);
    if (at < out.at) {
      out.then = out.at;
      out.taker = taker;
      out.at = at;
    } else {
      out.then = std::min(out.then, at);
    }
  };
  uint32_t warp = 0;
  for (const auto& cta : ctas)
    for (const machine::Warp& w : cta->warps) {
      if (w.can_run()) consider({number, warp, 0}, nullptr);
      ++warp;
    }
  for (const auto& agent : agents_)
    if (agent->ready()) {
      ++out.ready;
      consider({number, 0, agent->id}, agent.get());
    }
  if (out.at == kNever) return std::nullopt;
  return out;
}

bool Cluster::again(Earliest& of, Timekeeper& keeper) const {
  const size_t warps = ctas.front()->warps.size();
  if (of.taker.operation != 0 || !ctas[of.taker.warp / warps]->warps[of.taker.warp % warps].can_run())
    return false;
  // What it has issued, or issued the last part of, can go on now too.
  const auto ready = std::count_if(agents_.begin(), agents_.end(), [](const auto& a) { return a->ready(); });
  if (static_cast<size_t>(ready) != of.ready) return false;
  const double at = keeper.again(of.taker);
  if (at >= of.then) return false;
  of.at = at;
  return true;
}

void Residents::run_timed(Timekeeper& keeper) {
  Grid& grid = launches_.front().grid;
  struct First {
    Earliest who;
    Cluster* cluster;
    bool operator>(const First& o) const {
      return std::pair(who.at, cluster->number) > std::pair(o.who.at, o.cluster->number);
    }
  };
  // Of each cluster who is the first there, the earliest on top; clusters where none can go on.
  std::priority_queue<First, std::vector<First>, std::greater<>> order;
  std::set<uint32_t> idle;
  uint64_t changes = 0;
  launches_.front().room = {keeper.begins(grid), "as the model of time has it"};
  const auto find = [&](uint32_t number) {  // they stand in the order of their start
    return std::lower_bound(clusters_.begin(), clusters_.end(), number,
                            [](const auto& cluster, uint32_t n) { return cluster->number < n; });
  };
  const auto look = [&](Cluster& cluster) {
    if (const auto found = cluster.earliest(keeper))
      order.push({*found, &cluster});
    else
      idle.insert(cluster.number);
  };
  const auto look_at_idle = [&] {
    for (const uint32_t number : std::exchange(idle, {})) look(**find(number));
  };
  for (;;) {
    while (InFlight* const launch = keeper.enough() || !keeper.more() ? nullptr : starting()) {
      start(*launch);
      keeper.starts(*clusters_.back());
      look(*clusters_.back());
    }
    if (keeper.enough() || clusters_.empty()) break;
    if (changes != grid.flight.changes()) {  // who only waits may wait for memory that another cluster writes
      changes = grid.flight.changes();
      look_at_idle();
    }
    if (order.empty()) {
      if (!let_waits_time_out()) report_deadlock();
      look_at_idle();
      continue;
    }
    First first = order.top();
    Cluster& cluster = *first.cluster;
    order.pop();
    bool ended = false, again = false;
    do {
      keeper.has_turn(first.who.taker);
      Took took;
      took.reaches = keeper.reaches();
      ended = cluster.take(first.who.taker, took);
      took.changes = grid.flight.changes();
      keeper.took(took);
      again = !ended && took.changes == changes && cluster.again(first.who, keeper) &&
              (order.empty() || order.top() > first);
    } while (again);
    if (!ended) {
      look(cluster);
      continue;
    }
    keeper.ends(cluster);
    end(static_cast<size_t>(find(cluster.number) - clusters_.begin()));
  }
  // What is left is not run.
  clusters_.clear();
  for (InFlight& launch : launches_) launch.grid.next.reset();
}

}  // namespace bitwell::run
