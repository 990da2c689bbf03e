// Device code's malloc and free: all accesses to an object must be behind its free. What comes later is a
// fault of its own, for nothing ever gets the object's addresses again.
#include <bit>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

// Whether it is the act of such a call.
bool Checker::heap_call(const machine::Access& a, Cluster& c) {
  const Objects::Heap called = objects_->heap_at(a.ptx_line);
  if (called == Objects::Heap::none || a.kind != machine::AccessKind::write) return false;
  if (called == Objects::Heap::free) {
    freed(a, c);
    return true;
  }
  const Warp& w = warp_of(c, a.cta, a.warp);
  const int lane = std::countr_zero(a.lanes);
  made_[a.addresses[static_cast<size_t>(lane)]] = {
      {a.ptx_line, Actor::thread, a.kind, a.order}, w.cta, w.number, lane};
  return true;
}

void Checker::freed(const machine::Access& a, Cluster& c) {
  Warp& w = warp_of(c, a.cta, a.warp);
  const auto lane = static_cast<uint32_t>(std::countr_zero(a.lanes));
  const uint64_t address = a.addresses[lane];
  const Site site{a.ptx_line, Actor::thread, a.kind, a.order};
  const Viewer viewer{w.lanes[lane].known.get(), &w, lane, kNow, &w.lanes[lane].ended};
  const uint32_t record = records_.record({w.unit, w.time, records_.site(site)});
  Reach r{&viewer, 1, true, &site, record, a.lanes, 1, &w.lanes[lane].seen, nullptr};
  r.frees = true;
  const size_t known = findings_.size();
  if (before_ != nullptr) behind_launches_before(r, address, a.bytes);
  global_.each_touched(address, a.bytes,
                       [&](Cell cell, uint64_t at, uint64_t size) { reach(r, cell, at, size); });
  for (size_t i = known; i < findings_.size(); ++i) {
    findings_[i].object = {"malloc", address, a.bytes, Object::Space::global};
    findings_[i].made = made_[address];
  }
}

}  // namespace bitwell::hazard
