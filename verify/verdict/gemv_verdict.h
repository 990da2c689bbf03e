// Verdicts on the GEMV rungs: simulator against the direct model of each rung's order, against the recorded
// bits of a GPU, and against exact arithmetic.
#pragma once
#include "verify/suite/gemv.h"
#include "verify/verdict/verdict.h"

namespace bitwell::verify {

// One verdict a rung and architecture, in the order of the rungs. The plan's kernels are rungs; `full` adds
// the three contest shapes.
std::vector<Verdict> verify_gemv(const Plan& plan);

}  // namespace bitwell::verify
