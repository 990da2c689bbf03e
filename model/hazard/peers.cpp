// What a thread must know of another CTA of its cluster: that it has begun, before its shared memory is
// reached (CUDA C++ Programming Guide, distributed shared memory) or columns are allocated for the pair, and
// that it has its columns, before they are given back (PTX ISA 9.0, 9.7.16.7.1).
#include <bit>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

bool Checker::begun(const Knowledge* known, const Cluster& c, uint32_t rank) {
  if (known == nullptr) return false;
  if (c.begun != 0 && known->happened.most(c.begun) != 0) return true;
  for (auto at = c.warps.lower_bound({rank, 0}); at != c.warps.end() && at->first.first == rank; ++at)
    if (known->happened.most(at->second->unit) != 0) return true;
  return false;
}

void Checker::peer_access(const machine::Access& a, const Cluster& c, const Viewer& v, const Site& site,
                          uint64_t address) {
  const auto rank = static_cast<uint32_t>((address - machine::kSharedWindow) >> machine::kRankShift);
  if (rank == v.warp->rank || begun(v.known, c, rank)) return;
  const Party who = party(v, site);
  found(Kind::peer_memory, who, who, address, a.bytes);
}

void Checker::columns(const machine::Synchronisation& s, Cluster& c) {
  if (s.amount == 0 || s.which == 2) return;
  Warp& w = warp_of(c, s.cta, s.warp);
  const uint32_t peer = w.rank ^ 1;
  const bool frees = s.which != 0;
  const Known known = published(w, s.lanes);
  const Party who{{s.ptx_line, Actor::thread, machine::AccessKind::update, {}}, w.cta, w.number, -1};
  if (!frees) {
    const Epoch given{new_unit(w), 0, 1};
    c.allocated[w.rank] = given;
    for (Lane& lane : w.lanes) lane.known = raised(lane.known, given.unit, ~0u, given.time);
    if (!begun(known.get(), c, peer))
      found(Kind::peer_columns, who, who, 0, 0).where = "tensor memory of CTA rank " + std::to_string(peer);
    return;
  }
  const auto at = c.allocated.find(peer);
  if (at == c.allocated.end() || !known->happened.knows(at->second))
    found(Kind::peer_allocation, who, who, 0, 0).where = "tensor memory of CTA rank " + std::to_string(peer);
}

void Checker::keeps_map(Operation& op, const Warp& w, int ptx_line) {
  if (w.map.address < machine::kModuleGlobals) return;
  constexpr uint64_t kMapBytes = 128;
  Site site{ptx_line,
            Actor::mbarrier_copy,
            machine::AccessKind::read,
            {machine::Semantics::weak, machine::Scope::cta, machine::Proxy::tensor_map}};
  uint32_t lanes = 1u << op.lane;
  const uint32_t record = record_of_operation(op, site, w.map.address, true, false, lanes);
  global_.each(w.map.address, kMapBytes, [&](Cell& cell, uint64_t, uint64_t) {
    cell.reads = readers_.with(cell.reads, {record, lanes}, [](const Reader&) { return false; });
  });
}

}  // namespace bitwell::hazard
