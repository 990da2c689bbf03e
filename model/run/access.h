// From addresses in a row to bytes on the host: bounds, alignment, permission.
#pragma once
#include <optional>

#include "model/isa/form/memory_use.h"
#include "model/run/context.h"

namespace bitwell::isa {

enum class AccessKind : uint8_t { read, write, read_write };

struct Access {
  std::byte* bytes[machine::kLanes];
  uint8_t* defined[machine::kLanes];  // nullptr: all defined; only where `tracked`
  bool tracked = false;               // some defined[i] is not nullptr
  uint32_t global = 0;                // lanes whose bytes are in global memory
  bool consecutive =
      false;  // all 32 lanes, lane i at bytes[0] + i * size: only bytes[0] and defined[0] are set
};

// Where each lane of `mask` finds its `size` bytes, at the addresses of row `row`. Faults on an address that
// was never written, is misaligned, lies outside every region of its space, or may not be written.
// `together`: lanes whose bytes follow each other may be told as one run (Access::consecutive).
void resolve(const AddressUse& use, uint32_t row, Context& context, uint32_t mask, size_t size,
             AccessKind kind, bool together, Access& out);

// Where a lane's bytes of an access stand, as the origin of a value that was never written there; `size` and
// `missing` are left to the caller.
machine::Origin access_origin(Context& context, const Access& access, int lane);
// The shared::cluster address of bytes that stand in the shared memory of the cluster; nothing elsewhere.
std::optional<uint64_t> shared_address(const Cluster& cluster, const std::byte* bytes);

// The bytes of one lane's generic address up to the end of its region (strings of printf and assert).
std::string read_string(Context& context, int lane, uint64_t address);
// `size` bytes at one lane's generic address, and whether all of them were written.
struct KnownBytes {
  const std::byte* bytes;
  bool written;
};
KnownBytes bytes_at(Context& context, int lane, uint64_t address, size_t size);

}  // namespace bitwell::isa
