// From addresses in a row to bytes on the host: bounds, alignment, permission.
#pragma once
#include <optional>

#include "model/isa/form/memory_use.h"
#include "model/machine/event.h"
#include "model/run/context.h"

namespace bitwell::run {

using machine::AccessKind;

// The bytes of an access that was told to those who watch; its lanes' instruction alone may reach them.
struct LaneBytes {
  std::byte* bytes[machine::kLanes];
  uint8_t* defined[machine::kLanes];  // nullptr: all defined; only where `tracked`
  bool tracked = false;               // some defined[i] is not nullptr
  uint32_t global = 0;                // lanes whose bytes are in global memory
  bool consecutive =
      false;  // all 32 lanes, lane i at bytes[0] + i * size: only bytes[0] and defined[0] are set
};

// Where each lane of `mask` finds its `size` bytes, at the addresses of row `row`. Faults on an address that
// was never written, is misaligned, lies outside every region of its space, or may not be written.
// `as_one`: lanes whose bytes follow each other may be told as one run (LaneBytes::consecutive). `store`:
// of a MemoryUse, which stores its sources there. `claimed`: what is reached in global memory is claimed
// where the cluster runs beside others; else that is the caller's.
void resolve(const isa::AddressUse& use, uint32_t row, Context& context, uint32_t mask, size_t size,
             AccessKind kind, bool as_one, LaneBytes& out, const isa::Op* store = nullptr,
             bool claimed = true);

// Whether those who watch need not be told of a read by lanes of the warp (Parallel::passes_over), which has
// been counted then.
bool passed_over(const machine::Order& order, const machine::Region& at, const Context& context);

// Those who watch are told of all 32 lanes, whose addresses lie `apart` bytes from each other; `bytes` and
// `defined`: those of the first, likewise apart.
void tell_lanes(const isa::AddressUse& use, AccessKind kind, Context& context, uint64_t first, uint64_t apart,
                size_t size, std::byte* bytes, uint8_t* defined, const isa::Op* store);

// Where a lane's bytes of an access stand, as the origin of a value that was never written there; `size` and
// `missing` are left to the caller.
machine::Origin access_origin(Context& context, const LaneBytes& access, int lane);
// The shared::cluster address of bytes that stand in the shared memory of the cluster; nothing elsewhere.
std::optional<uint64_t> shared_address(const Cluster& cluster, const std::byte* bytes);

// The bytes of one lane's generic address up to a zero (strings of printf and assert). Faults on one that was
// never written.
std::string read_string(Context& context, int lane, uint64_t address);
// Copies `size` bytes from one lane's generic address; returns whether all of them were written.
bool read_generic(Context& context, int lane, uint64_t address, size_t size, void* to);

}  // namespace bitwell::run
