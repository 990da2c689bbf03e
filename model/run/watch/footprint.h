// What a launch touched of what its CTAs reserve.
#pragma once
#include <cstdint>
#include <vector>

#include "model/machine/tensor/tensor_memory.h"

namespace bitwell::run {

class Cta;

// Of all CTAs together, as each reserves the same: what none of them ever touched is reserved for nothing.
struct Footprint {
  // By byte of shared memory: 1 where it was written, by a warp, an mbarrier or a copy, or a copy to it was
  // under way. Empty where nothing is reserved, and in runs without checks, which do not follow that.
  std::vector<uint8_t> shared;
  machine::TensorMemory::Used tensor;  // columns
};

// For a CTA at its end.
void add(Footprint& footprint, const Cta& cta);
// What other CTAs of the launch touched.
void merge(Footprint& footprint, const Footprint& others);

}  // namespace bitwell::run
