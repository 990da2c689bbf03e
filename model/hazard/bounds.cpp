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

// An access through the address of another thread's local variable.
void Checker::follow_handed_over(const machine::Access& a, Cluster& c) {
  if (a.rows != 0 || objects_->local_pointers()->none()) return;
  const Warp& w = warp_of(c, a.cta, a.warp);
  handed_over_->access(a, c.number, w.unit, [&](uint32_t lane, const HandedOver::Maker& maker) {
    const UnitInfo& unit = units_[maker.unit];
    const Party who{{maker.line, Actor::thread, machine::AccessKind::write, {}},
                    unit.cta,
                    unit.warp,
                    static_cast<int>(maker.lane)};
    const Party here{{a.ptx_line, Actor::thread, a.kind, a.order}, a.cta, a.warp, static_cast<int>(lane)};
    Finding& f = found(Kind::other_local, who, here, a.addresses[lane], a.bytes);
    if (maker.object) f.object = objects_->object(*maker.object);
  });
}

}  // namespace bitwell::hazard
