// Kernels of suites under every schedule that can end otherwise than another.
#pragma once
#include <string>
#include <vector>

#include "verify/schedules/exhaust.h"
#include "verify/verdict/judge.h"

namespace bitwell::verdict {

// A kernel's first case on one architecture.
struct ExhaustedCase {
  std::string kernel, arch, name;
  uint64_t warps = 0;
  schedules::Exhausted all;
  // What a run ended in that it should not, with the schedule that shows it; or why none was made.
  std::string wrong;
  bool holds = true;
};

// `most`: runs of a case. `progress` is told of each before it begins, one at a time. Throws
// machine::InputError as judge does, before any is run.
std::vector<ExhaustedCase> exhaust(const std::vector<const suite::Suite*>& suites, const Plan& plan,
                                   uint64_t most,
                                   const std::function<void(const std::string& kernel)>& progress);

}  // namespace bitwell::verdict
