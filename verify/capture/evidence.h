// Which instructions of a program no GPU has vouched for.
#pragma once
#include <string>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::capture {

// Instructions of the program, each once and as it is written, that no capture in the folder has: neither
// alone (instructions.json), nor as a tensor core's (tensor.json), nor in a family of asynchronous ones
// (async.json), nor among those of the random programs (programs.txt). Modifiers in another order than the
// table's count as another instruction.
std::vector<std::string> without_device_evidence(const isa::Program& program, const std::string& captures);

}  // namespace bitwell::capture
