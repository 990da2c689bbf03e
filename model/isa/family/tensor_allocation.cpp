// tcgen05.alloc, dealloc, relinquish_alloc_permit (PTX ISA 9.0, 9.7.16.7.1).
#include <cstring>

#include "model/isa/family/emit.h"
#include "model/isa/family/tensor_forms.h"
#include "model/isa/family/tensor_unit.h"
#include "model/run/synchronised.h"

namespace bitwell::isa {

namespace {

enum class Action : uint8_t { allocate, free, relinquish };
struct AllocationUse : AddressUse {
  Action action{};
  int cta_group = 1;
};

Next allocation(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<AllocationUse>();
  if (use.cta_group == 2 && use.action == Action::free)
    peer_or_ended(context.cta);
  else if (use.cta_group == 2)
    peer(context.cta);
  TensorUnit& unit = tensor_unit(context.cta);
  const bool of_pair = use.cta_group == 2 && use.action != Action::relinquish;
  tell_synchronised(Synchronisation::Kind::columns, context.cta, context.warp, context.split(), mask,
                    use.action == Action::free ? 1 : 0, {}, of_pair ? 1 : 0);
  if (use.action == Action::relinquish) {
    unit.memory.relinquish(use.cta_group);
    return Next::advance;
  }
  const uint32_t columns = context.uniform<uint32_t>(op.b, "the number of columns");
  if (use.action == Action::free) {
    const auto at = machine::tensor_place(context.uniform<uint32_t>(op.a, "a tensor memory address"));
    unit.memory.free(at.column, columns, use.cta_group);
    unit.freed(at.column, columns);
    // Told as a change of all that was there: whoever used it must be done.
    Port(context, 0, {}).cells(AccessKind::update, context.cta, 0, machine::kTensorLanes, at.column, columns);
    context.cta.wake_operations(0, static_cast<int>(context.cta.warps.size()));  // who waits for columns
    return Next::advance;
  }
  context.require_defined(op.a, ~0u, "an address");
  const SharedPlace to = shared_place(use, op.a, context, 0, 4, 4, true);
  const std::optional<uint32_t> column = unit.memory.allocate(columns, use.cta_group);
  if (!column) {
    context.split().wait = machine::Wait::operations;
    return Next::wait;
  }
  std::byte bytes[4];
  std::memcpy(bytes, &*column, 4);
  Port(context, 0, use.order).write(to.cta->shared, to.address, 4, bytes);
  context.cta.cluster.change();
  return Next::advance;
}

// alloc [a], columns; dealloc taddr, columns; relinquish_alloc_permit
void allocation_form(Builder& b, const Match& m) {
  const std::string& which = b.instruction().modifiers[0];
  Op op = effect(allocation);
  auto& use = b.payload<AllocationUse>(op);
  use.action = which == ".alloc" ? Action::allocate : which == ".dealloc" ? Action::free : Action::relinquish;
  use.cta_group = cta_group(b.instruction());
  if (use.action != Action::relinquish) {
    operands_left(b, m, 2);
    if (use.action == Action::allocate)
      set_address(b, op, use, b.operand(0),
                  has(b.instruction(), ".shared::cta") ? Space::shared : Space::generic);
    else
      op.a = b.source(b.operand(0), b.type(".b32")).row;
    const ptx::Operand& columns = b.operand(1);
    if (columns.kind == ptx::OperandKind::integer &&
        (columns.integer < 32 || columns.integer > 512 || (columns.integer & (columns.integer - 1)) != 0))
      throw Invalid("'" + m.name + "' of " + std::to_string(columns.integer) +
                    " columns, it must be a power of two from 32 to 512");
    op.b = b.source(columns, b.type(".b32")).row;
  }
  b.emit(op);
}

constexpr Form kAllocation[] = {
    {"tcgen05.alloc|" CTA_GROUP ".sync.aligned[.shared::cta].b32", "*", allocation_form, 86, 100, "af", 110},
    {"tcgen05.dealloc|" CTA_GROUP ".sync.aligned.b32", "*", allocation_form, 86, 100, "af", 110},
    {"tcgen05.relinquish_alloc_permit|" CTA_GROUP ".sync.aligned", "", allocation_form, 86, 100, "af", 110},
};

}  // namespace

std::span<const Form> tensor_allocation_forms() { return kAllocation; }

}  // namespace bitwell::isa
