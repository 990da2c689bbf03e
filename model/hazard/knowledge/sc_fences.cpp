#include "model/hazard/knowledge/sc_fences.h"

#include <bit>

#include "model/hazard/knowledge/published.h"

namespace bitwell::hazard {

using machine::Scope;

namespace {

size_t reach_of(Scope scope) { return static_cast<size_t>(std::min(scope, Scope::gpu)); }

uint32_t domain_of(const Domain& d, size_t scope) {
  return scope == static_cast<size_t>(Scope::cta)       ? d.cta
         : scope == static_cast<size_t>(Scope::cluster) ? d.cluster
                                                        : 0;
}

bool knows(const Known& known, UnitId unit, uint32_t lanes, uint32_t time) {
  if (known == nullptr) return false;
  for (; lanes != 0; lanes &= lanes - 1)
    if (!known->happened.knows({unit, static_cast<uint32_t>(std::countr_zero(lanes)), time})) return false;
  return true;
}

}  // namespace

bool KnownAtFences::empty() const { return *this == KnownAtFences{}; }

void KnownAtFences::join(const KnownAtFences& more) {
  Known before, other, after;  // most scopes hold the same: joined once
  for (size_t i = 0; i < within_.size(); ++i) {
    Within& to = within_[i];
    const Within& from = more.within_[i];
    if (from.known == nullptr || (to.known != nullptr && to.domain != from.domain)) continue;
    if (after == nullptr || to.known != before || from.known != other) {
      before = to.known;
      other = from.known;
      after = joined(before, other);
    }
    to = {from.domain, after};
  }
}

void KnownAtFences::add(Scope scope, const Domain& where, const Known& known) {
  KnownAtFences more;
  for (size_t i = 0; i <= reach_of(scope); ++i) more.within_[i] = {domain_of(where, i), known};
  join(more);
}

Known KnownAtFences::met(Scope scope, const Domain& who) const {
  Known out;
  for (size_t i = 0; i <= reach_of(scope); ++i)
    if (within_[i].domain == domain_of(who, i)) out = joined(out, within_[i].known);
  return out;
}

KnownScOrder joined(const KnownScOrder& a, const KnownScOrder& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  ScOrder out = *a;
  out.before.join(b->before);
  out.seen.join(b->seen);
  const bool same = out.before == a->before && out.seen == a->seen;
  return same ? a : counted<ScOrder>(out);
}

Lane::Sc& sc_of(Warp& w, uint32_t lane) {
  std::unique_ptr<Lane::Sc>& sc = w.own_lane(lane).sc;
  if (sc == nullptr) sc = std::make_unique<Lane::Sc>();
  w.sc_lanes |= 1u << lane;
  return *sc;
}

void meet_fences(Warp& w, uint32_t lanes, Scope scope) {
  Known before, after;
  bool fresh = true;  // most lanes know the same: joined once
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
    const Lane& lane = w.lane(i);
    const bool saw = lane.sc != nullptr && !lane.sc->seen.empty();
    if (fresh || saw || w.known[i] != before) {
      before = after = w.known[i];
      if (before != nullptr && before->sc != nullptr)
        after = joined(after, before->sc->seen.met(scope, w.domain));
      if (saw) after = joined(after, lane.sc->seen.met(scope, w.domain));
      fresh = saw;
    }
    w.known.set(1u << i, after);
  }
}

void add_own_fences(KnownAtFences& to, const Warp& w, uint32_t lanes) {
  for (uint32_t rest = lanes & w.sc_lanes; rest != 0;) {
    const auto first = static_cast<uint32_t>(std::countr_zero(rest));
    const Lane::Sc& sc = *w.lane(first).sc;
    uint32_t alike = 0;
    for (uint32_t others = rest; others != 0; others &= others - 1)
      if (w.lane(static_cast<uint32_t>(std::countr_zero(others))).sc->offers == sc.offers)
        alike |= others & -others;
    rest &= ~alike;
    for (size_t scope = sc.offers.size(); scope-- > 0;) {
      const Lane::Offer& offer = sc.offers[scope];
      const bool of_wider = scope + 1 < sc.offers.size() && sc.offers[scope + 1] == offer;
      if (offer.time == 0 || of_wider || knows(to.at(scope), w.unit, alike, offer.time)) continue;
      auto then = offer.known == nullptr ? counted<Knowledge>() : counted<Knowledge>(*offer.known);
      then->sc = nullptr;
      then->happened.raise(w.unit, alike, offer.time);
      for (uint32_t rest_alike = alike; rest_alike != 0; rest_alike &= rest_alike - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(rest_alike));
        add_operations(*then, w, lane, w.ended[lane]);
      }
      to.add(static_cast<Scope>(scope), w.domain, then);
    }
  }
}

void add_sc_order(Knowledge& to, const Warp& w, uint32_t lanes) {
  lanes &= w.sc_lanes;
  if (lanes == 0) return;
  ScOrder more;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    more.seen.join(w.lane(static_cast<uint32_t>(std::countr_zero(rest))).sc->seen);
  if (to.sc != nullptr) more.before = to.sc->before;
  add_own_fences(more.before, w, lanes);
  to.sc = to.sc == nullptr ? counted<const ScOrder>(more) : joined(to.sc, counted<const ScOrder>(more));
}

bool fenced_before_seen(const Viewer& v, const Epoch& before) {
  const auto knows = [&](const KnownAtFences& fences) {
    for (size_t scope = 0; scope < 3; ++scope)
      if (const Known& known = fences.at(scope); known != nullptr && known->happened.knows(before))
        return true;
    return false;
  };
  const Lane::Sc* const own = v.warp->lane(v.lane).sc.get();
  return (own != nullptr && knows(own->seen)) ||
         (v.known != nullptr && v.known->sc != nullptr && knows(v.known->sc->seen));
}

}  // namespace bitwell::hazard
