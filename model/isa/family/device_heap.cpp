#include "model/isa/family/device_heap.h"

#include "model/isa/family/builtin.h"
#include "model/machine/heap.h"

namespace bitwell::isa {

void heap_call(const CallSite& site, Context& context, uint32_t mask) {
  const bool allocates = site.kind == CallSite::Callee::malloc;
  machine::Heap& heap = context.cta.grid.global.heap();
  const Line& line = context.cta.line(context.split());
  const std::string at =
      "PTX line " + std::to_string(line.ptx) + (line.source.empty() ? "" : " (" + line.source + ")");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const auto first = builtin_argument<uint64_t>(context, site, 0, lane);
    if (!allocates) {
      if (first == 0) continue;
      try {
        heap.free(first, at);
      } catch (const machine::Fault& fault) {
        throw machine::Fault(fault.what(), lane);
      }
      continue;
    }
    if (first == 0) throw machine::Unsupported("malloc of 0 bytes, of which CUDA does not say what it gives");
    const uint64_t address = heap.allocate(first, "malloc at " + at);
    if (address == 0) context.split().polls(true);  // it may ask again until others have freed
    builtin_result(context, site, "malloc", lane, address);
  }
  context.cta.cluster.change();
  context.cta.cluster.touch();
}

}  // namespace bitwell::isa
