#include "model/machine/heap.h"

#include "model/machine/failure.h"
#include "model/machine/memory.h"

namespace bitwell::machine {

namespace {

constexpr uint64_t kUnit = 16;

uint64_t taken(uint64_t size) { return (size + kUnit - 1) / kUnit * kUnit; }

}  // namespace

uint64_t Heap::allocate(uint64_t size, const std::string& by) {
  if (size > limit || taken(size) > limit - used_) return 0;
  // Behind a larger boundary, so that nobody gets more alignment than is promised.
  const Region& region = memory_.allocate(by, size, kUnit);
  used_ += taken(size);
  objects_[region.base()] = {size, ""};
  return region.base();
}

void Heap::free(uint64_t address, const std::string& by) {
  const auto at = objects_.find(address);
  if (at == objects_.end())
    throw Fault("free of an address that malloc did not give, " + memory_.describe(address));
  Object& object = at->second;
  if (!object.freed_by.empty())
    throw Fault("a second free of what was freed at " + object.freed_by + ", " + memory_.describe(address));
  object.freed_by = by;
  used_ -= taken(object.size);
  memory_.retire(address, by);
}

Heap& Memory::heap() {
  if (heap_ == nullptr) heap_ = std::make_shared<Heap>(*this);
  return *heap_;
}

}  // namespace bitwell::machine
