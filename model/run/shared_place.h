// Addresses that must lie in shared memory, of this CTA or another of the cluster.
#pragma once
#include "model/isa/form/memory_use.h"
#include "model/run/context.h"

namespace bitwell::run {

struct SharedPlace {
  Cta* cta;
  uint64_t address;  // shared::cluster
};

// What an instruction of .shared makes of a 64-bit register that holds a generic address of shared memory:
// ptxas gives it the low half, which is the address in shared memory (STS, LDS, SYNCS, UBLKCP). That is
// noted.
uint64_t low_half(Context& context, int lane, uint64_t generic);

// The place of `size` bytes at one lane's `address`, which counts in `space` (shared, cluster or generic).
// Faults if it lies elsewhere, out of bounds, in a CTA that has ended, or off a multiple of `align`.
SharedPlace shared_place(Context& context, int lane, uint64_t address, isa::Space space, uint64_t size,
                         uint64_t align);
// The same for the address that a lane of row `row` holds; `own`: it must be this CTA's.
SharedPlace shared_place(const isa::AddressUse& use, uint32_t row, Context& context, int lane, uint64_t size,
                         uint64_t align, bool own = false);

}  // namespace bitwell::run
