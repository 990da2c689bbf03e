#include "model/isa/family/control/device_heap.h"

#include "model/isa/family/control/builtin.h"
#include "model/machine/event.h"
#include "model/machine/memory/heap.h"

namespace bitwell::isa {
namespace {

void tell(const run::Context& context, int lane, const machine::Region& object, const machine::Place& place) {
  const run::Cluster& cluster = context.cta.cluster;
  if (!cluster.accesses_watched()) return;
  uint64_t addresses[machine::kLanes]{};
  addresses[lane] = object.base();
  cluster.tell_access(cluster.event_of<machine::Access>(
      machine::AccessKind::write, machine::Order{}, place.cta, context.warp.index, 1u << lane, uint64_t{0},
      cluster.time(), place.ptx_line, std::span<const uint64_t>(addresses), object.size()));
}

void free_object(const run::Context& context, int lane, uint64_t address, const machine::Place& place) {
  if (address == 0) return;
  machine::Heap& heap = context.cta.grid.global.heap();
  if (const machine::Region* object = heap.object(address); object != nullptr)
    tell(context, lane, *object, place);
  try {
    heap.free(address, place);
  } catch (const machine::Fault& fault) {
    throw machine::Fault(fault.what(), lane);
  }
}

// Returns its address, or 0.
uint64_t allocate_object(run::Context& context, int lane, uint64_t size, const machine::Place& place) {
  if (size == 0) throw machine::Unsupported("malloc of 0 bytes, of which CUDA does not say what it gives");
  machine::Heap& heap = context.cta.grid.global.heap();
  const uint64_t address = heap.allocate(size, place);
  if (address == 0)
    context.split().polls(true);  // it may ask again until others have freed
  else
    tell(context, lane, *heap.object(address), place);
  return address;
}

}  // namespace

void heap_call(const CallSite& site, run::Context& context, uint32_t mask) {
  const bool allocates = site.kind == CallSite::Callee::malloc;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const machine::Place place = context.cta.place(context.warp, context.split(), lane);
    const auto first = builtin_argument<uint64_t>(context, site, 0, lane);
    if (allocates)
      builtin_result(context, site, "malloc", lane, allocate_object(context, lane, first, place));
    else
      free_object(context, lane, first, place);
  }
  context.cta.cluster.change();
  context.cta.cluster.touch();
}

}  // namespace bitwell::isa
