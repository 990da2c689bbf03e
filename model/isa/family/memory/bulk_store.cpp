// st.bulk: zeros from an address in a CTA's shared memory on.
#include <vector>

#include "model/isa/family/memory/memory.h"
#include "model/machine/where.h"
#include "model/run/port.h"

namespace bitwell::isa {

using machine::Fault;

Next store_zeros(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  context.require_defined(op.b, mask, "a size");
  const auto& use = op.as<AddressUse>();
  run::Cluster& cluster = context.cta.cluster;
  cluster.change();
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint64_t size = context.row<uint64_t>(op.b)[lane];
    if (size % 8 != 0 || size > kMostBulkZeros)
      throw Fault("st.bulk of " + std::to_string(size) + " bytes, it must be a multiple of 8 up to " +
                      std::to_string(kMostBulkZeros),
                  lane);
    const run::SharedPlace to = run::shared_place(use, op.a, context, lane, size, 1, true);
    if (to.address % 8 != 0)
      throw machine::Unsupported("st.bulk at shared address " + std::to_string(to.address) +
                                 ", not a multiple of 8: the manual does not say what happens");
    if (to.cta->mbarriers.overlapping(to.address, size) != nullptr)
      throw Fault("st.bulk writes over an mbarrier, which is live", lane);
    if (const machine::Agent* copy = cluster.filling(to.address, size))
      throw Fault("a write to " + cluster.shared_name(to.address) + ", which the copy of " +
                      machine::line_of(copy->place.kept()) + " is still to write",
                  lane);
    if (size == 0) continue;
    const std::vector<std::byte> zeros(size);
    run::Port(context, lane, use.order).write(to.cta->shared, to.address, size, zeros.data());
  }
  cluster.touch();
  return Next::advance;
}

}  // namespace bitwell::isa
