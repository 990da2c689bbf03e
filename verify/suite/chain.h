// Launches that follow one another, the later reading what the earlier wrote.
#pragma once
#include <functional>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::verify {

struct Chain {
  // Buffer `to_buffer` of launch `to` is buffer `from_buffer` of the earlier launch `from`.
  struct Link {
    size_t from, from_buffer, to, to_buffer;
  };
  std::vector<Launch> launches;
  std::vector<Link> links;
  // CUDA may start the last launch before those before it are over: its kernel waits for them itself.
  bool last_overlaps = false;
  bool overlaps(size_t launch) const { return last_overlaps && launch + 1 == launches.size(); }
};

// The program of a launch, compiled once; asked for when the launch's turn comes.
using Programs = std::function<const isa::Program&(const Launch&)>;

// Runs every launch on one memory, in order; their buffers then hold what the kernels left when each ended.
// Throws as simulate of one launch does, with the launches before as they ended.
isa::RunResult simulate(Chain& chain, const Programs& programs, const isa::Options& options,
                        bool all_written);

}  // namespace bitwell::verify
