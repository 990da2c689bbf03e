// Where bits go that have an error bound alone: another device's may be others, and what they decide with
// them.
#pragma once
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "verify/capture/evidence.h"

namespace bitwell::capture {

// The first place of its kind in a function.
struct ApproximateWay {
  std::string to;           // "an address", "a branch" or "a barrier"
  int ptx_line = 0;         // of the instruction that takes them
  int from_line = 0;        // and of the one that made them
  std::string instruction;  // that made them, as it is written
};

// Of results of the instructions that are approximate by that evidence: from register to register, whatever
// the path, within each function. What goes through memory or into a call is not followed.
std::vector<ApproximateWay> approximate_ways(const isa::Program& program,
                                             const std::vector<Evidence>& evidence);

}  // namespace bitwell::capture
