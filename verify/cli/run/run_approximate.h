// What bitwell run says of approximate instructions whose bits no GPU has vouched for.
#pragma once
#include <string>
#include <vector>

#include "verify/cli/run/run_options.h"

namespace bitwell::cli {

// One line of a report on them, as session::approximations gives them; empty where there are none.
std::string approximate_line(const std::vector<std::string>& lines, const RunOptions& options,
                             const isa::Program& program);

}  // namespace bitwell::cli
