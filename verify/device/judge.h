// A suite's cases on the GPU that is there, every output byte beside the simulator's.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "verify/verdict/judge.h"

namespace bitwell::device {

// What a GPU gave for one kernel and architecture.
struct OnDevice {
  std::string kernel;                // "gemv_naive"
  std::string arch;                  // "sm_90a"
  bool here = false;                 // the GPU runs PTX for that
  uint64_t cases = 0, left_out = 0;  // that ran to their end; behind one that made the device unusable
  uint64_t bytes = 0, differing = 0;
  uint64_t wrong = 0;   // cases that differ, hang, or that the device refuses or faults in
  std::string first{};  // of those: "case: byte 7 of 'c' is 0x3c here, 0x3d on the GPU"
  bool holds() const { return wrong == 0 && left_out == 0; }
};
struct DeviceReport {
  std::string device, driver;
  std::vector<OnDevice> kernels;  // in the suites' order
};

// Runs the plan's kernels of the suites in processes of their own, so that one that breaks the device's
// context does not end the rest. `captures`: a folder where the digests of what the GPU gave are written, a
// file a suite, .part of one that is not whole; or empty. Throws InputError where there is no usable GPU, and
// as judge does. The caller has one thread and has no GPU open.
DeviceReport judge_on_device(const std::vector<const suite::Suite*>& suites, const verdict::Plan& plan,
                             std::chrono::milliseconds limit, const std::string& captures,
                             const std::function<void(const std::string& kernel)>& progress);

}  // namespace bitwell::device
