// Where addresses come from: an access that leaves the variable which its address derives from, or goes
// through the address of another thread's; and device code's malloc and free: all accesses to an object must
// be behind its free. What comes later is a fault of its own, for nothing ever gets the object's addresses
// again.
#include "model/hazard/flow/addresses.h"

#include <algorithm>
#include <bit>

namespace bitwell::hazard {

bool Addresses::asked(const machine::Access& a, Cluster& c) {
  if (heap_call(a, c)) return true;
  inside_its_object(a);
  follow_handed_over(a, c);
  return false;
}

// Whether it is the act of such a call.
bool Addresses::heap_call(const machine::Access& a, Cluster& c) {
  const Objects::Heap called = objects_->heap_at(a.ptx_line);
  if (called == Objects::Heap::none || a.kind != machine::AccessKind::write) return false;
  if (called == Objects::Heap::free) {
    freed(a, c);
    return true;
  }
  const Warp& w = clusters_.warp_of(c, a.cta, a.warp);
  const int lane = std::countr_zero(a.lanes);
  made_[a.addresses[static_cast<size_t>(lane)]] = {
      {a.ptx_line, Actor::thread, a.kind, a.order}, w.cta, w.number, lane};
  return true;
}

void Addresses::freed(const machine::Access& a, Cluster& c) {
  Warp& w = clusters_.warp_of(c, a.cta, a.warp);
  const auto lane = static_cast<uint32_t>(std::countr_zero(a.lanes));
  const uint64_t address = a.addresses[lane];
  const Site site{a.ptx_line, Actor::thread, a.kind, a.order};
  const Viewer viewer{w.known[lane].get(), &w, lane, kNow, &w.ended[lane]};
  const uint32_t record = ledger_.records.record({w.unit, w.time, ledger_.records.site(site)});
  Reach r{&viewer, 1, true, &site, record, a.lanes, 1, &w.lane(lane).seen.back(), nullptr};
  r.frees = true;
  const size_t known = ledger_.findings.size();
  if (launches_.overlaps()) launches_.behind(r, address, a.bytes);
  ledger_.global.each_touched(
      address, a.bytes, [&](Cell cell, uint64_t at, uint64_t size) { conflicts_.reach(r, cell, at, size); });
  for (size_t i = known; i < ledger_.findings.size(); ++i) {
    ledger_.findings[i].object = {"malloc", address, a.bytes, Object::Space::global};
    ledger_.findings[i].made = made_[address];
  }
}

namespace {

// Whether bytes at those addresses, and at any between them, are in it: all that lies between two places of
// an object is.
bool holds_all(const Object& object, uint64_t low, uint64_t high, uint64_t bytes) {
  const ObjectPlace first = object_place(low), last = object_place(high);
  return first.space == object.space && last.space == object.space && last.at - first.at == high - low &&
         object.holds(first.at, high - low + bytes);
}

}  // namespace

bool Addresses::asks_for(const machine::Access& a) const {
  if (objects_->nothing_at(a.ptx_line)) return false;
  if (objects_->heap_at(a.ptx_line) != Objects::Heap::none || !objects_->local_pointers()->none())
    return true;
  const Object* const object = object_of(a);
  if (object == nullptr) return false;
  if (a.high != 0) return !holds_all(*object, a.low, a.high, a.bytes);
  const auto [low, high] = std::minmax_element(a.addresses.begin(), a.addresses.end());
  return !holds_all(*object, *low, *high, a.bytes);
}

void Addresses::inside_its_object(const machine::Access& a) {
  const Object* const object = object_of(a);
  if (object == nullptr || a.mbarrier || a.rows != 0) return;
  const uint32_t lanes = a.operation != 0 ? 1 : a.lanes;
  uint64_t low = a.low, high = a.high;
  if (high == 0) {
    low = UINT64_MAX;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const uint64_t address = a.addresses[static_cast<size_t>(std::countr_zero(rest))];
      low = std::min(low, address);
      high = std::max(high, address);
    }
  }
  if (holds_all(*object, low, high, a.bytes)) return;
  for (uint32_t i = 0; i < machine::kLanes; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    const ObjectPlace place = object_place(a.addresses[i]);
    if (place.space != object->space || object->holds(place.at, a.bytes)) continue;
    const Party who{{a.ptx_line, a.operation == 0 ? Actor::thread : Actor::mbarrier_copy, a.kind, a.order},
                    a.cta,
                    a.warp,
                    a.operation == 0 ? static_cast<int>(i) : a.issuer};
    ledger_.findings.add(Kind::outside_object, who, who, a.addresses[i], a.bytes).object = *object;
  }
}

// An access through the address of another thread's local variable.
void Addresses::follow_handed_over(const machine::Access& a, Cluster& c) {
  if (a.rows != 0 || objects_->local_pointers()->none()) return;
  const Warp& w = clusters_.warp_of(c, a.cta, a.warp);
  handed_over_.access(a, c.number, w.unit, [&](uint32_t lane, const HandedOver::Maker& maker) {
    const Unit& unit = ledger_.units[maker.unit];
    const Party who{{maker.line, Actor::thread, machine::AccessKind::write, {}},
                    unit.cta,
                    unit.warp,
                    static_cast<int>(maker.lane)};
    const Party here{{a.ptx_line, Actor::thread, a.kind, a.order}, a.cta, a.warp, static_cast<int>(lane)};
    Finding& f = ledger_.findings.add(Kind::other_local, who, here, a.addresses[lane], a.bytes);
    if (maker.object) f.object = objects_->object(*maker.object);
  });
}

}  // namespace bitwell::hazard
