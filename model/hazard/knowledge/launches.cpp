// A programmatic launch begins while the one before it runs: until griddepcontrol.wait nothing that the two
// share is ordered (PTX ISA 9.0, 9.7.13.14). Of a launch further back the wait promises something where the
// launches between have waited too. Where one has not, or where one waits, lets the next start and that one
// does not wait, an H200 keeps the order all the same (docs/evidence.md), which the manual does not say.
#include "model/hazard/knowledge/launches.h"

#include <algorithm>
#include <bit>

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Semantics;

namespace {

// All that the launches before did, as one act of a unit of its own.
constexpr uint32_t kTheirEnd = 1;

// Whether an access is one that others of its kind, of any grid, may meet.
bool meets(const Site& s) {
  return s.order.semantics != Semantics::weak && s.order.scope >= machine::Scope::gpu;
}

}  // namespace

void Launches::overlap(const Launches& before) {
  before_ = &before;
  all_waited_ = before.before_ == nullptr || (before.all_waited_ && !before.waited_.empty());
  before_unit_ = ledger_.units.add();
}

void Launches::waited(const machine::Synchronisation& s, Warp& w) {
  if (before_ == nullptr) return;
  waited_.insert(w.domain.cta);
  w.known.change(s.lanes, [&](const Known& known) { return raised(known, before_unit_, ~0u, kTheirEnd); });
}

void Launches::let(const machine::Synchronisation& s, const Warp& w) {
  if (before_ == nullptr) return;
  for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
    const Known& known = w.known[static_cast<uint32_t>(std::countr_zero(lanes))];
    if (known == nullptr || !known->happened.knows({before_unit_, 0, kTheirEnd}))
      let_early_.insert(w.domain.cta);
  }
}

// The one behind starts when all CTAs have let it: one that does so behind its wait, or ends, is enough.
bool Launches::lets_start_behind_its_wait() const {
  return std::any_of(waited_.begin(), waited_.end(),
                     [&](uint32_t cta) { return let_early_.count(cta) == 0; });
}

void Launches::behind(const Reach& r, uint64_t address, uint64_t bytes) {
  const Viewer* early = std::find_if(r.viewers, r.viewers + r.viewer_count, [&](const Viewer& v) {
    return !v.knows({before_unit_, 0, kTheirEnd});
  });
  const bool waited = early == r.viewers + r.viewer_count;
  if (waited && all_waited_) return;
  if (waited) early = r.viewers;
  bool over = waited, in_order = waited;
  uint32_t back = 0;
  for (const Launches* b = before_; b != nullptr; b = b->before_) {
    ++back;
    if (!over)
      behind_launch(*b, in_order ? Kind::grid_between : Kind::grid_wait, back, *early, r, address, bytes);
    over = over && !b->waited_.empty();
    in_order = in_order || b->lets_start_behind_its_wait();
  }
}

void Launches::behind_launch(const Launches& before, Kind kind, uint32_t launches_before, const Viewer& early,
                             const Reach& r, uint64_t address, uint64_t bytes) {
  before.ledger_.global.each_touched(address, bytes, [&](const Cell& cell, uint64_t at, uint64_t size) {
    Act unordered = kNoAct;
    const auto weigh = [&](Act act) {
      if (!meets(*r.site) || !meets(before.ledger_.records.site_of(before.ledger_.records[record_of(act)])))
        unordered = act;
    };
    const auto weigh_all = [&](Readers those) {
      before.ledger_.readers.each(those, [&](const Reader& reader) {
        weigh(act(reader.record, static_cast<uint32_t>(std::countr_zero(reader.lanes))));
      });
    };
    if (r.site->kind != AccessKind::read) weigh_all(cell.reads);
    weigh_all(cell.writes_before);
    if (cell.write != kNoAct) weigh(cell.write);
    if (unordered == kNoAct) return;
    const Party earlier = before.ledger_.party(record_of(unordered), lane_of(unordered));
    ledger_.findings.add(kind, earlier, party(early, *r.site), at, size, launches_before);
  });
}

}  // namespace bitwell::hazard
