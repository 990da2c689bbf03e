// Findings of the race check in SARIF 2.1.0 (OASIS), which code review shows on their lines.
#pragma once
#include <string>

#include "model/machine/failure.h"
#include "verify/cli/run/run_hazards.h"

namespace bitwell::cli {

// One log: a rule for each kind of finding, a result for each group of findings, at the later of its two
// accesses with the earlier beside it; on the CUDA line of the kernel where there is one, with the functions
// that were inlined there beside it, else on the line of the launch's PTX file. A known finding is a
// suppressed result; one of which nothing can come is none. `fault`: that the run ended in, or nullptr: a
// result of the rule `fault` at its place, of the launch whose PTX file that is.
std::string sarif(const session::Findings& found, const machine::Fault* fault, const std::string& ptx);

}  // namespace bitwell::cli
