// A device whose costs are others than its table says: what that would change is another run of the model.
#pragma once
#include <memory>
#include <vector>

#include "model/timing/cost.h"

namespace bitwell::timing {

enum class Part : uint8_t {
  dram,        // its bandwidth
  l2,          // likewise
  latency,     // of copies, loads and atomics that leave the multiprocessor
  tensor,      // between products
  arithmetic,  // instructions that compute in registers
  beside,      // what they take longer while wgmmas are under way
  barriers,    // mbarriers, bar.sync, barriers of clusters, fences
  launch
};

class Changed {
 public:
  // What that part costs, times `factor`; a bandwidth is divided by it.
  Changed(const Device& device, Part part, double factor);
  // Every cost somewhere between what its row has as lowest and highest.
  Changed(const Device& device, uint64_t seed);
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;

  const Device& device() const { return device_; }

 private:
  void take(const Device& device);
  std::vector<Cost> costs_;
  std::vector<CopyCost> copies_, tensor_copies_;
  std::vector<OpCost> ops_;
  std::vector<WarpMmaCost> mmas_;
  Device device_;
};

}  // namespace bitwell::timing
