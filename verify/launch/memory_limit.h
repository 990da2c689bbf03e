// How much memory a launch asks for, and whether the device and this machine have it.
#pragma once
#include "verify/launch/launch.h"

namespace bitwell::launch {

// Refuses (InputError) a launch whose variables, buffers, local and shared memory together pass its
// limit, or that would touch more at once than this machine can give.
// Local memory counts for the threads of one cluster, with the frames of the entry and of each function that
// it can call.
void check_memory(const isa::Program& program, const Launch& launch);

}  // namespace bitwell::launch
