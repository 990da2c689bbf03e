// bitwell verify --exhaust: every schedule of each kernel's first case.
#pragma once
#include <cstdint>
#include <vector>

#include "verify/verdict/judge.h"

namespace bitwell::cli {

// Prints a table, or JSON; at most so many runs a case. Returns whether every run of every case ended with
// the bits that its suite expects. Throws as verdict::judge does.
bool exhaust_suites(const std::vector<const suite::Suite*>& suites, const verdict::Plan& plan, uint64_t most,
                    bool json);

}  // namespace bitwell::cli
