// tcgen05.alloc, dealloc, relinquish_alloc_permit (PTX ISA 9.0, 9.7.16.7.1).
#include <cstring>

#include "model/isa/family/emit.h"
#include "model/isa/family/tensor/tensor_forms.h"
#include "model/isa/family/tensor/tensor_unit.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

namespace {

std::string for_columns(run::Cluster&, const run::Waiter&) {
  return " for columns of tensor memory that others hold";
}
std::string for_columns_of_pair(run::Cluster&, const run::Waiter&) {
  return " for the tcgen05.alloc of the pair's other CTA, or for columns that others hold";
}
constexpr run::WaitKind kForColumns{.why = for_columns, .looks_again = true},
    kForColumnsOfPair{.why = for_columns_of_pair, .looks_again = true};

enum class Action : uint8_t { allocate, free, relinquish };
struct AllocationUse : AddressUse {
  Action action{};
  int cta_group = 1;
};

// Warps of the CTA that wait for columns look again.
void wake_allocations(run::Cta& cta) { cta.wake_operations(0, static_cast<int>(cta.warps.size())); }

// Of a pair: whose tcgen05.alloc comes first waits for the other CTA's, and both get the same columns then,
// so that what one of them issues for both finds them. The manual lets it wait (9.7.16.5).
std::optional<uint32_t> allocate_for_pair(run::Context& context, uint32_t columns) {
  run::Cta& cta = context.cta;
  TensorUnit& unit = tensor_unit(cta);
  std::optional<PairAllocation>& own = unit.asked;
  if (!own) {
    unit.memory.ask(columns, 2);
    own = {context.warp.index, columns, {}};
  }
  if (own->warp != context.warp.index) return std::nullopt;  // one of the CTA at a time
  if (!own->first) {
    run::Cta& other = peer(cta);
    TensorUnit& theirs = tensor_unit(other);
    if (!theirs.asked || theirs.asked->first) return std::nullopt;
    if (theirs.asked->columns != columns)
      throw machine::Unsupported("tcgen05.alloc with .cta_group::2 of " + std::to_string(columns) +
                                 " columns, where the pair's other CTA asks for " +
                                 std::to_string(theirs.asked->columns) + ": what both get is not known");
    own->first = theirs.asked->first = machine::TensorMemory::allocate(unit.memory, theirs.memory, columns);
    if (!own->first) return std::nullopt;
    wake_allocations(other);
  }
  const uint32_t first = *own->first;
  own.reset();
  wake_allocations(cta);
  return first;
}

Next allocation(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<AllocationUse>();
  run::Cta* const other = use.cta_group == 2 ? &peer_or_ended(context.cta) : nullptr;
  TensorUnit& unit = tensor_unit(context.cta);
  const bool waited = unit.asked && unit.asked->warp == context.warp.index;
  run::tell_synchronised(machine::Synchronisation::Kind::columns, context.cta, context.warp, context.split(),
                         mask,
                         use.action == Action::free ? 1
                         : waited                   ? 2
                                                    : 0,
                         {}, other != nullptr && use.action != Action::relinquish ? 1 : 0);
  if (use.action == Action::relinquish) {
    // A peer that has done its own need not wait for this.
    if (other != nullptr && !tensor_unit(*other).memory.relinquished()) peer(context.cta);
    unit.memory.relinquish(use.cta_group);
    return Next::advance;
  }
  const uint32_t columns = context.uniform<uint32_t>(op.b, "the number of columns");
  if (use.action == Action::free) {
    const auto at = machine::tensor_place(context.uniform<uint32_t>(op.a, "a tensor memory address"));
    unit.memory.free(at.column, columns, use.cta_group);
    unit.freed(at.column, columns);
    // Told as a change of all that was there: whoever used it must be done.
    run::Port(context, 0, {})
        .cells(machine::AccessKind::update, context.cta, 0, machine::kTensorLanes, at.column, columns);
    wake_allocations(context.cta);
    if (other != nullptr) wake_allocations(*other);
    return Next::advance;
  }
  context.require_defined(op.a, ~0u, "an address");
  const run::SharedPlace to = run::shared_place(use, op.a, context, 0, 4, 4, true);
  const std::optional<uint32_t> column =
      other != nullptr ? allocate_for_pair(context, columns) : unit.memory.allocate(columns, use.cta_group);
  if (!column) {
    context.split().wait = use.cta_group == 2 ? &kForColumnsOfPair : &kForColumns;
    return Next::wait;
  }
  std::byte bytes[4];
  std::memcpy(bytes, &*column, 4);
  run::Port(context, 0, use.order).write(to.cta->shared, to.address, 4, bytes);
  context.cta.cluster.change();
  return Next::advance;
}

// alloc [a], columns; dealloc taddr, columns; relinquish_alloc_permit
void allocation_form(Builder& b, const Match& m) {
  const std::string& which = b.instruction().modifiers[0];
  Op op = effect_without_memory(b, allocation);  // but for what follows
  auto& use = b.payload<AllocationUse>(op);
  use.action = which == ".alloc" ? Action::allocate : which == ".dealloc" ? Action::free : Action::relinquish;
  use.cta_group = cta_group(b.instruction());
  if (use.action != Action::relinquish) {
    operands_left(b, m, 2);
    if (use.action == Action::allocate) {
      set_address(b, op, use, b.operand(0),
                  ptx::has(b.instruction(), ".shared::cta") ? Space::shared : Space::generic);
      b.uses().touch_there({.space = Space::shared, .writes = true, .bytes = 4});
    } else {
      op.a = b.source(b.operand(0), b.type(".b32")).row;
      b.uses().as(Use::Take::address);
      b.uses().touch_there({.space = Space::tensor, .reads = true, .writes = true});
    }
    const ptx::Operand& columns = b.operand(1);
    if (columns.kind == ptx::OperandKind::integer &&
        (columns.integer < 32 || columns.integer > 512 || (columns.integer & (columns.integer - 1)) != 0))
      throw Invalid("'" + m.name + "' of " + std::to_string(columns.integer) +
                    " columns, it must be a power of two from 32 to 512");
    op.b = b.source(columns, b.type(".b32")).row;
    b.uses().as(Use::Take::address);  // how many, not what is in them
  }
  b.emit(op);
}

constexpr Form kAllocation[] = {
    {"tcgen05.alloc|" CTA_GROUP ".sync.aligned[.shared::cta].b32", "*", allocation_form, 86,
     &Features::tcgen05},
    {"tcgen05.dealloc|" CTA_GROUP ".sync.aligned.b32", "*", allocation_form, 86, &Features::tcgen05},
    {"tcgen05.relinquish_alloc_permit|" CTA_GROUP ".sync.aligned", "", allocation_form, 86,
     &Features::tcgen05},
};

}  // namespace

std::span<const Form> tensor_allocation_forms() { return kAllocation; }

}  // namespace bitwell::isa
