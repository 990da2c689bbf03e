// Launches whose buffers stay on the GPU, to be run again and again.
#pragma once
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "verify/device/driver.h"
#include "verify/suite/chain.h"

namespace bitwell::device {

class Resident {
 public:
  // Allocates and fills the buffers; buffers not defined start as 0xFF bytes, linked ones are one. `modules`:
  // one a launch, kept by the caller. Throws machine::Fault.
  Resident(const Device& device, std::span<const launch::Launch> launches,
           const std::vector<suite::Chain::Link>& links, const std::vector<Device::Module*>& modules);
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  // Puts every launch into the stream (a CUstream), in order. `programmatic`: the first and the last may
  // start before what precedes them is over (CUDA's programmatic dependent launch; their kernels wait where
  // they must).
  void enqueue(void* stream, bool programmatic = false) const;
  // Puts one of the launches into the stream.
  void enqueue_one(size_t launch, void* stream, bool programmatic) const;
  std::vector<std::byte> read(size_t launch, size_t buffer) const;
  uint64_t address(size_t launch, size_t buffer) const { return addresses_[launch][buffer]; }

 private:
  struct Prepared;
  const Device& device_;
  std::vector<launch::Launch> launches_;  // without their buffers' bytes
  std::vector<std::vector<uint64_t>> addresses_;
  std::vector<std::vector<size_t>> sizes_;
  std::deque<DeviceMemory> memory_;
  std::vector<std::shared_ptr<Prepared>> prepared_;
};

// Modules as the driver compiles them, each once.
class OnDeviceModules {
 public:
  explicit OnDeviceModules(Device& device) : device_(device) {}
  // InputError where the driver refuses it.
  Device::Module* operator()(const std::shared_ptr<const isa::Module>& module);
  std::vector<Device::Module*> operator()(std::span<const launch::Launch> launches);

 private:
  Device& device_;
  launch::Modules files_;
  std::map<std::shared_ptr<const isa::Module>, std::shared_ptr<Device::Module>> modules_;
};

// What an entry takes of a multiprocessor.
struct Resources {
  int registers;      // of a thread
  int static_shared;  // bytes
  int ctas;           // that fit at once
  double occupancy;   // share of the multiprocessor's warps
};
// Clusters of the launch's shape that the GPU runs at once.
int clusters_at_once(const Device& device, const Device::Module& module, const launch::Launch& launch);
Resources resources(const Device& device, const Device::Module& module, const launch::Launch& launch);

}  // namespace bitwell::device
