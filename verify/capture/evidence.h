// How the results of a program's instructions are known.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::capture {

// Instructions of the program, each once and as it is written, that no capture in the folder has: neither
// alone (instructions.json), nor as a tensor core's (tensor.json), nor in a family of asynchronous ones
// (async.json), nor among those of the random programs (programs.txt). Modifiers in another order than the
// table's count as another instruction.
std::vector<std::string> without_device_evidence(const isa::Program& program, const std::string& captures);

// Instructions whose results are known in one way.
struct Evidence {
  // "device": a GPU of the target gave these bits. "published": a tensor core's arithmetic by words or models
  // that others published. "approximate": the manual has an error bound, the bits are an H200's. "manual".
  std::string how;
  bool elsewhere = false;  // of "manual": a GPU gave these bits for the target that it runs
  std::set<std::string> instructions{};

  // Their operations ("tcgen05.mma", "ld"); whole instructions of those that `others` have too.
  std::set<std::string> operations(const std::vector<Evidence>& others) const;
};
// Of instructions as they are written, for an architecture; the best known first, none of them empty.
// `nearest`: approximate instructions give the nearest value, which no GPU vouches for.
std::vector<Evidence> evidence_of(const std::set<std::string>& instructions, int sm,
                                  const std::string& captures, bool nearest = false);

}  // namespace bitwell::capture
