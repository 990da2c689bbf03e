// What `bitwell run` says of outputs beside what they should be, and beside a GPU's.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "verify/device/beside.h"
#include "verify/launch/file/launch_json.h"
#include "verify/session/judgement.h"

namespace bitwell::cli {

// Of each output that has an "expected". `facts` get it too, and `tally` how many elements are wrong. Returns
// the lines.
std::string expectations(const launch::LaunchFile& file, nlohmann::json& facts, session::Tally& tally);

// Lines, and the same as facts; where an output differs, the sums of the launch that ptxas may fuse.
std::string beside_text(const device::Beside& beside, const launch::Launch& launch, nlohmann::json& facts);

}  // namespace bitwell::cli
