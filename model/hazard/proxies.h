// Fences between the proxies through which memory is reached.
#pragma once
#include "model/hazard/shadow/actors.h"
#include "model/machine/synchronisation.h"

namespace bitwell::hazard {

// fence.proxy.async, and fence.proxy.tensormap, by lanes of the warp.
void fence_async(const machine::Synchronisation& s, Warp& w);
void fence_maps(const machine::Synchronisation& s, Warp& w);

}  // namespace bitwell::hazard
