// The common case of access.h, which is most of what kernels load and store: 32 lanes that reach a run of
// bytes. One compare proves their addresses. Inline, as calls would be half of its cost.
#pragma once
#include "model/isa/form/memory_use.h"
#include "model/isa/lanes/row_moves.h"
#include "model/run/access.h"
#include "model/run/context.h"
#include "model/run/parallel/claim.h"
#include "model/run/turns/chooser.h"

namespace bitwell::run {

// The bytes of all 32 lanes.
struct RowBytes {
  std::byte* bytes = nullptr;  // of lane 0
  uint8_t* defined = nullptr;  // nullptr: all defined
  bool same = false;           // of every other lane too; else they follow
  bool global = false;         // in global memory
  const machine::Region* region = nullptr;
};

// Where `address` and what follows lies, if that is simply said; it becomes the region's own.
[[gnu::always_inline]] inline machine::Region* row_region(const isa::AddressUse& use, Cta& cta,
                                                          uint64_t& address, uint64_t length, bool& global) {
  switch (use.space) {
    case isa::Space::generic:
      if (address - machine::kSharedWindow < machine::kWindowSize) {
        address -= machine::kSharedWindow;
        return &cta.shared;
      }
      [[fallthrough]];
    case isa::Space::global: {
      if (use.narrow || !machine::is_global(address)) return nullptr;
      global = true;
      const auto holds = [&](const machine::Region* r) {
        return r != nullptr && r->contains(address, length);
      };
      if (holds(cta.last_global)) return cta.last_global;
      machine::Region* const found =
          holds(cta.other_global) ? cta.other_global : cta.grid.global.find(address, length);
      if (found == nullptr) return nullptr;
      cta.other_global = cta.last_global;
      return cta.last_global = found;
    }
    case isa::Space::shared:
    case isa::Space::cluster: return &cta.shared;
    case isa::Space::param: return &cta.grid.parameters;
    default: return nullptr;
  }
}

// As resolve() of access.h, of a read or a write by all 32 lanes; but nobody is told: tell_row() does that.
// False, with nothing done, where it is not the common case; resolve() then says what it is.
template <AccessKind kind>
[[gnu::always_inline]] inline bool resolve_row(const isa::AddressUse& use, uint32_t row, Context& context,
                                               size_t size, RowBytes& out) {
  Cta& cta = context.cta;
  if (context.checked && context.defined_at(row) != ~0u) return false;
  // Who follows values is told lane by lane.
  if (cta.cluster.accesses_watched() && context.follow() != nullptr) [[unlikely]]
    return false;
  static const isa::RowMoves& moves = isa::row_moves();
  uint64_t first = 0;
  isa::Apart apart{};
  if (use.narrow) {
    const auto* const addresses = context.row<uint32_t>(row);
    first = static_cast<uint32_t>(addresses[0] + use.offset);
    apart = moves.narrow(addresses, size);
  } else {
    const auto* const addresses = context.row<uint64_t>(row);
    first = addresses[0] + use.offset;
    apart = moves.wide(addresses, size);
  }
  out.same = apart == isa::Apart::nothing;
  if (apart == isa::Apart::otherwise || (out.same && kind != AccessKind::read)) return false;
  if (context.checked && (first & (size - 1)) != 0) return false;
  const uint64_t length = out.same ? size : size * machine::kLanes;
  machine::Region* const region = row_region(use, cta, first, length, out.global);
  if (region == nullptr || !region->contains(first, length)) return false;
  if (region->read_only && kind != AccessKind::read) return false;
  if (region == &cta.shared && context.checked && cta.mbarriers.overlapping(first, length) != nullptr)
    return false;
  if (const Parallel* const parallel = cta.grid.parallel; parallel != nullptr && out.global) [[unlikely]]
    if (kind != AccessKind::read || !parallel->claims.read_at_once(*region))
      claim(kind, *region, first, length, parallel->claims);
  const uint64_t offset = first - region->base();
  out.region = region;
  out.bytes = region->raw_bytes() + offset;
  out.defined = region->raw_defined() == nullptr ? nullptr : region->raw_defined() + offset;
  return true;
}

// The generic address of lane 0's bytes.
inline uint64_t generic_address(const Context& context, const RowBytes& row) {
  const machine::Region& region = *row.region;
  const uint64_t window = &region == &context.cta.shared            ? machine::kSharedWindow
                          : &region == &context.cta.grid.parameters ? machine::kParamWindow
                                                                    : 0;
  return window + region.base() + static_cast<uint64_t>(row.bytes - region.raw_bytes());
}

// Of an access that is made so: whoever keeps the time is to know of it.
inline void note_row(AccessKind kind, Context& context, const RowBytes& row, size_t size) {
  const Took* const turn = context.cta.cluster.counted();
  if (turn == nullptr || turn->reaches == nullptr) [[likely]]
    return;
  turn->reaches->row(kind, row.same, generic_address(context, row), size);
}

// And those who watch; of a write before it is done. `store`: likewise as resolve() has it.
inline void tell_row(const isa::AddressUse& use, AccessKind kind, Context& context, const RowBytes& row,
                     size_t size, const isa::Op* store = nullptr) {
  if (!context.cta.cluster.accesses_watched()) [[likely]]
    return;
  if (kind == AccessKind::read && row.region != &context.cta.shared &&
      passed_over(use.order, *row.region, context))
    return;
  tell_lanes(use, kind, context, generic_address(context, row), row.same ? 0 : size, size, row.bytes,
             row.defined, store);
}

}  // namespace bitwell::run
