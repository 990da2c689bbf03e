// Tensor memory: which of tcgen05's operations are behind which (PTX ISA 9.0, 9.7.16.6). Of one thread only
// the manual's pairs are, all others by a commit's mbarrier, wait::ld or wait::st; of two threads what has
// ended or stands in such a pair is, with a fence on both sides of what synchronises them.
#include "model/hazard/tensor.h"

#include <algorithm>
#include <bit>

#include "model/hazard/knowledge/peers.h"
#include "model/hazard/knowledge/published.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Synchronisation;
using machine::TensorOrder;
using SyncKind = Synchronisation::Kind;

namespace {

// Cells in the order of a shadow's bytes: the lanes of a column are neighbours.
constexpr uint64_t kRankOfCells = uint64_t{1} << 16;
uint64_t cell_of(uint64_t rank, uint64_t lane, uint64_t column) {
  return rank * kRankOfCells + column * machine::kTensorLanes + lane;
}
uint64_t address_of(uint64_t cell) {
  const uint64_t column = cell % kRankOfCells / machine::kTensorLanes;
  return machine::kTensorWindow | cell / kRankOfCells << 32 | cell % machine::kTensorLanes << 16 | column;
}

// What issuing them one behind the other promises.
enum class Pair : uint8_t { promised, two_kinds, two_sums, copy_behind_mma, none };
Pair pair_of(const TensorOrder& a, const TensorOrder& b) {
  using Kind = TensorOrder::Kind;
  if (a.kind == Kind::mma && b.kind == Kind::mma) {
    const bool same_shape = std::equal(a.sum.begin(), a.sum.begin() + 3, b.sum.begin());
    return a.before(b, machine::Promise::manual) ? Pair::promised
           : same_shape                          ? Pair::two_kinds
                                                 : Pair::two_sums;
  }
  if (a.before(b, machine::Promise::manual)) return Pair::promised;
  return a.before(b, machine::Promise::devices) ? Pair::copy_behind_mma : Pair::none;
}

}  // namespace

void TensorMemory::access(const machine::Access& a, Cluster& c) {
  const auto lane = static_cast<uint32_t>(a.lanes != 0 ? std::countr_zero(a.lanes) : 0);
  const uint64_t place = a.addresses[lane];
  Warp& w = clusters_.warp_of(c, a.cta, a.warp);
  Site site{a.ptx_line,
            Actor::tcgen05,
            a.kind,
            {machine::Semantics::weak, machine::Scope::cta, machine::Proxy::async}};
  Viewer viewer{nullptr, &w, 0, kNow, &w.ended[0]};
  Known known;
  Reach r{&viewer, 1, true, &site, 0, 1, kTensorSpace, nullptr, nullptr};
  const bool frees = a.operation == 0 && a.kind == AccessKind::update;
  if (a.operation != 0) {
    const auto found = c.operations.find(a.operation);
    if (found == c.operations.end()) return;
    Operation& op = found->second;
    viewer = {op.known[op.lane].get(), op.by, op.lane, op.until, &op.ended[op.lane]};
    r.accepted = op.accepted.get();
    r.number = op.number;
    r.last_mma = op.last_mma;
    r.loads_used = op.loads_used;
    r.lanes = 1u << op.lane;
    site.tensor = ledger_.records.tensor_order(op.tensor);
    r.record = ledger_.records.record(
        {ledger_.units.stream(*op.by, Stream::tcgen05), op.number, ledger_.records.site(site)});
  } else {
    // One instruction of the whole warp: what any of its threads knows.
    known = published(w, ~0u);
    r.loads_used = w.loads_used;
    viewer.known = known.get();
    for (uint32_t i = 0; i < machine::kLanes; ++i)
      if (const Known& accepted = w.lane(i).accepted; accepted != nullptr) r.accepted = accepted.get();
    if (frees) {
      site.actor = Actor::thread;
      r.record = ledger_.records.record({w.unit, w.time, ledger_.records.site(site)});
    } else {
      const Stream s = a.kind == AccessKind::read ? Stream::tensor_load : Stream::tensor_store;
      site.actor = a.kind == AccessKind::read ? Actor::tensor_load : Actor::tensor_store;
      r.number = ++w.moves;
      r.record = ledger_.records.record({ledger_.units.stream(w, s), r.number, ledger_.records.site(site)});
      if (s == Stream::tensor_load) w.loads.push_back(r.number);
      w.latest[static_cast<size_t>(s)] = r.number;
    }
  }
  const uint64_t rank = place >> 32 & 0xFF, first = place >> 16 & 0xFFFF, column = place & 0xFFFF;
  const bool whole = a.rows == machine::kTensorLanes;
  const uint64_t columns = a.bytes / 4;
  const auto each = [&](uint64_t from, uint64_t cells) {
    c.tensor.each(
        from, cells,
        [&](Cell& cell, uint64_t at, uint64_t size) {
          conflicts_.reach(r, cell, at, size);
          if (frees) cell = {};
        },
        [&](uint64_t times) { return conflicts_.again(times); });
  };
  if (whole) return each(cell_of(rank, 0, column), columns * machine::kTensorLanes);
  for (uint64_t i = 0; i < columns; ++i)
    if (a.gap == 0 || i < a.columns_before_gap || i >= a.columns_before_gap + a.gap)
      each(cell_of(rank, first, column + i), a.rows);
}

void TensorMemory::order(const Synchronisation& s, Warp& w, const Cluster& c) {
  if (s.kind == SyncKind::tensor_loads_waited || s.kind == SyncKind::tensor_stores_waited) {
    const auto which = static_cast<size_t>(s.kind == SyncKind::tensor_loads_waited ? Stream::tensor_load
                                                                                   : Stream::tensor_store);
    for (Numbers& ended : w.ended) ended[which] = w.latest[which];
    return;
  }
  if (s.kind == SyncKind::tensor_fence_after) {
    for (uint32_t lanes = s.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(lanes));
      w.own_lane(i).accepted = w.known[i];
    }
    return;
  }
  w.known.change(s.lanes, [&](const Known& known) {
    auto more = known == nullptr ? counted<Knowledge>() : counted<Knowledge>(*known);
    for (const Stream stream : {Stream::tcgen05, Stream::tensor_load, Stream::tensor_store})
      if (const auto n = static_cast<size_t>(stream); w.streams[n] != 0)
        more->offered.raise(w.streams[n], of_warp(stream) ? ~0u : s.lanes, w.latest[n]);
    // Operations of others that are known to have ended are behind it too.
    for (const auto& [key, warp] : c.warps)
      if (const UnitId unit = warp->streams[static_cast<size_t>(Stream::tcgen05)]; unit != 0)
        more->offered.raise_common(more->happened, more->happened, unit);
    return more;
  });
}

// With fences around it any order of execution orders tensor memory, a relaxed arrival and a relaxed wait too
// (9.7.16.6.3, 9.7.16.6.4.4): what a fence before has offered, and of that what had ended by then.
Known TensorMemory::part_of(const Known& known, const Cluster& c) {
  if (known == nullptr || known->offered.empty()) return nullptr;
  auto out = counted<Knowledge>();
  out->offered = known->offered;
  for (const auto& [key, warp] : c.warps)
    for (const Stream stream : {Stream::tcgen05, Stream::tensor_load, Stream::tensor_store})
      if (const UnitId unit = warp->streams[static_cast<size_t>(stream)]; unit != 0)
        out->happened.raise_common(known->happened, known->offered, unit);
  return out;
}

// And columns that were given to pairs have been, for alloc is synchronous.
Known TensorMemory::published_by(const Warp& w, uint32_t lane, const Cluster& c) {
  const Known& known = w.known[lane];
  if (known == nullptr) return nullptr;
  Known out = part_of(published(w, lane, known, w.time, w.ended[lane]), c);
  for (const auto& [rank, given] : c.allocated)
    if (known->happened.knows(given)) out = raised(out, given.unit, ~0u, given.time);
  return out;
}

std::optional<Kind> judge_cells(const Ledger& ledger, const Reach& r, const Viewer& v, const Record& before,
                                uint32_t lane) {
  const Site& old = ledger.records.site_of(before);
  const Site& now = *r.site;
  const Epoch e{before.unit, lane, before.time};
  const Unit& unit = ledger.units[before.unit];
  const bool same_warp = unit.cta == v.warp->cta && unit.warp == v.warp->number;
  if (old.actor == Actor::tcgen05 && now.actor == Actor::tcgen05 && same_warp && before.time == r.number)
    return old.kind == AccessKind::update && now.kind == AccessKind::read
               ? std::optional(Kind::tensor_overlap)
               : std::nullopt;
  const bool offered = r.accepted != nullptr && r.accepted->offered.knows(e);
  if (v.knows(e)) {
    const bool moved = old.actor == Actor::tensor_load || old.actor == Actor::tensor_store;
    if (!moved || same_warp || offered || now.actor == Actor::thread) return std::nullopt;
    return Kind::tensor_fence;
  }
  if (old.actor != Actor::tcgen05) {
    const bool used = same_warp ? r.loads_used >= e.time : v.known != nullptr && v.known->used.knows(e);
    if (old.actor == Actor::tensor_load && used) return Kind::tensor_used;
    const bool seen = same_warp || (v.known != nullptr && v.known->unwaited.knows(e));
    return seen ? Kind::tensor_wait : Kind::operation_race;
  }
  if (now.actor != Actor::tcgen05 || (!same_warp && !offered)) return Kind::operation_race;
  // Two copies with an MMA between them: the second is behind the MMA, as the MMA is behind the first.
  const auto copies = [](const TensorOrder& o) {
    return o.kind != TensorOrder::Kind::mma && o.kind != TensorOrder::Kind::shift;
  };
  if (same_warp && r.last_mma > before.time && copies(ledger.records.tensor_order(old.tensor)) &&
      copies(ledger.records.tensor_order(now.tensor)))
    return Kind::tensor_copy;
  switch (pair_of(ledger.records.tensor_order(old.tensor), ledger.records.tensor_order(now.tensor))) {
    case Pair::promised: return std::nullopt;
    case Pair::two_kinds: return Kind::tensor_kinds;
    case Pair::two_sums: return Kind::tensor_mmas;
    case Pair::copy_behind_mma: return Kind::tensor_copy;
    case Pair::none: break;
  }
  return Kind::operation_race;
}

// Columns are given to a pair when both have begun, and back when both have theirs (PTX ISA 9.0, 9.7.16.7.1).
void TensorMemory::columns(const machine::Synchronisation& s, Cluster& c) {
  if (s.amount == 0 || s.which == 2) return;
  Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  const uint32_t peer = w.rank ^ 1;
  const bool frees = s.which != 0;
  const Known known = published(w, s.lanes);
  const Party who{{s.ptx_line, Actor::thread, machine::AccessKind::update, {}}, w.cta, w.number, -1};
  if (!frees) {
    const Epoch given{ledger_.units.add(w), 0, 1};
    c.allocated[w.rank] = given;
    w.known.change(~0u, [&](const Known& k) { return raised(k, given.unit, ~0u, given.time); });
    if (!begun(known.get(), c, peer))
      ledger_.findings.add(Kind::peer_columns, who, who, 0, 0).where =
          "tensor memory of CTA rank " + std::to_string(peer);
    return;
  }
  const auto at = c.allocated.find(peer);
  if (at == c.allocated.end() || !known->happened.knows(at->second))
    ledger_.findings.add(Kind::peer_allocation, who, who, 0, 0).where =
        "tensor memory of CTA rank " + std::to_string(peer);
}

uint64_t reported(uint64_t address, size_t space) {
  return space == kTensorSpace ? address_of(address) : address;
}

}  // namespace bitwell::hazard
