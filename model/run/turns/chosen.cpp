// A launch whose every turn a Chooser gives.
#include <algorithm>

#include "model/run/turns/chooser.h"
#include "model/run/turns/residents.h"
#include "model/run/turns/synchronised.h"

namespace bitwell::run {

using machine::Split;
using machine::Warp;

void Cluster::add_takers(std::vector<Taker>& to) {
  release_spinners();
  uint32_t warp = 0;
  for (const auto& cta : ctas)
    for (const Warp& w : cta->warps) {
      if (w.can_run()) to.push_back({number, warp, 0});
      ++warp;
    }
  for (const auto& agent : agents_)
    if (agent->ready()) to.push_back({number, 0, agent->id});
}

bool Cluster::take(const Taker& taker, Took& took) {
  if (grid.options.chooser->counts()) counted_ = &took;
  if (taker.operation != 0) {
    const auto at = std::find_if(agents_.begin(), agents_.end(),
                                 [&](const auto& agent) { return agent->id == taker.operation; });
    step(static_cast<size_t>(at - agents_.begin()));
  } else {
    if (ctas.empty()) make_ctas();
    const size_t warps = ctas.front()->warps.size();
    Cta& cta = *ctas[taker.warp / warps];
    Warp& warp = cta.warps[taker.warp % warps];
    if (grid.options.chooser->thorough())
      for (Split& s : warp.splits) s.budget = 1;
    run_warp(cta, warp);
    if (took.keeper != nullptr && took.keeper->goes_through()) lead(cta, taker, took);
  }
  counted_ = nullptr;
  if (!ended()) return false;
  tell_synchronised(Synchronisation::Kind::cluster_ended, *ctas.front(), 0, 0);
  return true;
}

uint64_t Cluster::changes(const Cta& cta, const Warp& warp) const {
  Chooser* const chooser = grid.options.chooser;
  return chooser == nullptr ? grid.flight.changes()
                            : chooser->changes(number, warp_number(cta, warp), grid.flight.changes());
}

void Cluster::remembered(const Cta& cta, const Warp& warp) const {
  if (grid.options.chooser != nullptr && warp.splits.size() == 1)
    grid.options.chooser->remembered(number, warp_number(cta, warp));
}

uint32_t Cluster::warp_number(const Cta& cta, const Warp& warp) {
  return static_cast<uint32_t>(cta.rank * cta.warps.size() + static_cast<size_t>(warp.index));
}

void Residents::run_chosen(Chooser& chooser) {
  Grid& grid = launches_.front().grid;
  std::vector<Taker> takers;
  for (;;) {
    while (InFlight* const launch = starting()) start(*launch);
    if (clusters_.empty()) return;
    takers.clear();
    for (const auto& cluster : clusters_) cluster->add_takers(takers);
    if (takers.empty()) {
      if (!let_waits_time_out()) report_deadlock();
      continue;
    }
    const Taker taker = takers.at(chooser.choose(takers));
    const auto at = std::find_if(clusters_.begin(), clusters_.end(),
                                 [&](const auto& cluster) { return cluster->number == taker.cluster; });
    Took took;
    const bool ended = (*at)->take(taker, took);
    took.changes = grid.flight.changes();
    chooser.took(took);
    if (ended) end(static_cast<size_t>(at - clusters_.begin()));
  }
}

}  // namespace bitwell::run
