// What kernels are timed beside, and how: launches of kernels/peer, and inputs that take turns so that caches
// are cold.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "verify/device/resident.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"

namespace bitwell::gpu {

// kernels/peer/dequantise: codes and blocked scales to fp16. Buffer 2 is the result.
launch::Launch dequantise(const suite::Nvfp4Operand& operand, const std::string& kernels);
// kernels/peer/bandwidth: reads, or copies, `bytes` (rounded down to 16) with so many CTAs of 512.
launch::Launch read_all(size_t bytes, const std::string& kernels, int ctas);
launch::Launch copy_all(size_t bytes, const std::string& kernels, int ctas);

// Copies of launches and their buffers, as many as make the inputs several times the L2.
class Cold {
 public:
  // Sets for inputs of so many bytes, between 2 and `most`.
  static size_t sets(size_t input_bytes, size_t most);
  Cold(device::Device& device, device::OnDeviceModules& modules, std::span<const launch::Launch> launches,
       const std::vector<suite::Chain::Link>& links, size_t sets);

  const device::Resident& operator[](size_t i) const { return *sets_[i % sets_.size()]; }
  // Repetitions that give every set its turn.
  size_t repetitions() const { return std::max<size_t>(sets_.size(), 16); }
  // Median microseconds of one repetition, by graph replay (see time_on).
  double time(size_t replays, bool programmatic = false) const;

 private:
  device::Device& device_;
  std::vector<std::unique_ptr<device::Resident>> sets_;
};

}  // namespace bitwell::gpu
