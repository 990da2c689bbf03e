// A programmatic launch begins while the one before it runs: until griddepcontrol.wait nothing that the two
// share is ordered (PTX ISA 9.0, 9.7.13.14).
#include <algorithm>
#include <bit>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Semantics;

namespace {

// All that the launch before did, as one act of a unit of its own.
constexpr uint32_t kItsEnd = 1;

}  // namespace

void Checker::overlaps(const Checker& before) {
  before_ = &before;
  units_.push_back({});
  before_unit_ = static_cast<UnitId>(units_.size() - 1);
}

void Checker::grids_waited(const machine::Synchronisation& s, Warp& w) {
  if (before_ == nullptr) return;
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    Known& known = w.lanes[static_cast<size_t>(std::countr_zero(lanes))].known;
    known = raised(known, before_unit_, ~0u, kItsEnd);
  }
}

void Checker::behind_launch_before(const Reach& r, uint64_t address, uint64_t bytes) {
  const Viewer* const early = std::find_if(r.viewers, r.viewers + r.viewer_count, [&](const Viewer& v) {
    return !v.knows({before_unit_, 0, kItsEnd});
  });
  if (early == r.viewers + r.viewer_count) return;
  const bool strong = r.site->order.semantics != Semantics::weak;
  const Checker& b = *before_;
  b.global_.each_touched(address, bytes, [&](const Cell& cell, uint64_t at, uint64_t size) {
    Act act_before = cell.write;
    if (act_before == kNoAct && r.site->kind != AccessKind::read)
      b.readers_.each(cell.reads, [&](const Reader& reader) {
        act_before = act(reader.record, static_cast<uint32_t>(std::countr_zero(reader.lanes)));
      });
    if (act_before == kNoAct) return;
    const Party earlier = b.party(record_of(act_before), lane_of(act_before));
    if (strong && earlier.site.order.semantics != Semantics::weak) return;
    found(Kind::grid_wait, earlier, party(*early, *r.site), at, size);
  });
}

}  // namespace bitwell::hazard
