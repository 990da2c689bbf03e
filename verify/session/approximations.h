// Approximate instructions whose bits no GPU has vouched for.
#pragma once
#include <string>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::session {

// Those of the launch and of those that follow it, "line 12: ...", each line of a file once; with the file
// where it is not the first's.
std::vector<std::string> approximations(const launch::Launch& launch);

}  // namespace bitwell::session
