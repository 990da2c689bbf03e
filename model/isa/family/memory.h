// Loads, stores, atomics and fences: what their checks leave to their effects.
#pragma once
#include "model/isa/family/atomic_update.h"
#include "model/isa/form/memory_use.h"

namespace bitwell::isa {

Next load(const Op& op, Context& context, uint32_t mask);   // MemoryUse; results
Next store(const Op& op, Context& context, uint32_t mask);  // MemoryUse; sources

struct AtomicUse : MemoryUse {
  AtomicOperation operation{};
  ElementType type{};
};
// Read-modify-write of one element a lane, lanes in order: old to d, operands b and c.
Next atomic(const Op& op, Context& context, uint32_t mask);

struct FenceUse : Payload {
  Order order;
};

}  // namespace bitwell::isa
