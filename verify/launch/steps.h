// What follows a launch on its buffers.
#pragma once
#include "verify/launch/placed.h"

namespace bitwell::verify {

// Runs launch.then in order, after the launch of `program`, whose module's constants are `constants`; other
// modules are placed when their first launch comes. Adds to `result`. Throws as simulate of a launch does.
void run_steps(const Launch& launch, const Placed& placed, machine::Memory& memory,
               machine::Region& constants, const isa::Options& options, isa::RunResult& result);

}  // namespace bitwell::verify
