#include "verify/driver/device_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "model/machine/memory.h"

namespace bitwell::driver {
namespace {

// As cudaMalloc aligns, and a whole page for what the host reaches too.
constexpr uint64_t kStep = 4096;

uint64_t up(uint64_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

}  // namespace

Allocation* DeviceMemory::allocate(uint64_t bytes, Reach reach) {
  if (bytes >= uint64_t{1} << 46) return nullptr;
  if (next_ == 0) next_ = machine::kBuffers;
  // No address is given twice, so that what a program keeps of freed memory leads nowhere.
  const uint64_t address = next_;
  const bool both = reach == Reach::both;
  void* const data =
      mmap(both ? reinterpret_cast<void*>(address) : nullptr, up(bytes), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (both ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (data == MAP_FAILED) return nullptr;
  next_ += up(bytes) + machine::kGuard;
  bytes_ += bytes;
  Allocation a;
  a.name = (both ? "host" : "device") + std::to_string(++count_);
  a.address = address;
  a.bytes = bytes;
  a.reach = reach;
  a.data = static_cast<std::byte*>(data);
  a.used = both;
  return &(all_[address] = std::move(a));
}

bool DeviceMemory::release(uint64_t address) {
  const auto at = all_.find(address);
  if (at == all_.end()) return false;
  munmap(at->second.data, up(at->second.bytes));
  bytes_ -= at->second.bytes;
  all_.erase(at);
  return true;
}

void DeviceMemory::leave_heap() {
  constexpr uint64_t most = machine::kGuard << 16;  // each object has a guard
  next_ = std::max(next_, machine::kBuffers) + up(most);
}

Allocation* DeviceMemory::find(uint64_t address, uint64_t bytes) {
  auto at = all_.upper_bound(address);
  if (at == all_.begin()) return nullptr;
  Allocation& a = (--at)->second;
  const uint64_t offset = address - a.address;
  return offset < a.bytes && bytes <= a.bytes - offset ? &a : nullptr;
}

}  // namespace bitwell::driver
