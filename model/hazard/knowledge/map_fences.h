// Tensor maps in global memory that a kernel changes: copies read them through a proxy of their own, to which
// fence.proxy.tensormap tells what generic accesses wrote (PTX ISA 9.0, 9.7.13.5).
#pragma once
#include <array>
#include <map>

#include "model/hazard/knowledge/clock.h"
#include "model/hazard/knowledge/counted.h"
#include "model/machine/order.h"

namespace bitwell::hazard {

// By scope, those with at least that one.
using ByScope = std::array<Clock, 3>;

struct MapFences {
  ByScope released;                      // writes behind which a releasing fence stands
  std::map<uint64_t, ByScope> acquired;  // of those: what an acquiring one of the map at that address saw

  // A fence of `scope` by one who knows `happened`.
  void release(const Clock& happened, machine::Scope scope);
  void acquire(uint64_t map, machine::Scope scope);
};
// nullptr: there was no such fence.
using KnownMaps = Counted<const MapFences>;

KnownMaps joined(const KnownMaps& a, const KnownMaps& b);

}  // namespace bitwell::hazard
