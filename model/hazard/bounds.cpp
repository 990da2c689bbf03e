// An access to shared memory that leaves the variable which its address derives from.
#include "model/hazard/checker.h"
#include "model/machine/memory.h"

namespace bitwell::hazard {

void Checker::inside_its_object(const machine::Access& a) {
  const Object* const object =
      a.kind == machine::AccessKind::read ? objects_->read_at(a.ptx_line) : objects_->written_at(a.ptx_line);
  if (object == nullptr || a.mbarrier || a.rows != 0) return;
  const uint32_t lanes = a.operation != 0 ? 1 : a.lanes;
  for (uint32_t i = 0; i < machine::kLanes; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    const uint64_t place = a.addresses[i] - machine::kSharedWindow;
    if (place >= machine::kWindowSize) continue;
    const uint64_t offset = place & ((uint64_t{1} << machine::kRankShift) - 1);
    const bool in =
        offset >= object->offset && (object->size == 0 || offset + a.bytes <= object->offset + object->size);
    if (in) continue;
    const Party who{{a.ptx_line, a.operation == 0 ? Actor::thread : Actor::mbarrier_copy, a.kind, a.order},
                    a.cta,
                    a.warp,
                    a.operation == 0 ? static_cast<int>(i) : a.issuer};
    found(Kind::outside_object, who, who, a.addresses[i], a.bytes).object = *object;
  }
}

}  // namespace bitwell::hazard
