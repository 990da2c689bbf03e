// Tells those who watch accesses what orders them; with nobody watching it is one test.
#pragma once
#include "model/run/cluster.h"

namespace bitwell::isa {

using machine::Synchronisation;

// Lanes of a warp's split, at the instruction that it stands at.
inline void tell_synchronised(Synchronisation::Kind kind, const Cta& cta, const machine::Warp& warp,
                              const machine::Split& split, uint32_t lanes, uint64_t which,
                              const machine::Order& order = {}) {
  if (!cta.cluster.accesses_watched()) [[likely]]
    return;
  cta.cluster.tell(Synchronisation{kind, order, cta.index, warp.index, lanes, which, cta.cluster.time(),
                                   cta.line(split).ptx});
}
// No lanes: `cta` and `warp` say whose.
inline void tell_synchronised(Synchronisation::Kind kind, const Cta& cta, int warp, uint64_t which) {
  if (!cta.cluster.accesses_watched()) [[likely]]
    return;
  cta.cluster.tell(Synchronisation{kind, {}, cta.index, warp, 0, which, cta.cluster.time(), 0});
}
// The operation of that number, issued at `place` by one thread or, where several have, by others of its
// warp too.
inline void tell_issued(const Cluster& cluster, const machine::Place& place, int warp, uint64_t number,
                        machine::Ending ending, const machine::TensorOrder& tensor = {}) {
  if (!cluster.accesses_watched()) [[likely]]
    return;
  const auto& b = cluster.grid.shape.block;
  const auto lane = (place.thread[0] + b[0] * (place.thread[1] + b[1] * place.thread[2])) % machine::kLanes;
  cluster.tell(Synchronisation{Synchronisation::Kind::issued,
                               {},
                               place.cta,
                               warp,
                               1u << lane,
                               number,
                               cluster.time(),
                               place.ptx_line,
                               ending,
                               tensor});
}

}  // namespace bitwell::isa
