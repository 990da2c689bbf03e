// Launches that follow one another, the later reading what the earlier wrote.
#pragma once
#include <functional>
#include <vector>

#include "verify/launch/modules.h"

namespace bitwell::suite {

struct Chain {
  // Buffer `to_buffer` of launch `to` is buffer `from_buffer` of the earlier launch `from`.
  struct Link {
    size_t from, from_buffer, to, to_buffer;
  };
  std::vector<launch::Launch> launches;
  std::vector<Link> links;
  // CUDA may start the last launch before those before it are over: its kernel waits for them itself.
  bool last_overlaps = false;
  bool overlaps(size_t launch) const { return last_overlaps && launch + 1 == launches.size(); }
};

// Told before each launch of a chain begins, with the program that it runs.
using Begins =
    std::function<void(const launch::Launch& launch, const std::shared_ptr<const isa::Module>& module,
                       const std::shared_ptr<const isa::Program>& program)>;

// Runs every launch in one context, in order; their buffers then hold what the kernels left when each ended.
// Launches of one module find its variables as the ones before left them. Throws as simulate of one launch
// does, with the launches before as they ended.
run::RunResult simulate(Chain& chain, const launch::ModuleOf& modules, const run::Options& options,
                        bool all_written, const Begins& begins = nullptr);

}  // namespace bitwell::suite
