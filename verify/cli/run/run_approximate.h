// What bitwell run says of approximate instructions whose bits no GPU has vouched for.
#pragma once
#include <string>
#include <vector>

#include "verify/cli/run/run_options.h"
#include "verify/launch/launch.h"

namespace bitwell::cli {

// Those of the launch of `program` and of those that follow it, "line 12: ...", each line of a file once;
// with the file where it is not the first's.
std::vector<std::string> approximations(const isa::Program& program, const verify::Launch& launch);

// One line of a report on them; empty where there are none.
std::string approximate_line(const std::vector<std::string>& lines, const RunOptions& options,
                             const isa::Program& program);

}  // namespace bitwell::cli
