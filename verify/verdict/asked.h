// What a plan asks for: which of a suite's kernels, each on which architectures.
#pragma once
#include "verify/verdict/judge.h"

namespace bitwell::verdict {

struct Asked {
  Plan plan;
  std::vector<const suite::Kernel*> kernels;
  std::vector<std::vector<std::string>> archs;  // of each
};

// Throws machine::InputError for names that the suite does not have, for a kernel that is named and made for
// none of the plan's architectures, and for a case of another suite.
Asked asked_of(const suite::Suite& suite, const Plan& plan);

// `.ci/setup` compiles the PTX of the GEMV kernels; who asks for another is told how to get it:
// machine::InputError.
void expect_modules(const Asked& asked);

}  // namespace bitwell::verdict
