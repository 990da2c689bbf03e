// An access that leaves the variable which its address derives from.
#include "model/hazard/checker.h"

namespace bitwell::hazard {

void Checker::inside_its_object(const machine::Access& a) {
  const Object* const object =
      a.kind == machine::AccessKind::read ? objects_->read_at(a.ptx_line) : objects_->written_at(a.ptx_line);
  if (object == nullptr || a.mbarrier || a.rows != 0) return;
  const uint32_t lanes = a.operation != 0 ? 1 : a.lanes;
  for (uint32_t i = 0; i < machine::kLanes; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    const ObjectPlace place = object_place(a.addresses[i]);
    if (place.space != object->space || object->holds(place.at, a.bytes)) continue;
    const Party who{{a.ptx_line, a.operation == 0 ? Actor::thread : Actor::mbarrier_copy, a.kind, a.order},
                    a.cta,
                    a.warp,
                    a.operation == 0 ? static_cast<int>(i) : a.issuer};
    found(Kind::outside_object, who, who, a.addresses[i], a.bytes).object = *object;
  }
}

}  // namespace bitwell::hazard
