#include "model/machine/memory/heap.h"

#include "model/machine/memory/memory.h"
#include "model/machine/where.h"

namespace bitwell::machine {

namespace {

constexpr uint64_t kUnit = 16;

uint64_t taken(uint64_t size) { return (size + kUnit - 1) / kUnit * kUnit; }

}  // namespace

uint64_t Heap::allocate(uint64_t size, const Place& by) {
  if (size > limit || taken(size) > limit - used_) return 0;
  // Behind a larger boundary, so that nobody gets more alignment than is promised.
  const Region& region = memory_.allocate("malloc at " + where(by), size, kUnit);
  used_ += taken(size);
  objects_[region.base()] = {&region, size, by, ""};
  return region.base();
}

void Heap::free(uint64_t address, const Place& by) {
  const auto at = objects_.find(address);
  if (at == objects_.end())
    throw Fault("free of an address that malloc did not give, " + memory_.describe(address));
  Object& object = at->second;
  if (!object.freed_by.empty())
    throw Fault("a second free of what was freed at " + object.freed_by + ", " + memory_.describe(address));
  object.freed_by = where(by);
  used_ -= taken(object.size);
  memory_.retire(address, object.freed_by);
}

const Region* Heap::object(uint64_t address) const {
  const auto at = objects_.find(address);
  return at == objects_.end() || !at->second.freed_by.empty() ? nullptr : at->second.region;
}

Heap::Left Heap::left() const {
  Left out;
  for (const auto& [address, object] : objects_) {
    if (!object.freed_by.empty()) continue;
    if (out.objects == 0) out.first = object.by;
    ++out.objects;
    out.bytes += object.size;
  }
  return out;
}

Heap::Saved Heap::save() const {
  Saved out{limit, used_, {}};
  for (const auto& [address, object] : objects_)
    out.objects.push_back({address, object.size, object.by, object.freed_by});
  return out;
}

void Heap::restore(const Saved& saved) {
  limit = saved.limit;
  used_ = saved.used;
  objects_.clear();
  for (const Saved::Object& o : saved.objects)
    objects_[o.address] = {o.freed_by.empty() ? memory_.find(o.address, o.size) : nullptr, o.size, o.by,
                           o.freed_by};
}

Heap& Memory::heap() {
  if (heap_ == nullptr) heap_ = std::make_shared<Heap>(*this);
  return *heap_;
}

}  // namespace bitwell::machine
