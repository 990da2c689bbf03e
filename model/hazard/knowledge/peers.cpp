// That another CTA has begun (CUDA C++ Programming Guide, distributed shared memory).
#include "model/hazard/knowledge/peers.h"

#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

bool begun(const Knowledge* known, const Cluster& c, uint32_t rank) {
  if (known == nullptr) return false;
  if (c.begun != 0 && known->happened.most(c.begun) != 0) return true;
  for (auto at = c.warps.lower_bound({rank, 0}); at != c.warps.end() && at->first.first == rank; ++at)
    if (known->happened.most(at->second->unit) != 0) return true;
  return false;
}

void peer_access(Ledger& ledger, const machine::Access& a, const Cluster& c, const Viewer& v,
                 const Site& site, uint64_t address) {
  const auto rank = static_cast<uint32_t>((address - machine::kSharedWindow) >> machine::kRankShift);
  if (rank == v.warp->rank || begun(v.known, c, rank)) return;
  const Party who = party(v, site);
  ledger.findings.add(Kind::peer_memory, who, who, address, a.bytes);
}

}  // namespace bitwell::hazard
