// A launch on the GPU that is there, beside what the simulator made of it: every byte of every output.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/device/driver.h"
#include "verify/launch/file/launch_json.h"

namespace bitwell::device {

// The GPU that is there. InputError where there is none, or where it does not run the target.
std::unique_ptr<Device> device_for(const std::string& target);

// An output of both.
struct OutputBeside {
  std::string name;
  size_t bytes;
  struct Differs {
    size_t byte;          // the first
    std::string element;  // that it belongs to, by its coordinates
    std::string here, on_gpu;
  };
  std::optional<Differs> differs{};
};
OutputBeside output_beside(const std::string& name, const std::vector<std::byte>& simulated,
                           const std::vector<std::byte>& device, const launch::Output& output);

// What no recorded GPU vouches for in programs, each once.
struct Unvouched {
  std::vector<std::string> instructions, approximations;
  std::map<std::string, std::string> targets;  // and what is known of them
};
Unvouched unvouched(const std::vector<const isa::Program*>& programs, const std::string& captures);

struct Beside {
  std::string device, driver;
  std::string fault;  // that the launch ended in on the GPU, or empty
  std::vector<OutputBeside> outputs;
  Unvouched unvouched;

  // A fault is a difference too, as a launch that was simulated to its end has none.
  bool holds() const;
};
// Runs `before`, the launch as it was before `after` was simulated, on the device. A launch that does not end
// within `limit` ends in a fault.
Beside run_beside(Device& device, launch::Launch before, const launch::LaunchFile& after,
                  const isa::Program& program, std::chrono::milliseconds limit, const std::string& captures);

}  // namespace bitwell::device
