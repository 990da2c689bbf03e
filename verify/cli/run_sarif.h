// Findings of the race check in SARIF 2.1.0 (OASIS), which code review shows on their lines.
#pragma once
#include <string>

#include "verify/cli/run_hazards.h"

namespace bitwell::cli {

// One log: a rule for each kind of finding, a result for each finding, at the later of its two accesses with
// the earlier beside it; on the CUDA line where there is one, else on the line of the launch's PTX file,
// which is read again (ReviewPlaces). A known finding is a suppressed result; one of which nothing can come
// is none.
std::string sarif(const verify::Sifted& found, const Explain& explain);

}  // namespace bitwell::cli
