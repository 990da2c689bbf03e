// A launch whose turns go in the order of a model's time.
#include <algorithm>
#include <map>
#include <set>

#include "model/run/turns/chooser.h"
#include "model/run/turns/residents.h"

namespace bitwell::run {

std::optional<std::pair<Taker, double>> Cluster::earliest(Timekeeper& keeper) {
  release_spinners();
  keeper.looks_at(*this);
  std::optional<std::pair<Taker, double>> out;
  const auto consider = [&](const Taker& taker, const machine::Agent* operation) {
    const double at = keeper.ready(taker, operation);
    if (!out || at < out->second) out.emplace(taker, at);
  };
  uint32_t warp = 0;
  for (const auto& cta : ctas)
    for (const machine::Warp& w : cta->warps) {
      if (w.can_run()) consider({number, warp, 0}, nullptr);
      ++warp;
    }
  for (const auto& agent : agents_)
    if (agent->ready()) consider({number, 0, agent->id}, agent.get());
  return out;
}

void Residents::run_timed(Timekeeper& keeper) {
  Grid& grid = launches_.front().grid;
  std::map<uint32_t, std::pair<Taker, double>> first;  // by cluster: who is the first there
  std::set<std::pair<double, uint32_t>> order;         // those, by time
  std::set<uint32_t> idle;                             // clusters where none can go on
  uint64_t changes = 0;
  launches_.front().room = {keeper.begins(grid), "as the model of time has it"};
  const auto find = [&](uint32_t number) {  // they stand in the order of their start
    return std::lower_bound(clusters_.begin(), clusters_.end(), number,
                            [](const auto& cluster, uint32_t n) { return cluster->number < n; });
  };
  const auto look = [&](uint32_t number) {
    if (const auto found = (*find(number))->earliest(keeper)) {
      first.insert_or_assign(number, *found);
      order.emplace(found->second, number);
      idle.erase(number);
    } else {
      idle.insert(number);
    }
  };
  for (;;) {
    while (InFlight* const launch = keeper.enough() ? nullptr : starting()) {
      start(*launch);
      keeper.starts(*clusters_.back());
      look(clusters_.back()->number);
    }
    if (keeper.enough() || clusters_.empty()) break;
    if (changes != grid.flight.changes()) {  // who only waits may wait for memory that another cluster writes
      changes = grid.flight.changes();
      for (const uint32_t number : std::vector<uint32_t>(idle.begin(), idle.end())) look(number);
    }
    if (order.empty()) {
      if (!let_waits_time_out()) report_deadlock();
      for (const uint32_t number : std::vector<uint32_t>(idle.begin(), idle.end())) look(number);
      continue;
    }
    const uint32_t number = order.begin()->second;
    order.erase(order.begin());
    const Taker taker = first.at(number).first;
    keeper.has_turn(taker);
    Took took;
    Cluster& cluster = **find(number);
    const bool ended = cluster.take(taker, took);
    took.changes = grid.flight.changes();
    keeper.took(took);
    if (!ended) {
      look(number);
      continue;
    }
    keeper.ends(cluster);
    first.erase(number);
    end(static_cast<size_t>(find(number) - clusters_.begin()));
  }
  // What is left is not run.
  clusters_.clear();
  for (InFlight& launch : launches_) launch.grid.next.reset();
}

}  // namespace bitwell::run
