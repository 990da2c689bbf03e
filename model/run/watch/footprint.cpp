#include "model/run/watch/footprint.h"

#include <algorithm>

#include "model/run/cta.h"

namespace bitwell::run {

void add(Footprint& footprint, const Cta& cta) {
  const machine::TensorMemory::Used used = cta.tensor_memory.used();
  footprint.tensor.allocated |= used.allocated;
  footprint.tensor.written |= used.written;
  if (!cta.grid.options.checked) return;
  footprint.shared.resize(cta.shared.size());
  cta.shared.add_touched(footprint.shared);
}

void merge(Footprint& footprint, const Footprint& others) {
  footprint.tensor.allocated |= others.tensor.allocated;
  footprint.tensor.written |= others.tensor.written;
  footprint.shared.resize(std::max(footprint.shared.size(), others.shared.size()));
  for (size_t i = 0; i < others.shared.size(); ++i) footprint.shared[i] |= others.shared[i];
}

}  // namespace bitwell::run
