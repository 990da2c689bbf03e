#include "model/hazard/shadow/ledger.h"

namespace bitwell::hazard {

UnitId Units::add(const Warp& w) {
  all_.push_back({w.cta, w.domain, w.number});
  return static_cast<UnitId>(all_.size() - 1);
}

UnitId Units::add() {
  all_.push_back({});
  return static_cast<UnitId>(all_.size() - 1);
}

UnitId Units::stream(Warp& w, Stream s) {
  UnitId& unit = w.streams[static_cast<size_t>(s)];
  if (unit == 0) unit = add(w);
  return unit;
}

Party Ledger::party(uint32_t record, uint32_t lane) const {
  const Record& r = records[record];
  Party out{records.site_of(r), {}, -1, -1};
  if (r.unit == kUnfinished) return out;
  const Unit& unit = units[r.unit];
  out.cta = unit.cta;
  if (out.site.actor == Actor::mbarrier_copy) return out;
  out.warp = unit.warp;
  if (out.site.actor != Actor::wgmma && !is_move(out.site.actor)) out.lane = static_cast<int>(lane);
  return out;
}

Party party(const Viewer& v, const Site& site) {
  return {site, v.warp->cta, v.warp->number,
          site.actor == Actor::wgmma || is_move(site.actor) ? -1 : static_cast<int>(v.lane)};
}

}  // namespace bitwell::hazard
