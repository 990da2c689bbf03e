// What `bitwell run` says of outputs beside what they should be, and beside a GPU's.
#pragma once
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "verify/device/driver.h"
#include "verify/launch/file/launch_json.h"

namespace bitwell::cli {

// Of each output that has an "expected". `facts` get it too. Returns the lines; `held` becomes false where
// one is not as expected.
std::string expectations(const verify::LaunchFile& file, nlohmann::json& facts, bool& held);

// The GPU that is there. InputError where there is none, or where it does not run the target.
std::unique_ptr<verify::Device> open_device(const isa::Program& program);

// Runs `before`, the launch as it was before `after` was simulated, on the device and compares every byte of
// every output. A fault on the device, or a launch that does not end within `limit`, is a difference too.
std::string device_verdict(verify::Device& device, verify::Launch before, const verify::LaunchFile& after,
                           const isa::Program& program, std::chrono::milliseconds limit,
                           nlohmann::json& facts, bool& held);

}  // namespace bitwell::cli
