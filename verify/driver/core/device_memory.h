// What a host program allocates, in the memory of the process's context: where it stands and who reaches it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "model/isa/context/context.h"

namespace bitwell::driver {

// Who reaches an allocation.
enum class Kind {
  device,     // kernels and copies
  host,       // the host too, at the same address: pinned
  managed,    // likewise
  registered  // the host's own, which kernels reach from now on
};

struct Block {
  std::string name;
  uint64_t address = 0, bytes = 0;
  Kind kind = Kind::device;
  unsigned flags = 0;
  uint64_t id = 0;              // among all that the process has had
  bool synchronous = false;     // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, which all is here
  void* mapped = nullptr;       // of host and managed memory, which is ours
  const void* owner = nullptr;  // the CUDA context that it is of
};

class DeviceMemory {
 public:
  explicit DeviceMemory(isa::Context& context) : context_(context) {}

  // Refused CUDA_ERROR_OUT_OF_MEMORY beyond `most` bytes: of the device's kind in all, of another each.
  Block& allocate(uint64_t bytes, Kind kind, unsigned flags, uint64_t most, const void* owner);
  Block& add_host(void* host, uint64_t bytes, unsigned flags, const void* owner);
  // Of a first address, of one of these kinds; a Mistake where it is none.
  void release(uint64_t address, bool host);
  void remove_host(const void* host);
  // All of a context that ends.
  void release_all(const void* owner);

  // The block that has the byte, or nullptr.
  Block* find(uint64_t address);
  // The same, or the .global variable of a module.
  std::optional<Block> seen(uint64_t address);
  // The one whose start or end is nearest.
  const Block* nearest(uint64_t address) const;

  // Between any two places, each of the host's or the device's. What was never written stays so. A Mistake
  // where a place leads out of its allocation.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  // Of a copy that has been made: what it brought the host of the device that nobody has written, or that
  // holds what comes of such; empty where there is none.
  std::string unwritten(uint64_t to, uint64_t from, uint64_t bytes);
  // So often a value of 1, 2 or 4 bytes.
  void fill(uint64_t to, uint32_t value, unsigned size, uint64_t count);

  uint64_t bytes() const { return bytes_; }                // of all kinds but what is registered
  uint64_t device_bytes() const { return device_bytes_; }  // that are no host's too
  const std::map<uint64_t, Block>& all() const { return all_; }

 private:
  // Whether it is the device's; a Mistake where that many bytes are not all there.
  bool on_device(uint64_t address, uint64_t bytes, const char* what);
  // `with_all` of its context, not by a call of its own.
  void drop(std::map<uint64_t, Block>::iterator at, bool with_all);
  isa::Context& context_;
  std::map<uint64_t, Block> all_;  // by address
  struct Gone {
    std::string name;
    bool with_all = false;
  };
  std::map<uint64_t, Gone> gone_;  // by address
  uint64_t bytes_ = 0, device_bytes_ = 0, count_ = 0;
};

}  // namespace bitwell::driver
