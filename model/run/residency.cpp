#include "model/run/residency.h"

#include <algorithm>

#include "model/machine/arch.h"

namespace bitwell::isa {

Residency residency(const Program& program, const Shape& shape) {
  const machine::Arch& arch = machine::arch(program.sm);
  // A warp takes its lanes whether all are threads or not.
  const uint32_t threads = (shape.block[0] * shape.block[1] * shape.block[2] + 31) / 32 * 32;
  const uint64_t shared = program.dynamic_shared + shape.dynamic_shared + arch.sm_shared - arch.shared;
  Residency out;
  out.ctas_per_sm = arch.sm_ctas;
  out.limited_by = Scarce::ctas;
  const auto limit = [&](uint64_t ctas, Scarce by) {
    if (ctas >= out.ctas_per_sm) return;
    out.ctas_per_sm = static_cast<uint32_t>(ctas);
    out.limited_by = by;
  };
  limit(arch.sm_threads / threads, Scarce::threads);
  if (shared != 0) limit(arch.sm_shared / shared, Scarce::shared_memory);
  const std::array<uint32_t, 3> cluster = cluster_of(program, shape);
  const uint64_t size = uint64_t{cluster[0]} * cluster[1] * cluster[2];
  out.all = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2] / size;
  out.clusters = std::min(uint64_t{out.ctas_per_sm} * arch.device.sms / size, out.all);
  return out;
}

}  // namespace bitwell::isa
