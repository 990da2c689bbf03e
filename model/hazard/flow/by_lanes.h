// Whether nothing but lanes of warps, by instructions of their own, reaches memory.
#pragma once
#include "model/isa/form/program.h"

namespace bitwell::hazard {

// No operation does, no mbarrier orders anything, and there are no objects of device code's malloc.
bool reached_by_lanes(const isa::Program& program);

}  // namespace bitwell::hazard
