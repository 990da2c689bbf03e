// Device malloc and free: the functions that nvcc's code calls for them, for `new` and `delete` too.
#pragma once
#include "model/isa/family/control/call.h"
#include "model/run/context.h"

namespace bitwell::isa {

// Lanes in order. malloc gives what nobody has written, or 0 where the heap is full; free of 0 does nothing.
// Those who watch are told of an object that malloc gives or free ends as of a write of all its bytes. Faults
// where free gets what malloc did not give, or what was freed before.
void heap_call(const CallSite& site, run::Context& context, uint32_t mask);

}  // namespace bitwell::isa
