// Verdicts on the GEMM kernels: simulator against the oracle's order of summation, against itself under other
// schedules, against the recorded bits of a GPU, and against exact arithmetic.
#pragma once
#include "verify/suite/gemm.h"
#include "verify/verdict/verdict.h"

namespace bitwell::verify {

// One verdict a variant, in their order, for sm_90a, whatever architectures the plan names. The plan's
// kernels are variants; `full` adds large shapes.
std::vector<Verdict> verify_gemm(const Plan& plan);

// The digest of a variant's named cases, as the GPU's recorder forms it: of the digests of the cases'
// results.
std::string gemm_digest(const std::vector<std::string>& of_cases);

}  // namespace bitwell::verify
