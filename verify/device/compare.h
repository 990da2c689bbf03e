// Cases of a kernel on a GPU beside the simulator: every byte of every output.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "verify/device/driver.h"
#include "verify/suite/suite.h"

namespace bitwell::device {

struct ComparedCase {
  bool ran = false;               // on the GPU, to its end
  uint64_t bytes = 0;             // compared
  uint64_t differing = 0;         // of them
  std::string difference;         // the first, or a fault's text; empty: none
  std::vector<std::byte> result;  // on the GPU: the case's result
};

struct DeviceComparison {
  std::vector<ComparedCase> cases;  // as they were given
  bool usable = true;  // the device: after a hang or an illegal access it is no more, for this process
};

// Runs each case's launches on both, on all cores and the GPU one at a time; `schedule` is the simulator's
// for a case. After `limit` a launch counts as hung. Once the device is unusable the cases left do not run.
// Throws nothing for what a case does.
DeviceComparison compare_on_device(Device& device, const suite::Build& build,
                                   const std::vector<suite::PlannedCase>& cases,
                                   const std::function<run::Schedule(size_t)>& schedule,
                                   std::chrono::milliseconds limit);

}  // namespace bitwell::device
