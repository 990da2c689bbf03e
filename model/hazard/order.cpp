// What orders threads: barriers, fences, mbarriers, waits for operations.
#include <algorithm>
#include <bit>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

using machine::Synchronisation;
using SyncKind = Synchronisation::Kind;

namespace {

// All that `lanes` of the warp know becomes joined with `more`.
void learn(Warp& w, uint32_t lanes, const Known& more) {
  Known last, after;  // most lanes know the same: joined once
  bool first = true;
  for (; lanes != 0; lanes &= lanes - 1) {
    Known& known = w.lanes[static_cast<size_t>(std::countr_zero(lanes))].known;
    if (first || known != last) {
      last = known;
      after = joined(known, more);
      first = false;
    }
    known = after;
  }
}

// Those who wait at a barrier come out with what all know who arrived, themselves included.
void take(Warp& w, uint32_t lanes, const Known& known) {
  for (; lanes != 0; lanes &= lanes - 1) w.lanes[static_cast<size_t>(std::countr_zero(lanes))].known = known;
}

}  // namespace

void Checker::synchronised(const Synchronisation& s, Cluster& c) {
  const auto lane = static_cast<uint32_t>(s.lanes != 0 ? std::countr_zero(s.lanes) : 0);
  const std::pair bar{rank_of(s.cta), s.which};
  switch (s.kind) {
    case SyncKind::fence:
    case SyncKind::mbarrier_init_fence: {
      Warp& w = warp_of(c, s.cta, s.warp);
      if (s.kind == SyncKind::mbarrier_init_fence || s.order.proxy == machine::Proxy::async)
        mbarriers_fenced(c, w, s.lanes);
      else if (s.order.scope != machine::Scope::cta && !c.remote_writes.empty())
        remote_released(c, {w.lanes[lane].known.get(), &w, lane, kNow, &w.lanes[lane].ended});
      switch (s.order.proxy) {
        case machine::Proxy::tensor_map: return map_fence(s, w);
        case machine::Proxy::async: return async_fence(s, w);
        default: return fence(s, w);
      }
    }
    case SyncKind::warp_met: {
      if (s.which != 0) return warp_matched(s, c);
      Warp& w = warp_of(c, s.cta, s.warp);
      take(w, s.lanes, published(w, s.lanes));
      ++w.time;
      return;
    }
    case SyncKind::cta_arrived: {
      Warp& w = warp_of(c, s.cta, s.warp);
      c.bars[bar] = joined(c.bars[bar], published(w, s.lanes));
      if (s.amount == 0) from_one_line(s, w, c.met);
      ++w.time;
      return;
    }
    case SyncKind::cta_passed: return take(warp_of(c, s.cta, s.warp), s.lanes, c.bars[bar]);
    case SyncKind::cta_over:
      c.bars.erase(bar);
      c.met.erase(bar);
      return;
    case SyncKind::cluster_arrived: return cluster_arrived(s, c);
    case SyncKind::cluster_passed: {
      Warp& w = warp_of(c, s.cta, s.warp);
      if (c.begun == 0) c.begun = new_unit(w);
      for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1)
        w.lanes[static_cast<size_t>(std::countr_zero(lanes))].passed = s.which;
      return learn(w, s.lanes, raised(c.barrier[s.which % 2], c.begun, ~0u, 1));
    }
    case SyncKind::mbarrier_passed: return mbarrier_passed(s, c);
    case SyncKind::mbarrier_over: return mbarrier_over(s.which, c);
    case SyncKind::issued: return issued(s, c);
    case SyncKind::finished:
      c.operations.erase(s.which);
      c.mma_operations.erase(s.which);
      return;
    case SyncKind::copies_committed:
    case SyncKind::copies_waited:
    case SyncKind::bulk_committed:
    case SyncKind::bulk_waited:
    case SyncKind::bulk_read: return groups(s, warp_of(c, s.cta, s.warp));
    case SyncKind::mma_issued:
    case SyncKind::mma_started:
    case SyncKind::mma_committed:
    case SyncKind::mma_waited: return mma(s, c);
    case SyncKind::tensor_loads_used: {
      Warp& w = warp_of(c, s.cta, s.warp);
      w.loads_used = w.loads[s.which - 1];
      return;
    }
    case SyncKind::tensor_loads_waited:
    case SyncKind::tensor_stores_waited:
    case SyncKind::tensor_fence_before:
    case SyncKind::tensor_fence_after: return tensor_order(s, warp_of(c, s.cta, s.warp), c);
    case SyncKind::grids_waited: return grids_waited(s, warp_of(c, s.cta, s.warp));
    case SyncKind::dependents_let: return dependents_let(s, warp_of(c, s.cta, s.warp));
    case SyncKind::columns: return columns(s, c);
    case SyncKind::exited:
    case SyncKind::emptied: return;  // the accesses behind these are told of themselves
    case SyncKind::cluster_ended:
      if (const Cost cost = cost_of(c); cost.shadow > ended_.shadow) ended_ = cost;
      for (const auto& [key, warp] : c.warps) {
        records_.ended(warp->unit);
        for (const UnitId unit : warp->streams) records_.ended(unit);
      }
      clusters_.erase(c.number);
      last_cluster_ = nullptr;
      return;
  }
}

void Checker::from_one_line(const Synchronisation& s, const Warp& w,
                            std::map<std::pair<uint32_t, uint64_t>, Party>& met) {
  const Party me{{s.ptx_line, Actor::thread, machine::AccessKind::update, {}},
                 w.cta,
                 w.number,
                 std::countr_zero(s.lanes)};
  const auto [first, fresh] = met.try_emplace({w.rank, s.which}, me);
  if (fresh || first->second.site.ptx_line == s.ptx_line) return;
  found(Kind::barrier_lines, first->second, me, 0, 0).where = "barrier " + std::to_string(s.which);
}

void Checker::cluster_arrived(const Synchronisation& s, Cluster& c) {
  Warp& w = warp_of(c, s.cta, s.warp);
  // Of this phase and all before; when the next begins, everyone has passed the last but one.
  Known& gathered = c.barrier[s.which % 2];
  gathered = joined(gathered, c.barrier[(s.which + 1) % 2]);
  if (s.order.semantics != machine::Semantics::relaxed) {
    mbarriers_fenced(c, w, s.lanes);
    if (!c.remote_writes.empty()) c.remote_writes.clear();
    gathered = joined(gathered, published(w, s.lanes));
    ++w.time;
    return;
  }
  mbarriers_met(c, w, s.lanes, s.which);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {  // what a fence before it offers
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    if (const Lane::Offer& offer = w.lanes[i].offers[1]; offer.time != 0)
      gathered = joined(gathered, published(w, i, offer.known, offer.time, w.lanes[i].ended));
    gathered = joined(gathered, tensor_published(w, i, c));
  }
}

void Checker::issued(const Synchronisation& s, Cluster& c) {
  Warp& w = warp_of(c, s.cta, s.warp);
  Operation& op = c.operations[s.which];
  op.ending = s.ending;
  op.by = &w;
  op.number = static_cast<uint32_t>(s.which);
  op.lane = static_cast<uint32_t>(std::countr_zero(s.lanes));
  op.lanes = s.lanes;
  op.until = w.time++;
  for (size_t i = 0; i < op.known.size(); ++i) {
    op.known[i] = w.lanes[i].known;
    op.accepted[i] = w.lanes[i].accepted;
    op.ended[i] = w.lanes[i].ended;
  }
  op.tensor = s.tensor;
  op.last_mma = w.last_mma;
  op.loads_used = w.loads_used;
  if (op.ending == machine::Ending::commit && s.tensor.kind == machine::TensorOrder::Kind::mma)
    w.last_mma = op.number;
  issue(op, w);
  if (w.map.ptx_line == s.ptx_line && w.map.lane == op.lane) keeps_map(op, w, s.ptx_line);
}

void Checker::issue(const Operation& op, Warp& w) {
  const auto latest = [&](Stream s) {
    stream(w, s);
    // Which lanes issued it is not told: numbers only rise, and a wait covers what its own lane issued.
    for (Lane& l : w.lanes) l.latest[static_cast<size_t>(s)] = op.number;
  };
  if (op.ending == machine::Ending::copy_group) latest(Stream::copy);
  if (op.ending == machine::Ending::commit) latest(Stream::tcgen05);
  if (op.ending != machine::Ending::bulk_group) return;
  latest(Stream::bulk_read);
  latest(Stream::bulk_write);
}

void Checker::fence(const Synchronisation& s, Warp& w) {
  const bool sc = s.order.semantics == machine::Semantics::sc;
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    Lane& lane = w.lanes[static_cast<size_t>(std::countr_zero(lanes))];
    if (lane.seen == nullptr) continue;
    lane.known = joined(lane.known, lane.seen);
    lane.seen = nullptr;
  }
  if (sc) meet_fences(w, s.lanes, s.order.scope);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    Lane& lane = w.lanes[i];
    for (size_t scope = 0; scope <= std::min<size_t>(static_cast<size_t>(s.order.scope), 2); ++scope) {
      lane.offers[scope] = {lane.known, w.time};
      if (sc) sc_of(w, i).offers[scope] = lane.offers[scope];
    }
  }
  ++w.time;
}

void Checker::groups(const Synchronisation& s, Warp& w) {
  const bool bulk = s.kind != SyncKind::copies_committed && s.kind != SyncKind::copies_waited;
  const bool commits = s.kind == SyncKind::copies_committed || s.kind == SyncKind::bulk_committed;
  const auto first = static_cast<size_t>(bulk ? Stream::bulk_read : Stream::copy);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    Lane& lane = w.lanes[static_cast<size_t>(std::countr_zero(lanes))];
    std::vector<uint32_t>& committed = lane.groups[bulk ? 1 : 0];
    if (commits) {
      committed.push_back(lane.latest[first]);
      continue;
    }
    uint32_t done = 0;
    if (s.which == Synchronisation::kEvery)
      done = lane.latest[first];
    else if (committed.size() > s.which)
      done = committed[committed.size() - 1 - s.which];
    lane.ended[first] = std::max(lane.ended[first], done);
    if (s.kind == SyncKind::bulk_read) continue;
    if (bulk) {
      uint32_t& written = lane.ended[static_cast<size_t>(Stream::bulk_write)];
      written = std::max(written, done);
    }
    if (committed.size() > s.which)
      committed.erase(committed.begin(), committed.end() - static_cast<std::ptrdiff_t>(s.which));
  }
}

Warpgroup& Checker::warpgroup_of(Cluster& c, const std::array<uint32_t, 3>& cta, int warp) {
  Warpgroup& g = c.warpgroups[{rank_of(cta), warp / 4}];
  if (g.unit == 0) g.unit = new_unit(warp_of(c, cta, warp / 4 * 4));
  return g;
}

void Checker::mma(const Synchronisation& s, Cluster& c) {
  Warpgroup& g = warpgroup_of(c, s.cta, s.warp);
  const auto share = static_cast<size_t>(s.warp % 4);
  if (s.kind == SyncKind::mma_started) {
    g.started = s.which;
    g.running = std::move(g.issued[s.which]);
    g.issued.erase(s.which);
    c.starting = &g;
    return;
  }
  Warp& w = warp_of(c, s.cta, s.warp);
  if (s.kind == SyncKind::mma_issued) {
    // One instruction of the whole warp: what any of its threads knows.
    g.issued[s.which].push_back({&w, published(w, s.lanes), w.time++, w.lanes[0].ended});
    g.count[share] = s.which + 1;
    registers_issued(s, w, g.count[share]);
  } else if (s.kind == SyncKind::mma_committed) {
    g.groups[share].push_back(g.count[share]);
  } else if (auto& groups = g.groups[share]; groups.size() > s.which) {
    w.mmas.ended = groups[groups.size() - 1 - s.which];
    learn(w, s.lanes, raised(nullptr, g.unit, ~0u, static_cast<uint32_t>(w.mmas.ended)));
    groups.erase(groups.begin(), groups.end() - static_cast<std::ptrdiff_t>(s.which));
  }
}

}  // namespace bitwell::hazard
