// A launch, and what follows it on its buffers.
#pragma once
#include "verify/launch/one_by_one.h"
#include "verify/launch/placed.h"

namespace bitwell::verify {

// The programs of the launches under launch.then, in order, whose entries' names become the modules' own. As
// load_program.
std::vector<isa::Program> load_steps(Launch& launch);

// Runs the launch of `program`, whose module's constants are `constants`, then launch.then in order; launches
// that are programmatic overlap with those before them, but not where `beginning`, if there is one, is told
// of each. Other modules are placed when their first launch comes. Returns what the first did, with the
// instructions and notes of all. Throws as simulate of a launch does.
isa::RunResult run_steps(const isa::Program& program, const Launch& launch, const Placed& placed,
                         machine::Memory& memory, machine::Region& constants, const isa::Options& options,
                         const Beginning& beginning);

}  // namespace bitwell::verify
