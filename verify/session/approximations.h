// What instructions a launch has, and whose bits no GPU has vouched for.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::session {

// Those of the launch and of those that follow it, "line 12: ...", each line of a file once; with the file
// where it is not the first's.
std::vector<std::string> approximations(const launch::Launch& launch);

// Those of the launch and of those that follow it, as they are written, each spelling once.
std::set<std::string> instructions(const launch::Launch& launch);

}  // namespace bitwell::session
