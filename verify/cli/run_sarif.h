// Findings of the race check in SARIF 2.1.0 (OASIS), which code review shows on their lines.
#pragma once
#include <string>

#include "verify/hazard/report.h"

namespace bitwell::cli {

// One log: a rule for each kind of finding, a result for each finding, at the later of its two accesses with
// the earlier beside it; on the CUDA line where there is one, else on the line of `ptx`, a path. A finding's
// fingerprint is its kind and both instructions with what stands there: it stays while lines move.
std::string sarif(const std::vector<hazard::Finding>& findings, const isa::Program& program,
                  const isa::Shape& shape, const std::string& ptx);

}  // namespace bitwell::cli
