// The operands of a bulk copy instruction, as its form leaves them; what Op::imm of those ops points to.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "model/isa/atomic_update.h"

namespace bitwell::isa {

enum class Space : uint16_t;

// An address whose row is one of the op's sources.
struct AddressOperand {
  size_t source = 0;
  bool narrow = false;
  uint64_t offset = 0;
  Space space{};
};

struct Transfer {
  bool to_shared = false;    // the destination is shared memory
  bool from_shared = false;  // the source is
  bool prefetch = false;
  AddressOperand to, from;     // of a tensor copy: the global side is the tensor map
  AddressOperand barrier;      // where to_shared
  uint32_t rank = 0;           // of a tensor copy; 0: not one
  size_t coordinates = 0;      // sources from here on
  size_t size = 0;             // source
  std::optional<size_t> mask;  // source, of a multicast
  std::optional<AtomicOperation> reduce;
  ElementType element{};
};

}  // namespace bitwell::isa
