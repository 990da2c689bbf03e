// mbarriers: who knows that they were initialised, what arrivals publish to those who wait, and whether a
// phase, or the barrier itself, can go on before everyone has seen the last (PTX ISA 9.0, 9.7.13.15).
#include "model/hazard/mbarriers.h"

#include <algorithm>
#include <bit>

#include "model/hazard/knowledge/published.h"
#include "model/hazard/tensor.h"
#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

using machine::Scope;
using machine::Semantics;

namespace {

// PTX leaves an arrival's and a wait's scope at .cta, by default too; that its count reaches other CTAs and
// orders nothing there is what no kernel in use goes by. It counts as the cluster's, but for plain writes to
// the other CTA.
constexpr Scope kOfMbarriers = Scope::cluster;

uint32_t rank_of_address(uint64_t shared_address) {
  return static_cast<uint32_t>(shared_address >> machine::kRankShift);
}

}  // namespace

bool Use::known_by_match(const Viewer& v, UnitId unit, uint32_t lane) const {
  if (matched_at[lane] < time[lane]) return false;
  for (uint32_t lanes = matched[lane]; lanes != 0; lanes &= lanes - 1)
    if (v.knows({unit, static_cast<uint32_t>(std::countr_zero(lanes)), matched_at[lane]})) return true;
  return false;
}

Party Mbarriers::party_of_use(UnitId unit, uint32_t lane, uint32_t site) const {
  return {ledger_.records.site_at(site), ledger_.units[unit].cta, ledger_.units[unit].warp,
          static_cast<int>(lane)};
}

void Mbarriers::access(const machine::Access& a, Cluster& c) {
  const auto lane = static_cast<uint32_t>(a.lanes != 0 ? std::countr_zero(a.lanes) : 0);
  const uint64_t address = a.addresses[a.lanes != 0 ? lane : 0] - machine::kSharedWindow;
  if (a.operation != 0)
    by_operation(a, c, address);
  else
    by_thread(a, c, address, lane);
}

// Whether the barrier is known to be there; if not, that is found.
bool Mbarriers::initialised(const Mbarrier& barrier, const Viewer& v, const Site& site, uint64_t address) {
  for (const Act init : barrier.inits) {
    const Record& record = ledger_.records[record_of(init)];
    if (v.knows({record.unit, lane_of(init), record.time})) return true;
  }
  const Act first = barrier.inits.front();
  // Where they met at a barrier that orders no memory, devices have the mbarrier there (CUTLASS has one so).
  const bool met = barrier.met != 0 && v.warp->lane(v.lane).passed >= barrier.met;
  ledger_.findings.add(met ? Kind::init_fence : Kind::init, ledger_.party(record_of(first), lane_of(first)),
                       party(v, site), machine::kSharedWindow + address, 8);
  return false;
}

void Mbarriers::by_thread(const machine::Access& a, Cluster& c, uint64_t address, uint32_t lane) {
  using machine::AccessKind;
  Warp& w = clusters_.warp_of(c, a.cta, a.warp);
  const Known& me = w.known[lane];
  const Numbers& ended = w.ended[lane];
  const Viewer viewer{me.get(), &w, lane, kNow, &ended};
  const Site site{a.ptx_line, Actor::thread, a.kind, a.order};
  const uint32_t number = ledger_.records.site(site);
  if (a.kind == AccessKind::write) {
    Mbarrier& barrier = c.mbarriers[address];
    if (barrier.unit == 0) barrier.unit = ledger_.units.add(w);
    barrier.inits.push_back(act(ledger_.records.record({w.unit, w.time, number}), lane));
    ++c.unfenced_inits;
    return;
  }
  const auto found_at = c.mbarriers.find(address);
  if (found_at == c.mbarriers.end()) return;  // the engine has a fault for it
  Mbarrier& barrier = found_at->second;
  if (a.kind == AccessKind::update && a.order.semantics == Semantics::weak) {  // inval
    for (const auto& [unit, use] : barrier.uses)
      for (uint32_t i = 0; i < machine::kLanes; ++i)
        if (use.time[i] != 0 && !viewer.knows({unit, i, use.time[i]}) &&
            !use.known_by_match(viewer, unit, i)) {
          ledger_.findings.add(Kind::reuse, party_of_use(unit, i, use.site), party(viewer, site),
                               machine::kSharedWindow + address, 8);
          break;
        }
    c.mbarriers.erase(found_at);
    return;
  }
  initialised(barrier, viewer, site, address);
  Use& use = barrier.uses[w.unit];
  use.time[lane] = w.time;
  use.site = number;
  // Lanes that look together: an access each.
  for (uint32_t rest = a.lanes & (a.lanes - 1); rest != 0; rest &= rest - 1) {
    const auto other = static_cast<uint32_t>(std::countr_zero(rest));
    ledger_.findings.next_access();
    initialised(barrier, {w.known[other].get(), &w, other, kNow, &w.ended[other]}, site, address);
    use.time[other] = w.time;
  }
  if (a.kind == AccessKind::read) return;
  barrier.last = party(viewer, site);
  if (!c.remote_writes.empty()) arrival_at_peer(a, c, viewer, rank_of_address(address));
  if (a.order.semantics == Semantics::release) {
    barrier.arrived.publish(published(w, lane, me, w.time, ended), kOfMbarriers, w.domain);
    ++w.time;
    return;
  }
  if (const Known tensor = TensorMemory::part_of(published(w, lane, me, w.time, ended), c); tensor != nullptr)
    barrier.arrived.publish(tensor, kOfMbarriers, w.domain);
  if (const Lane::Offer& offer = w.lane(lane).offers[1]; offer.time != 0) {
    barrier.arrived.publish(published(w, lane, offer.known, offer.time, ended), kOfMbarriers, w.domain);
  } else {
    barrier.arrived.publish_unreleased(published(w, lane, me, w.time, ended));
    ++w.time;
  }
}

void Mbarriers::by_operation(const machine::Access& a, Cluster& c, uint64_t address) {
  const auto found_at = c.mbarriers.find(address);
  const auto at = c.operations.find(a.operation);
  if (found_at == c.mbarriers.end() || at == c.operations.end()) return;  // the engine has a fault for it
  Mbarrier& barrier = found_at->second;
  Operation& op = at->second;
  const uint32_t issuer = a.issuer >= 0 ? static_cast<uint32_t>(a.issuer) : op.lane;
  const Site site{a.ptx_line, Actor::mbarrier_copy, a.kind, a.order};
  const Viewer viewer{op.known[issuer].get(), op.by, issuer, op.until, &op.ended[issuer]};
  const bool known = initialised(barrier, viewer, site, address);
  if (known && !barrier.fenced && op.ending == machine::Ending::mbarrier) {
    const Act first = barrier.inits.front();
    ledger_.findings.add(Kind::init_fence, ledger_.party(record_of(first), lane_of(first)),
                         party(viewer, site), machine::kSharedWindow + address, 8);
  }
  barrier.last = party(viewer, site);
  const Counted<Knowledge> all = published(*op.by, issuer, op.known[issuer], op.until, op.ended[issuer]);
  if (a.issuer < 0)
    for (uint32_t rest = op.lanes & ~(1u << issuer); rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
      join(*all, *published(*op.by, lane, op.known[lane], op.until, op.ended[lane]));
    }
  if (op.ending == machine::Ending::none) {
    const Stream s = a.order.scope == Scope::cta ? Stream::copy : Stream::tcgen05;
    if (const UnitId unit = op.by->streams[static_cast<size_t>(s)]; unit != 0) {
      all->happened.raise(unit, 1u << issuer, op.number);
      if (s == Stream::tcgen05) barrier.committed = raised(barrier.committed, unit, 1u << issuer, op.number);
    }
  } else {
    const uint32_t rank = rank_of_address(address);
    const auto its = [&](uint32_t to) {
      return std::any_of(op.unfinished.begin(), op.unfinished.end(),
                         [&](const Operation::Part& p) { return p.rank == to; });
    };
    const uint32_t written = its(rank) ? rank : rank ^ 1;  // of a pair, the barrier may be in the other CTA
    std::erase_if(op.unfinished, [&](const Operation::Part& p) {
      if (p.rank != written && p.rank != kAnyRank) return false;
      ledger_.records.finish(p.record, barrier.unit, barrier.phase);
      return true;
    });
    all->happened.raise(barrier.unit, ~0u, barrier.phase);
  }
  barrier.arrived.publish(all, kOfMbarriers, op.by->domain);
}

void Mbarriers::passed(const machine::Synchronisation& s, Cluster& c) {
  const auto at = c.mbarriers.find(s.which);
  if (at == c.mbarriers.end()) return;
  Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  const Known more = at->second.over.acquire(Scope::cluster, w.domain);
  const auto with_more = [&](const Known& to) {
    if (last_passed_.both == nullptr || last_passed_.before != to || last_passed_.more != more)
      last_passed_ = {to, more, joined(more, to)};
    return last_passed_.both;
  };
  const bool relaxed = s.order.semantics == Semantics::relaxed;
  if (!relaxed) w.known.change(s.lanes, with_more);
  Use& use = at->second.uses[w.unit];
  use.pass_site = use.site;
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    use.passed[lane] = at->second.phase;
    use.passed_at[lane] = w.time;
    if (!relaxed) continue;
    const Known within = at->second.over.acquire(Scope::cta, w.domain);
    auto& seen = w.own_lane(lane).seen;
    seen.back() = with_more(seen.back());
    seen[0] = joined(seen[0], within);
    seen[1] = joined(seen[1], more);
    // It orders tensor memory all the same.
    w.known.set(1u << lane,
                joined(joined(w.known[lane], TensorMemory::part_of(more, c)), at->second.committed_over));
  }
}

void Mbarriers::over(uint64_t address, Cluster& c) {
  const auto at = c.mbarriers.find(address);
  if (at == c.mbarriers.end()) return;
  Mbarrier& barrier = at->second;
  const Known& all = barrier.arrived.all();
  // Who saw the last phase over must have done so before this one could be: of the first phase, who took a
  // fresh mbarrier for one whose last phase is over, as producers do.
  for (const auto& [unit, use] : barrier.uses) {
    const uint32_t known = all == nullptr ? 0 : all->happened.most(unit);
    for (uint32_t i = 0; i < machine::kLanes; ++i)
      if (use.passed[i] == barrier.phase && use.passed_at[i] > known) {
        ledger_.findings.add(Kind::phase, party_of_use(unit, i, use.pass_site), barrier.last,
                             machine::kSharedWindow + address, 8);
        break;
      }
  }
  barrier.over = barrier.arrived;
  barrier.committed_over = barrier.committed;
  ++barrier.phase;
}

// Lanes that meet at match.sync have executed their operations on mbarriers: it orders no memory, but an
// mbarrier may end behind it. libcu++'s pipelines end so.
void Mbarriers::matched(const machine::Synchronisation& s, Cluster& c) {
  const Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  for (auto& [address, barrier] : c.mbarriers)
    if (const auto at = barrier.uses.find(w.unit); at != barrier.uses.end())
      for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(lanes));
        at->second.matched[lane] = s.lanes;
        at->second.matched_at[lane] = w.time;
      }
}

void Mbarriers::fenced(Cluster& c, const Warp& w, uint32_t lanes) {
  if (c.unfenced_inits == 0) return;
  c.unfenced_inits = 0;
  for (auto& [address, barrier] : c.mbarriers) {
    for (const Act init : barrier.inits)
      if (ledger_.records[record_of(init)].unit == w.unit && (lanes >> lane_of(init) & 1) != 0)
        barrier.fenced = true;
    c.unfenced_inits += barrier.fenced ? 0 : 1;
  }
}

void Mbarriers::met(Cluster& c, const Warp& w, uint32_t lanes, uint64_t phase) {
  if (c.unfenced_inits == 0) return;
  for (auto& [address, barrier] : c.mbarriers)
    for (const Act init : barrier.inits)
      if (barrier.met == 0 && ledger_.records[record_of(init)].unit == w.unit &&
          (lanes >> lane_of(init) & 1) != 0)
        barrier.met = phase;
}

void Mbarriers::wrote_to_peer(Cluster& c, const Warp& w, uint32_t lane, uint64_t address, uint32_t record) {
  const uint32_t rank = rank_of_address(address - machine::kSharedWindow);
  if (rank == w.rank) return;
  RemoteWrites& writes = c.remote_writes[{w.unit, rank}];
  writes.time[lane] = w.time;
  writes.record = record;
}

// An arrival at a CTA that was written to before: in the scope of the CTA it does not publish that.
void Mbarriers::arrival_at_peer(const machine::Access& a, Cluster& c, const Viewer& viewer, uint32_t rank) {
  if (a.order.scope != Scope::cta) return released(c, viewer);
  if (rank == viewer.warp->rank) return;
  for (const auto& [key, writes] : c.remote_writes)
    for (uint32_t i = 0; i < machine::kLanes && key.second == rank; ++i)
      if (writes.time[i] != 0 && viewer.knows({key.first, i, writes.time[i]})) {
        ledger_.findings.add(Kind::mbarrier_scope, ledger_.party(writes.record, i),
                             party(viewer, {a.ptx_line, Actor::thread, a.kind, a.order}),
                             a.addresses[static_cast<size_t>(std::countr_zero(a.lanes))], 8);
        break;
      }
}

void Mbarriers::released(Cluster& c, const Viewer& viewer) {
  for (auto at = c.remote_writes.begin(); at != c.remote_writes.end();) {
    auto& time = at->second.time;
    for (uint32_t i = 0; i < machine::kLanes; ++i)
      if (time[i] != 0 && viewer.knows({at->first.first, i, time[i]})) time[i] = 0;
    const bool over = std::all_of(time.begin(), time.end(), [](uint32_t t) { return t == 0; });
    at = over ? c.remote_writes.erase(at) : std::next(at);
  }
}

}  // namespace bitwell::hazard
