// What an instruction says of an access to memory: where, how much, in which order (PTX ISA 9.0, 5.1 and 8).
#pragma once
#include "model/isa/form/op.h"
#include "model/machine/order.h"

namespace bitwell::isa {

// `shared` is the executing CTA's own (shared::cta), `cluster` that of any CTA of the cluster.
// No address leads to `tensor`: instructions of tensor memory alone name it.
enum class Space : uint8_t { generic, global, shared, local, param, constant, cluster, tensor };

using machine::Order;
using machine::Proxy;
using machine::Scope;
using machine::Semantics;

// An address in a row.
struct AddressUse : Payload {
  Space space = Space::generic;
  bool narrow = false;  // the row has 32-bit lanes
  uint64_t offset = 0;  // added to each lane's address
  Order order;
};

// ld, st, atom and what else moves elements between a lane's registers and memory.
struct MemoryUse : AddressUse {
  uint16_t size = 0;           // bytes of one element
  uint16_t count = 1;          // elements
  bool is_signed = false;      // loads extend by sign
  uint8_t register_bytes = 0;  // of each element's register
};

}  // namespace bitwell::isa
