// A small launch under every schedule that can end otherwise than another.
#pragma once
#include <functional>

#include "model/explore/order.h"
#include "verify/launch/launch.h"

namespace bitwell::schedules {

// How runs end: in a fault, or with these bytes.
struct Ended {
  std::string fault;  // its text; empty: the launch ran to its end
  // Of the launch, in order; empty for those that are no outputs where some are. Of a fault none.
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::vector<std::byte>> variables;
  uint64_t runs = 0;     // that ended so; faults with one first line count as one
  explore::Order order;  // of the first such run
};

struct Exhausted {
  uint64_t runs = 0;    // to an end
  uint64_t pruned = 0;  // given up, as what was left of them comes to what another run has
  size_t turns = 0;     // of the longest
  bool complete = false;
  std::vector<Ended> ends;  // all that differ, in the order in which they were found
};

// Runs the launch, without what follows it, until no schedule is left or `most` runs were made, pruned ones
// among them, on as many host threads as `options` say, which makes no difference; these say the rest, and
// what the kernel prints is printed by the first run alone. Progress is told on the caller's thread. Throws
// what run::run does but Fault, and InputError for a launch whose clusters are not all resident at once or
// that takes too many turns.
Exhausted exhaust(const launch::Launch& launch, run::Options options, uint64_t most,
                  const std::function<void(uint64_t runs, uint64_t pruned)>& progress = nullptr);

// "order:0:0x3,0:1", as `bitwell run --schedule` takes it.
std::string schedule_of(const Ended& end);

}  // namespace bitwell::schedules
