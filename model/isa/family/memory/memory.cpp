// Loads, stores and atomics.
#include "model/isa/family/memory/memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "model/machine/where.h"
#include "model/run/access.h"
#include "model/run/parallel/parallel.h"
#include "model/run/port.h"
#include "model/run/row_access.h"
#include "model/run/watch/definedness.h"
#include "model/run/watch/follow.h"
#include "model/run/watch/unsure.h"

namespace bitwell::isa {
namespace {

using machine::Fault;
using machine::kLanes;

__extension__ typedef unsigned __int128 u128;

// Lane pointers of an access that resolve() left as one run of bytes.
void spread(run::LaneBytes& access, size_t size) {
  if (!access.consecutive) return;
  for (size_t i = 1; i < kLanes; ++i) {
    access.bytes[i] = access.bytes[0] + i * size;
    if (access.tracked) access.defined[i] = access.defined[0] + i * size;
  }
}

// One element a lane from memory into a row: S as stored, D as the register holds it.
template <class S, class D>
void copy_in(const run::LaneBytes& access, D* d, size_t offset, uint32_t mask) {
  if (mask == ~0u) {
    for (int i = 0; i < kLanes; ++i) {
      S v;
      std::memcpy(&v, access.bytes[i] + offset, sizeof v);
      d[i] = static_cast<D>(v);
    }
  } else {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0) {
        S v;
        std::memcpy(&v, access.bytes[i] + offset, sizeof v);
        d[i] = static_cast<D>(v);
      }
  }
}

template <class D>
void copy_in_sized(const run::LaneBytes& access, void* d, size_t offset, int size, bool is_signed,
                   uint32_t mask) {
  auto* row = static_cast<D*>(d);
  switch (size * 2 + (is_signed ? 1 : 0)) {
    case 2: return copy_in<uint8_t>(access, row, offset, mask);
    case 3: return copy_in<int8_t>(access, row, offset, mask);
    case 4: return copy_in<uint16_t>(access, row, offset, mask);
    case 5: return copy_in<int16_t>(access, row, offset, mask);
    case 8: return copy_in<uint32_t>(access, row, offset, mask);
    case 9: return copy_in<int32_t>(access, row, offset, mask);
    case 17: return copy_in<int64_t>(access, row, offset, mask);
    case 32: return copy_in<u128>(access, row, offset, mask);
    default: return copy_in<uint64_t>(access, row, offset, mask);
  }
}

template <class S, class D>
void copy_out(const run::LaneBytes& access, const void* s, size_t offset, uint32_t mask) {
  const auto* row = static_cast<const D*>(s);
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) {
      const S v = static_cast<S>(row[i]);
      std::memcpy(access.bytes[i] + offset, &v, sizeof v);
    }
}

template <class D>
void copy_out_sized(const run::LaneBytes& access, const void* s, size_t offset, int size, uint32_t mask) {
  switch (size) {
    case 1: return copy_out<uint8_t, D>(access, s, offset, mask);
    case 2: return copy_out<uint16_t, D>(access, s, offset, mask);
    case 4: return copy_out<uint32_t, D>(access, s, offset, mask);
    case 16: return copy_out<u128, D>(access, s, offset, mask);
    default: return copy_out<uint64_t, D>(access, s, offset, mask);
  }
}

// Calls visit(size) with the size known beforehand where it is one of a register's.
template <class Visit>
[[gnu::always_inline]] inline auto sized(size_t size, Visit visit) {
  switch (size) {
    case 1: return visit(std::integral_constant<size_t, 1>());
    case 2: return visit(std::integral_constant<size_t, 2>());
    case 4: return visit(std::integral_constant<size_t, 4>());
    case 8: return visit(std::integral_constant<size_t, 8>());
    case 16: return visit(std::integral_constant<size_t, 16>());
    default: return visit(size);
  }
}

// Calls visit(lane) for each of `mask`: most often that is all.
template <class Visit>
[[gnu::always_inline]] inline void each_lane(uint32_t mask, Visit visit) {
  if (mask == ~0u)
    for (size_t i = 0; i < size_t{kLanes}; ++i) visit(i);
  else
    for (; mask != 0; mask &= mask - 1) visit(static_cast<size_t>(__builtin_ctz(mask)));
}

uint32_t defined_lanes(const run::LaneBytes& access, size_t offset, size_t size, uint32_t mask) {
  if (!access.tracked) return mask;
  return sized(size, [&](auto bytes) {
    uint32_t known = 0;
    each_lane(mask, [&](size_t i) {
      const uint8_t* defined = access.defined[i];
      const bool whole = defined == nullptr || machine::all_written(defined + offset, bytes);
      known |= static_cast<uint32_t>(whole) << i;
    });
    return known;
  });
}

void mark(const run::LaneBytes& access, size_t offset, size_t size, uint32_t mask) {
  if (!access.tracked) return;
  sized(size, [&](auto bytes) {
    each_lane(mask, [&](size_t i) {
      if (access.defined[i] != nullptr) std::memset(access.defined[i] + offset, machine::kWritten, bytes);
    });
  });
}

// Whether some of the bytes between the first and the last of `mask` are still a copy's to write: most often
// none are, of none of the lanes.
bool copies_fill_between(const run::LaneBytes& access, const run::Cluster& cluster, uint32_t mask,
                         size_t size) {
  if ((mask & ~access.global) == 0) return false;
  const std::byte* low = access.bytes[__builtin_ctz(mask)];
  const std::byte* high = low;
  for (uint32_t lanes = access.consecutive ? 0 : mask; lanes != 0; lanes &= lanes - 1) {
    const std::byte* at = access.bytes[__builtin_ctz(lanes)];
    low = std::min(low, at);
    high = std::max(high, at);
  }
  const size_t length = static_cast<size_t>(high - low) + (access.consecutive ? size * kLanes : size);
  const std::optional<uint64_t> first = run::shared_address(cluster, low);
  const std::optional<uint64_t> last = run::shared_address(cluster, low + length - 1);
  const bool one_memory = first && last && *last - *first == length - 1;
  return !one_memory || cluster.filling(*first, length) != nullptr;
}

// What a lane's register lacks when element `offset` of its access was loaded into it. `copies`: of one under
// way, perhaps.
void load_unknown(const MemoryUse& use, run::Context& context, const run::LaneBytes& access, uint32_t row,
                  int lane, size_t offset, bool copies) {
  const auto at = static_cast<size_t>(lane);
  const uint8_t* defined = access.defined[at] + offset;
  run::LaneBits unknown;
  if (const auto place = copies ? run::shared_address(context.cta.cluster, access.bytes[at]) : std::nullopt)
    run::keep_reads_off_copies(context, *place + offset, use.size, lane);
  // Who follows it is not told where it came from.
  machine::Origin from =
      context.follow() != nullptr ? machine::Origin{} : run::access_origin(context, access, lane);
  from.size = use.size;
  from.address += offset;
  for (size_t i = 0; i < use.size; ++i) {
    const uint64_t bits = static_cast<uint8_t>(~defined[i]);
    (i < 8 ? unknown.low : unknown.high) |= bits << 8 * (i % 8);
    if (bits != 0) from.missing |= 1u << i;
  }
  const auto register_size = size_t{use.register_bytes};
  if (use.is_signed && (unknown.low >> (8 * use.size - 1) & 1) != 0)
    for (size_t i = use.size; i < register_size; ++i)
      (i < 8 ? unknown.low : unknown.high) |= uint64_t{0xFF} << 8 * (i % 8);
  run::set_unknown(context, row, lane, register_size, unknown, from);
}

// Whoever follows what is not whole is told that `size` bytes of a lane's access to global memory are not.
void follow_output(run::Context& context, const run::LaneBytes& access, int lane, size_t offset,
                   size_t size) {
  const machine::Origin at = run::access_origin(context, access, lane);
  context.follow()->stored(*at.region, at.address + offset, size, at.ptx_line);
}

// The bytes that a lane's register, which is not whole, writes as element `offset` of its access.
void store_unknown(const MemoryUse& use, run::Context& context, const run::LaneBytes& access, uint32_t row,
                   int lane, size_t offset) {
  const auto at = static_cast<size_t>(lane);
  const run::LaneBits unknown = run::unknown_of(context, row, lane, size_t{use.register_bytes});
  const machine::Region* global =
      (access.global >> lane & 1) != 0 ? context.cta.grid.global.owner(access.bytes[at]) : nullptr;
  const bool whole = global != nullptr && !global->scratch;
  const auto bits_of = [&](size_t i) {
    return static_cast<uint8_t>((i < 8 ? unknown.low : unknown.high) >> 8 * (i % 8));
  };
  for (size_t i = 0; i < use.size; ++i) {
    const uint8_t bits = bits_of(i);
    if (bits != 0 && whole && context.follow() == nullptr) context.report_missing(row, lane, "an output");
    if (access.tracked && access.defined[at] != nullptr)
      access.defined[at][offset + i] = static_cast<uint8_t>(~bits);
  }
  if (global == nullptr || context.follow() == nullptr) return;
  const uint64_t address = global->address_of(access.bytes[at]) + offset;
  for (size_t i = 0, behind = 0; i < use.size; i = behind + 1) {
    for (behind = i; behind < use.size && bits_of(behind) != 0;) ++behind;
    if (behind != i) context.follow()->stored_here(*global, address + i, behind - i);
  }
}

// To be called at every access to shared or global memory: `polled` are the lanes that read global memory.
// Their addresses stand in `row`.
void touched(const MemoryUse& use, run::Context& context, uint32_t polled, uint32_t row) {
  if (polled != 0) {
    const bool strongly = use.order.semantics != machine::Semantics::weak;
    context.split().polls(strongly);
    if (strongly && !use.narrow)
      context.split().polled_at = context.row<uint64_t>(row)[__builtin_ctz(polled)] + use.offset;
  }
  const auto space = use.space;
  if (space != Space::local && space != Space::param && space != Space::constant) context.cta.cluster.touch();
}

// Faults where a store or an atomic meets the destination of a copy under way.
void keep_off_copies(const MemoryUse& use, run::Context& context, const run::LaneBytes& access,
                     uint32_t mask) {
  const size_t size = static_cast<size_t>(use.size) * use.count;
  const run::Cluster& cluster = context.cta.cluster;
  if (use.space == Space::local || !copies_fill_between(access, cluster, mask, size)) return;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const auto at = static_cast<size_t>(access.consecutive ? 0 : lane);
    const std::byte* bytes = access.bytes[at] + (access.consecutive ? size * static_cast<size_t>(lane) : 0);
    const std::optional<uint64_t> address = run::shared_address(cluster, bytes);
    if (!address) continue;
    if (const machine::Agent* copy = cluster.filling(*address, size))
      throw Fault("a write to " + cluster.shared_name(*address) + ", which the copy of " +
                      machine::line_of(copy->place.kept()) + " is still to write",
                  lane);
  }
}

// Element `j` of a lane's access, `b` its operand. Returns whether memory changed.
bool update(const Op& op, const AtomicUse& use, run::Context& context, const run::LaneBytes& access, int lane,
            size_t j, uint64_t b) {
  const size_t size = use.size;
  const auto i = static_cast<size_t>(lane);
  const uint32_t bit = 1u << lane;
  const uint32_t to = use.count == 1 ? op.d : (*op.results)[j];
  const bool known = !context.checked || defined_lanes(access, j * size, size, bit) != 0;
  if (!known && use.operation != AtomicOperation::exch && context.follow() == nullptr)
    throw Fault("an atomic reads memory that was never written", lane);
  if (known || context.follow() == nullptr || use.operation == AtomicOperation::exch)
    mark(access, j * size, size, bit);
  else if ((access.global & bit) != 0)
    follow_output(context, access, lane, j * size, size);
  context.set_known(to, bit, known ? bit : 0);
  uint64_t old = 0;
  uint64_t c = 0;
  std::byte* const place = access.bytes[i] + j * size;
  std::memcpy(&old, place, size);
  std::memcpy(&c, context.row<std::byte>(op.c) + size * i, size);
  const uint64_t result =
      atomic_update(use.operation, use.type,
                    (access.global & bit) != 0 ? AtomicPlace::global : AtomicPlace::shared, old, b, c);
  std::memcpy(place, &result, size);
  std::memcpy(context.row<std::byte>(to) + size * i, &old, size);
  return result != old || !known;
}

// Whether the cluster runs beside others, and nobody reads what the atomic gives, nor does its order matter.
bool in_any_order(const Op& op, run::Context& context) {
  const run::Parallel* parallel = context.cta.grid.parallel;
  return parallel != nullptr && parallel->unordered[static_cast<size_t>(context.split().activation->function)]
                                                   [static_cast<size_t>(op.line)];
}

// As update, of global memory, in any order with those of other host threads. What it gives is 0, as that
// order is no run's.
bool update_beside(const Op& op, const AtomicUse& use, run::Context& context, const run::LaneBytes& access,
                   int lane, size_t j, uint64_t b) {
  const run::Parallel& parallel = *context.cta.grid.parallel;
  const machine::Origin at = run::access_origin(context, access, lane);
  const uint64_t address = at.address + j * use.size;
  const bool is_signed = use.type == ElementType::s32 || use.type == ElementType::s64;
  const auto kind = static_cast<unsigned>(use.operation) * 4 + (use.size == 8 ? 2u : 0u) +
                    (use.operation != AtomicOperation::add && is_signed ? 1u : 0u);
  parallel.claims.add(*at.region, address, use.size, uint64_t{1} << kind);
  const std::scoped_lock lock(parallel.lock_of(address));
  const bool changes = update(op, use, context, access, lane, j, b);
  std::memset(context.row<std::byte>(op.d) + use.size * static_cast<size_t>(lane), 0, use.size);
  return changes;
}

// The elements of an access, to the registers of `mask`.
void copy_to_registers(const Op& op, run::Context& context, const run::LaneBytes& access, uint32_t mask) {
  const auto& use = op.as<MemoryUse>();
  std::optional<bool> copies;  // asked as soon as a lane lacks something
  for (size_t j = 0; j < use.count; ++j) {
    const uint32_t row = (*op.results)[j];
    const size_t offset = j * use.size;
    void* d = context.row<std::byte>(row);
    const bool is_signed = use.is_signed;
    switch (use.register_bytes) {
      case 2: copy_in_sized<uint16_t>(access, d, offset, use.size, is_signed, mask); break;
      case 4: copy_in_sized<uint32_t>(access, d, offset, use.size, is_signed, mask); break;
      case 16: copy_in_sized<u128>(access, d, offset, use.size, is_signed, mask); break;
      default: copy_in_sized<uint64_t>(access, d, offset, use.size, is_signed, mask); break;
    }
    if (context.checked) {
      const uint32_t known = defined_lanes(access, offset, use.size, mask);
      context.set_defined(row, known);
      if ((mask & ~known) != 0 && !copies)
        copies = copies_fill_between(access, context.cta.cluster, mask, use.size * use.count);
      for (uint32_t lanes = mask & ~known; lanes != 0; lanes &= lanes - 1)
        load_unknown(use, context, access, row, __builtin_ctz(lanes), offset, *copies);
    }
  }
}

// All lanes at once, where they read a run of bytes or all the same ones, which are written. False, with
// nothing done, where that is not so.
bool load_row(const Op& op, const RowUse& use, run::Context& context) {
  const size_t size = static_cast<size_t>(use.size) * use.count;
  run::RowBytes at;
  if (use.load_rows == nullptr || !run::resolve_row<machine::AccessKind::read>(use, op.a, context, size, at))
    return false;
  const LoadRows move = at.same ? use.load_same : use.load_rows;
  if (!move(at.bytes, context.checked ? at.defined : nullptr, context.rows(), op.results->data()))
    return false;
  run::note_row(machine::AccessKind::read, context, at, size);
  run::tell_row(use, machine::AccessKind::read, context, at, size);
  touched(use, context, at.global ? ~0u : 0, op.a);
  uint32_t* const defined = context.defined();
  for (size_t j = 0; j < use.count; ++j) defined[(*op.results)[j] / machine::kRowBytes] = ~0u;
  return true;
}

// The same of a store.
bool store_row(const Op& op, const RowUse& use, run::Context& context) {
  const size_t size = static_cast<size_t>(use.size) * use.count;
  if (use.store_rows == nullptr ||
      (use.space != Space::global && context.checked && context.cta.cluster.operations_under_way()))
    return false;
  for (size_t j = 0; j < use.count && context.checked; ++j)
    if (context.defined_at((*op.sources)[j]) != ~0u) return false;
  run::RowBytes at;
  if (!run::resolve_row<machine::AccessKind::write>(use, op.a, context, size, at)) return false;
  run::note_row(machine::AccessKind::write, context, at, size);
  run::tell_row(use, machine::AccessKind::write, context, at, size, &op);
  context.cta.cluster.change();
  touched(use, context, 0, op.a);
  use.store_rows(context.rows(), op.sources->data(), at.bytes, at.defined);
  return true;
}

}  // namespace

Next load(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<RowUse>();
  if (mask == ~0u && load_row(op, use, context)) return Next::advance;
  if (context.checked && (mask & ~context.defined_at(op.a)) != 0) [[unlikely]] {
    mask = run::loads_there(op, context, mask);
    if (mask == 0) return Next::advance;
  }
  run::LaneBytes access;
  run::resolve(use, op.a, context, mask, static_cast<size_t>(use.size) * use.count, machine::AccessKind::read,
               use.count == 1, access);
  touched(use, context, access.global, op.a);
  const size_t all = static_cast<size_t>(use.size) * kLanes;
  if (access.consecutive && use.register_bytes == use.size &&
      (!access.tracked || machine::all_written(access.defined[0], all))) {
    std::memcpy(context.row<std::byte>(op.results->front()), access.bytes[0], all);
    context.defined_at(op.results->front()) = ~0u;
    return Next::advance;
  }
  spread(access, use.size);
  run::Follow* const follow = context.follow();
  const uint32_t but = follow == nullptr ? 0 : mask & follow->but();
  copy_to_registers(op, context, access, mask & ~but);
  if (but != 0) {
    follow->show(true);
    copy_to_registers(op, context, access, but);
    follow->show(false);
  }
  return Next::advance;
}

Next store(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<RowUse>();
  if (mask == ~0u && store_row(op, use, context)) return Next::advance;
  run::LaneBytes access;
  run::resolve(use, op.a, context, mask, static_cast<size_t>(use.size) * use.count,
               machine::AccessKind::write, use.count == 1, access, &op);
  context.cta.cluster.change();
  touched(use, context, 0, op.a);
  if (context.checked && access.tracked && context.cta.cluster.operations_under_way())
    keep_off_copies(use, context, access, mask);
  const size_t all = static_cast<size_t>(use.size) * kLanes;
  if (access.consecutive && use.register_bytes == use.size &&
      (!context.checked || context.defined_at(op.sources->front()) == ~0u)) {
    std::memcpy(access.bytes[0], context.row<std::byte>(op.sources->front()), all);
    if (access.tracked) std::memset(access.defined[0], machine::kWritten, all);
    return Next::advance;
  }
  spread(access, use.size);
  for (size_t j = 0; j < use.count; ++j) {
    const uint32_t row = (*op.sources)[j];
    const size_t offset = j * use.size;
    const void* s = context.row<std::byte>(row);
    uint32_t known = mask;
    if (context.checked) known = mask & context.known_at(row, mask);
    for (uint32_t lanes = mask & ~known; lanes != 0; lanes &= lanes - 1)
      store_unknown(use, context, access, row, __builtin_ctz(lanes), offset);
    switch (use.register_bytes) {
      case 2: copy_out_sized<uint16_t>(access, s, offset, use.size, mask); break;
      case 4: copy_out_sized<uint32_t>(access, s, offset, use.size, mask); break;
      case 16: copy_out_sized<u128>(access, s, offset, use.size, mask); break;
      default: copy_out_sized<uint64_t>(access, s, offset, use.size, mask); break;
    }
    mark(access, offset, use.size, known);
  }
  return Next::advance;
}

Next atomic(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<AtomicUse>();
  run::LaneBytes access;
  const bool any_order = in_any_order(op, context);
  run::resolve(use, op.a, context, mask, static_cast<size_t>(use.size) * use.count,
               machine::AccessKind::update, use.count == 1, access, nullptr, !any_order);
  touched(use, context, access.global, op.a);
  if (use.count > 1 && (mask & ~access.global) != 0)
    throw Fault("a vector atomic on memory that is not global", __builtin_ctz(mask & ~access.global));
  if (context.checked && access.tracked && context.cta.cluster.operations_under_way())
    keep_off_copies(use, context, access, mask);
  spread(access, use.size);
  const auto source = [&](size_t j) { return use.count == 1 ? op.b : (*op.sources)[j]; };
  for (size_t j = 0; j < use.count; ++j) {
    if (context.follow() != nullptr)
      for (uint32_t lanes = access.global & mask & ~context.known_at(source(j), mask); lanes != 0;
           lanes &= lanes - 1)
        follow_output(context, access, __builtin_ctz(lanes), j * use.size, use.size);
    context.require_defined(source(j), mask, "an atomic's operand");
  }
  if (use.operation == AtomicOperation::cas) context.require_defined(op.c, mask, "an atomic's operand");
  // One that leaves everything as it was is no change: a loop around it may be endless.
  bool changes = false;
  std::array<uint64_t, kMostAtomics> b{};
  for (int i = 0; i < kLanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    for (size_t j = 0; j < use.count; ++j)  // all of them first: a result may go where an operand stood
      std::memcpy(&b[j], context.row<std::byte>(source(j)) + use.size * static_cast<size_t>(i), use.size);
    for (size_t j = 0; j < use.count; ++j)
      changes =
          (any_order && (access.global >> i & 1) != 0 ? update_beside(op, use, context, access, i, j, b[j])
                                                      : update(op, use, context, access, i, j, b[j])) ||
          changes;
  }
  if (changes) context.cta.cluster.change();
  return Next::advance;
}

}  // namespace bitwell::isa
