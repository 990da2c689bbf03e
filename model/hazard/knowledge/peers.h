// What a thread must know of another CTA of its cluster: that it has begun, before its shared memory is
// reached.
#pragma once
#include "model/hazard/shadow/clusters.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

// Whether who knows that much knows that the CTA of that rank has begun.
bool begun(const Knowledge* known, const Cluster& c, uint32_t rank);
void peer_access(Ledger& ledger, const machine::Access& a, const Cluster& c, const Viewer& v,
                 const Site& site, uint64_t address);

}  // namespace bitwell::hazard
