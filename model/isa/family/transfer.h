// The operands of a copy instruction, as its check leaves them; rows are in the op's sources.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "model/isa/family/atomic_update.h"
#include "model/isa/form/memory_use.h"

namespace bitwell::isa {

// An address whose row is one of the op's sources.
struct AddressOperand {
  size_t source = 0;
  bool narrow = false;
  uint64_t offset = 0;
  Space space{};
};

struct Transfer : Payload {
  bool to_shared = false;    // the destination is shared memory
  bool from_shared = false;  // the source is
  bool prefetch = false;
  AddressOperand to, from;  // of a tensor copy: the global side is the tensor map
  AddressOperand barrier;   // where to_shared
  uint32_t rank = 0;        // of a tensor copy; 0: not one
  uint32_t rows = 0;        // of tile::gather4 and tile::scatter4: rows that are named one by one
  size_t coordinates = 0;   // sources from here on
  bool im2col = false;
  std::optional<size_t> offsets;  // of im2col with offsets: sources from here on
  size_t size = 0;                // source
  std::optional<size_t> mask;     // source, of a multicast
  bool pair = false;  // .cta_group::2: the barrier may be in the other CTA of the destination's pair
  std::optional<AtomicOperation> reduce;
  ElementType element{};
  Order order;
};

// cp.async, st.async, red.async: a few bytes a lane.
struct SmallTransfer : Transfer {
  uint32_t bytes = 0;    // of an element
  uint32_t count = 1;    // elements
  bool ignores = false;  // the mask is a predicate: the source is not read
};

// cp.async.commit_group, wait_group, wait_all and their .bulk forms.
struct CopyGroups : Payload {
  bool bulk = false;
  bool read_only = false;  // only the sources' reading is waited for
  bool every = false;      // copies that no group holds yet, too
  uint64_t pending = 0;    // groups that may be left
};

struct CopyArrive : AddressUse {
  bool increments = true;  // no .noinc: the arrival is one that the barrier did not count
};

Next bulk_copy(const Op& op, run::Context& context, uint32_t mask);     // Transfer
Next async_copy(const Op& op, run::Context& context, uint32_t mask);    // SmallTransfer
Next remote_store(const Op& op, run::Context& context, uint32_t mask);  // SmallTransfer
Next copy_commit(const Op& op, run::Context& context, uint32_t mask);   // CopyGroups
Next copy_wait(const Op& op, run::Context& context, uint32_t mask);     // CopyGroups
Next copy_arrive(const Op& op, run::Context& context, uint32_t mask);   // CopyArrive; a the address

}  // namespace bitwell::isa
