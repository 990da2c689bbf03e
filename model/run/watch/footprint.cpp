#include "model/run/watch/footprint.h"

#include "model/run/cta.h"

namespace bitwell::isa {

void add(Footprint& footprint, const Cta& cta) {
  const machine::TensorMemory::Used used = cta.tensor_memory.used();
  footprint.tensor.allocated |= used.allocated;
  footprint.tensor.written |= used.written;
  if (!cta.grid.options.checked) return;
  footprint.shared.resize(cta.shared.size());
  cta.shared.add_touched(footprint.shared);
}

}  // namespace bitwell::isa
