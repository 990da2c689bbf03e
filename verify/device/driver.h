// The GPU as a subject: the CUDA driver API, loaded at run time, so that one binary serves machines with and
// without.
#pragma once
#include <memory>
#include <string>

#include "verify/launch.h"

namespace bitwell::verify {

// A GPU and a context on it.
class Device {
 public:
  // The first GPU, or nullptr with the reason in `why`.
  static std::unique_ptr<Device> open(std::string& why);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const;    // "NVIDIA H200"
  const std::string& driver() const;  // "13.0": the CUDA version that the driver speaks
  int compute_capability() const;     // 90

  // Compiles PTX text with the driver's ptxas. Throws InputError with its log.
  class Module;
  std::shared_ptr<Module> load(const std::string& ptx);

  // Runs the launch; its buffers then hold what the kernel left. Buffers not defined start as 0xFF bytes.
  // Throws machine::Fault with the driver's error name; the context is then unusable.
  void run(Module& module, Launch& launch);

 private:
  struct Impl;
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bitwell::verify
