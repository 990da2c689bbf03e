// A launch, and what follows it on its buffers.
#pragma once
#include "verify/launch/modules.h"
#include "verify/launch/placed.h"

namespace bitwell::launch {

// The programs of the launches under launch.then, in order, whose entries' names become the modules' own. As
// program_of.
std::vector<std::shared_ptr<const isa::Program>> load_steps(Launch& launch);

// An entry of a module, by its whole name.
struct EntryOf {
  isa::ModuleHandle module;
  std::string entry;
};
// Runs the launch, whose entry is `first`, then launch.then in order; launches that are programmatic overlap
// with those before them, but not where `beginning`, if there is one, is told of each. Other modules are
// loaded when their first launch comes, of `files` where the step has none. Returns what the first did, with
// the instructions and notes of all. Throws as simulate of a launch does; what a callback throws passes as it
// is.
run::RunResult run_steps(const EntryOf& first, const Launch& launch, const Placed& placed,
                         isa::Context& context, Modules& files, const run::Options& options,
                         const Beginning& beginning);

}  // namespace bitwell::launch
