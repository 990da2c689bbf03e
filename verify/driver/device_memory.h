// The memory that a host program allocates on the device: where the kernels find it, and what stands in it
// now.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace bitwell::driver {

// Who reaches an allocation.
enum class Reach {
  device,  // kernels and copies
  both     // the host too, at the same address: pinned and managed memory
};

struct Allocation {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  Reach reach = Reach::device;
  std::byte* data = nullptr;  // what stands there, in the host's memory
  bool used = false;          // anything was ever put there; else it is all 0
  std::string file;           // that holds what stands there; empty where none does
};

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // nullptr where there is no room.
  Allocation* allocate(uint64_t bytes, Reach reach);
  // Of an allocation's first address. False where there is none.
  bool release(uint64_t address);
  // The allocation that has `bytes` bytes at `address`.
  Allocation* find(uint64_t address, uint64_t bytes = 1);

  // Nothing that is allocated later stands where device code's malloc may have given something until now.
  void leave_heap();

  // By rising address.
  std::map<uint64_t, Allocation>& all() { return all_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::map<uint64_t, Allocation> all_;
  uint64_t next_ = 0;
  uint64_t bytes_ = 0;
  int count_ = 0;
};

}  // namespace bitwell::driver
