// What orders threads: barriers, fences, and what strong accesses see of one another, by scope.
#include "model/hazard/knowledge/threads.h"

#include <algorithm>
#include <bit>

#include "model/hazard/knowledge/published.h"
#include "model/hazard/proxies.h"
#include "model/hazard/tensor.h"

namespace bitwell::hazard {

using machine::Synchronisation;
using SyncKind = Synchronisation::Kind;

// Of barriers and fences.
void Threads::synchronised(const Synchronisation& s, Cluster& c) {
  const auto lane = static_cast<uint32_t>(s.lanes != 0 ? std::countr_zero(s.lanes) : 0);
  if (s.kind == SyncKind::cta_over) {
    c.bar(clusters_.rank_of(s.cta), s.which) = {};
    return;
  }
  Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  switch (s.kind) {
    case SyncKind::fence:
    case SyncKind::mbarrier_init_fence:
      if (s.kind == SyncKind::mbarrier_init_fence || s.order.proxy == machine::Proxy::async)
        mbarriers_.fenced(c, w, s.lanes);
      else if (s.order.scope != machine::Scope::cta && !c.remote_writes.empty())
        Mbarriers::released(c, {w.known[lane].get(), &w, lane, kNow, &w.ended[lane]});
      switch (s.order.proxy) {
        case machine::Proxy::tensor_map: return fence_maps(s, w);
        case machine::Proxy::async: return fence_async(s, w);
        default: return fence(s, w);
      }
    case SyncKind::warp_met:
      if (s.which != 0) return mbarriers_.matched(s, c);
      w.known.set(s.lanes, published(w, s.lanes));
      ++w.time;
      return;
    case SyncKind::cta_arrived: {
      Cluster::Bar& bar = c.bar(w.rank, s.which);
      auto& [all, last, first] = bar;
      if (all == nullptr) all = counted<Knowledge>();
      publish(*all, w, s.lanes, last.get());
      if (last != w.known[lane]) last = w.known[lane];
      if (s.amount == 0 && !(first && first->site.ptx_line == s.ptx_line)) from_one_line(s, w, bar);
      ++w.time;
      return;
    }
    // Those who wait come out with what all know who arrived, themselves included.
    case SyncKind::cta_passed:
      return each_that_passes(s, [&](int warp) {
        clusters_.warp_of(c, s.cta, warp).known.set(s.lanes, c.bar(w.rank, s.which).all);
      });
    case SyncKind::cluster_arrived: return cluster_arrived(s, c);
    case SyncKind::cluster_passed:
      if (c.begun == 0) c.begun = ledger_.units.add(w);
      for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1)
        w.own_lane(static_cast<uint32_t>(std::countr_zero(lanes))).passed = s.which;
      return learn(w, s.lanes, raised(c.barrier[s.which % 2], c.begun, ~0u, 1));
    default: return;
  }
}

void Threads::from_one_line(const Synchronisation& s, const Warp& w, Cluster::Bar& bar) {
  const Party me{{s.ptx_line, Actor::thread, machine::AccessKind::update, {}},
                 w.cta,
                 w.number,
                 std::countr_zero(s.lanes)};
  if (!bar.first) {
    bar.first = me;
    return;
  }
  ledger_.findings.add(Kind::barrier_lines, *bar.first, me, 0, 0).where =
      "barrier " + std::to_string(s.which);
}

void Threads::cluster_arrived(const Synchronisation& s, Cluster& c) {
  Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  // Of this phase and all before; when the next begins, everyone has passed the last but one.
  Known& gathered = c.barrier[s.which % 2];
  gathered = joined(gathered, c.barrier[(s.which + 1) % 2]);
  if (s.order.semantics != machine::Semantics::relaxed) {
    mbarriers_.fenced(c, w, s.lanes);
    if (!c.remote_writes.empty()) c.remote_writes.clear();
    gathered = joined(gathered, published(w, s.lanes));
    ++w.time;
    return;
  }
  mbarriers_.met(c, w, s.lanes, s.which);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {  // what a fence before it offers
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    if (const Lane::Offer& offer = w.lane(i).offers[1]; offer.time != 0)
      gathered = joined(gathered, published(w, i, offer.known, offer.time, w.ended[i]));
    gathered = joined(gathered, TensorMemory::published_by(w, i, c));
  }
}

void Threads::fence(const Synchronisation& s, Warp& w) {
  const bool sc = s.order.semantics == machine::Semantics::sc;
  const size_t reach = std::min<size_t>(static_cast<size_t>(s.order.scope), 2);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    Lane& lane = w.own_lane(i);
    if (const Known& taken = lane.seen[reach]; taken != nullptr)
      w.known.set(1u << i, joined(w.known[i], taken));
    std::fill_n(lane.seen.begin(), reach + 1, nullptr);
  }
  if (sc) meet_fences(w, s.lanes, s.order.scope);
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    Lane& lane = w.own_lane(i);
    for (size_t scope = 0; scope <= reach; ++scope) {
      lane.offers[scope] = {w.known[i], w.time};
      if (sc) sc_of(w, i).offers[scope] = lane.offers[scope];
    }
  }
  ++w.time;
}

// What a relaxed load reads, a fence behind it takes over as far as both reach.
void Threads::see(Lane& lane, const Message& word, machine::Scope scope, const Domain& who) {
  Known more;
  for (size_t fence = lane.seen.size(); fence-- > 0;) {
    const auto both = std::min(scope, static_cast<machine::Scope>(fence));
    if (fence + 1 == lane.seen.size() || both < scope) more = word.acquire(both, who);
    lane.seen[fence] = joined(lane.seen[fence], more);
  }
}

// An atomic or strong access orders what comes after it behind what came before the store that it reads.
void Threads::strong(const machine::Access& a, Cluster& c, Warp& w, uint32_t lane, uint64_t address,
                     bool shared) {
  using machine::AccessKind;
  using machine::Semantics;
  const Semantics s = a.order.semantics;
  const bool both = s == Semantics::acq_rel || s == Semantics::sc;
  Message& word = (shared ? c.words : words_)[address];
  if (a.kind != AccessKind::write) {
    if (both || s == Semantics::acquire)
      w.known.set(1u << lane, joined(w.known[lane], word.acquire(a.order.scope, w.domain)));
    else
      see(w.own_lane(lane), word, a.order.scope, w.domain);
    if (word.fenced() != nullptr) sc_of(w, lane).seen.join(*word.fenced());
  }
  if (a.kind == AccessKind::read) return;
  if (a.kind == AccessKind::write) word = {};  // an update goes on with the release that it reads
  const Lane& me = w.lane(lane);
  const Known& known = w.known[lane];
  if (me.sc != nullptr || (known != nullptr && known->sc != nullptr)) {
    KnownAtFences before = known == nullptr || known->sc == nullptr ? KnownAtFences{} : known->sc->before;
    add_own_fences(before, w, 1u << lane);
    word.write_behind(before);
  }
  if (both || s == Semantics::release)
    return word.publish(published(w, lane, known, w.time, w.ended[lane]), a.order.scope, w.domain);
  const size_t widest = std::min<size_t>(static_cast<size_t>(a.order.scope), 2);
  for (size_t i = 0; i <= widest; ++i)  // a fence's wider scope has the narrower ones
    if (const Lane::Offer& offer = me.offers[i];
        offer.time != 0 && (i == widest || offer != me.offers[i + 1]))
      word.publish(published(w, lane, offer.known, offer.time, w.ended[lane]), static_cast<machine::Scope>(i),
                   w.domain);
  if (a.kind == AccessKind::write) word.publish_unreleased(published(w, lane, known, w.time, w.ended[lane]));
}

}  // namespace bitwell::hazard
