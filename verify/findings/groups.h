// Findings that are one mistake to a reader.
#pragma once
#include <functional>
#include <vector>

#include "verify/findings/launched.h"

namespace bitwell::findings {

// Of one kind and level, between the same two CUDA lines of the same launches, each inlined at the same
// places: a compiler makes many instructions of a line. Of a race of two threads
// in whichever order they came. Where the PTX names no CUDA lines, one pair of
// instructions.
struct Group {
  std::vector<const Found*> findings;  // never empty, in the order in which they were found
  hazard::Level level;

  const Found& first() const { return *findings.front(); }
  uint64_t count() const;  // how often, all of them together
  size_t pairs() const;    // of instructions, in whichever order
};
// In the order of their first findings.
std::vector<Group> groups_of(const std::vector<Found>& findings,
                             const std::function<hazard::Level(const Found&)>& level_of);

}  // namespace bitwell::findings
