// Two accesses that are ordered, but reach memory through different proxies: what else they need (PTX ISA
// 9.0, 8.2).
#include "model/hazard/proxies.h"

#include <bit>

#include "model/hazard/conflict.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Proxy;
using machine::Semantics;

namespace {

// Those of cp.async that have ended for the lanes which issued them.
void add_copies(Clock& to, const Warp& w, uint32_t lanes) {
  constexpr auto kCopy = static_cast<size_t>(Stream::copy);
  if (w.streams[kCopy] == 0) return;
  for (uint32_t rest = lanes; rest != 0;) {
    const uint32_t ended = w.ended[static_cast<size_t>(std::countr_zero(rest))][kCopy];
    uint32_t alike = 0;  // most lanes wait together
    for (uint32_t others = rest; others != 0; others &= others - 1)
      if (w.ended[static_cast<size_t>(std::countr_zero(others))][kCopy] == ended) alike |= others & -others;
    if (ended != 0) to.raise(w.streams[kCopy], alike, ended);
    rest &= ~alike;
  }
}

}  // namespace

// fence.proxy.async: what is known goes for operations too, and what the lanes' own copies have brought that
// they have waited for.
void fence_async(const machine::Synchronisation& s, Warp& w) {
  w.known.change(s.lanes, [&](const Known& known) {
    auto more = known == nullptr ? counted<Knowledge>() : counted<Knowledge>(*known);
    for (size_t space = 0; space < 2; ++space) {
      if ((s.which >> space & 1) == 0) continue;
      more->fenced[space].join(more->happened);
      more->fenced[space].raise(w.unit, s.lanes, w.time);
      add_copies(more->fenced[space], w, s.lanes);
    }
    return more;
  });
  ++w.time;
}

// fence.proxy.tensormap: who acquires a map has what was released before and is known.
void fence_maps(const machine::Synchronisation& s, Warp& w) {
  w.known.change(s.lanes, [&](const Known& known) {
    auto more = known == nullptr ? counted<Knowledge>() : counted<Knowledge>(*known);
    auto maps = more->maps == nullptr ? counted<MapFences>() : counted<MapFences>(*more->maps);
    if (s.order.semantics == Semantics::acquire) {
      maps->acquire(s.which, s.order.scope);
    } else {
      Clock happened = more->happened;
      happened.raise(w.unit, s.lanes, w.time);
      maps->release(happened, s.order.scope);
    }
    more->maps = maps;
    return more;
  });
  ++w.time;
}

bool copied_by_warp(const Ledger& ledger, const Record& before, const Viewer& v) {
  const Site& site = ledger.records.site_of(before);
  return site.order.proxy == Proxy::tensor_map && site.kind == AccessKind::write &&
         before.unit == v.warp->unit && before.time <= v.until;
}

static std::optional<Judged> judge_map(const Ledger& ledger, uint64_t map, const Viewer& v,
                                       const Epoch& before) {
  const MapFences* const maps = v.known == nullptr ? nullptr : v.known->maps.get();
  if (maps == nullptr) return Judged{Kind::map_fence};
  const bool released = maps->released.front().knows(before);
  const auto at = maps->acquired.find(map);
  if (at == maps->acquired.end() || !at->second.front().knows(before)) {
    if (released) return Judged{Kind::map_fence, Side::later};
    return Judged{Kind::map_fence, at == maps->acquired.end() ? Side::either : Side::earlier};
  }
  const auto needed = static_cast<size_t>(v.warp->domain.with(ledger.units[before.unit].domain));
  return at->second[needed].knows(before) ? std::nullopt : std::optional(Judged{Kind::scope});
}

std::optional<Judged> judge_proxies(const Ledger& ledger, const Reach& r, const Viewer& v,
                                    const Epoch& before, const Site& old) {
  const Site& now = *r.site;
  const bool wrote = old.kind != AccessKind::read;
  switch (now.order.proxy) {
    case Proxy::async:
      if (old.order.proxy == Proxy::async || v.fenced(before, r.space)) return std::nullopt;
      if (!wrote) return Judged{Kind::proxy_fence_war};
      return Judged{Kind::proxy_fence, old.actor == Actor::copy ? Side::later : Side::either};
    case Proxy::tensor_map:
      return wrote && now.kind == AccessKind::read ? judge_map(ledger, r.map, v, before) : std::nullopt;
    case Proxy::non_coherent: return wrote ? std::optional(Judged{Kind::non_coherent}) : std::nullopt;
    case Proxy::generic: break;
  }
  return old.order.proxy == Proxy::non_coherent && now.kind != AccessKind::read
             ? std::optional(Judged{Kind::non_coherent_war})
             : std::nullopt;
}

}  // namespace bitwell::hazard
