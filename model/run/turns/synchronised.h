// Tells those who watch accesses what orders them; with nobody watching it is one test.
#pragma once
#include "model/run/cluster.h"

namespace bitwell::run {

using machine::Synchronisation;

// Lanes of a warp's split, at the instruction that it stands at.
inline void tell_synchronised(Synchronisation::Kind kind, const Cta& cta, const machine::Warp& warp,
                              const machine::Split& split, uint32_t lanes, uint64_t which,
                              const machine::Order& order = {}, uint32_t amount = 0) {
  if (!cta.cluster.accesses_watched()) [[likely]]
    return;
  cta.cluster.tell_synchronisation(cta.cluster.event_of<Synchronisation>(
      kind, order, cta.index, warp.index, lanes, which, cta.cluster.time(), cta.line(split).ptx,
      machine::Ending::none, machine::TensorOrder{}, amount));
}
// No lanes: `cta` and `warp` say whose.
inline void tell_synchronised(Synchronisation::Kind kind, const Cta& cta, int warp, uint64_t which) {
  if (!cta.cluster.accesses_watched()) [[likely]]
    return;
  cta.cluster.tell_synchronisation(cta.cluster.event_of<Synchronisation>(
      kind, machine::Order{}, cta.index, warp, 0u, which, cta.cluster.time(), 0));
}
// Bytes of the shared memory of `cta` hold nothing from now on (Port::empty).
inline void tell_emptied(const Cta& cta, uint64_t address, uint64_t size) {
  if (!cta.cluster.accesses_watched()) [[likely]]
    return;
  cta.cluster.tell_synchronisation(cta.cluster.event_of<Synchronisation>(
      Synchronisation::Kind::emptied, machine::Order{}, cta.index, 0, 0u, address, cta.cluster.time(), 0,
      machine::Ending::none, machine::TensorOrder{}, static_cast<uint32_t>(size)));
}
// The operation of that number, issued at `place` by one thread or, where several have, by others of its
// warp too: `lanes`, if it is known which.
inline void tell_issued(const Cluster& cluster, const machine::IssuePlace& place, int warp, uint64_t number,
                        machine::Ending ending, const machine::TensorOrder& tensor = {}, uint32_t lanes = 0) {
  if (!cluster.accesses_watched()) [[likely]]
    return;
  const auto& b = cluster.grid.shape.block;
  const auto lane = (place.thread[0] + b[0] * (place.thread[1] + b[1] * place.thread[2])) % machine::kLanes;
  cluster.tell_synchronisation(cluster.event_of<Synchronisation>(
      Synchronisation::Kind::issued, machine::Order{}, place.cta, warp, lanes != 0 ? lanes : 1u << lane,
      number, cluster.time(), place.ptx_line, ending, tensor));
}

}  // namespace bitwell::run
