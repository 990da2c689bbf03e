// tcgen05.shift: rows of a matrix in tensor memory move down by one (PTX ISA 9.0, 9.7.16.9.3). What a B200
// was seen to do: each quarter of 32 lanes on its own, lane i gets what lane i + 1 held, the last one keeps
// its own.
#include <algorithm>

#include "model/isa/family/tensor/tensor_forms.h"
#include "model/isa/family/tensor/tensor_unit.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kTensorLanes;

namespace {

constexpr uint32_t kPathLanes = 32;  // lanes
constexpr uint32_t kColumns = 8;     // 32 bytes
constexpr const char* kShiftName = "tcgen05.shift";

struct ShiftUse : Payload {
  int cta_group = 1;
  uint64_t offset = 0;  // of the address
};

void shift_down(const run::Port& port, run::Cta& cta, uint32_t column) {
  TensorUnit& unit = tensor_unit(cta);
  unit.reach(port, machine::AccessKind::update, {0, kTensorLanes, column, kColumns}, -1, kShiftName);
  for (uint32_t lane = 0; lane + 1 < kTensorLanes; ++lane) {
    if (lane % kPathLanes == kPathLanes - 1) continue;
    const auto to = unit.memory.cells(lane, column, kColumns, kShiftName);
    const auto from = unit.memory.cells(lane + 1, column, kColumns, kShiftName);
    std::copy_n(from.words, kColumns, to.words);
    std::copy_n(from.written, kColumns, to.written);
  }
}

Next shift(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<ShiftUse>();
  context.require_defined(op.a, mask, "a tensor memory address");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const auto at =
        machine::tensor_place(static_cast<uint32_t>(context.row<uint32_t>(op.a)[lane] + use.offset));
    if (at.lane % kPathLanes != 0 || at.lane >= kTensorLanes)
      throw Fault(std::string(kShiftName) + " at lane " + std::to_string(at.lane) +
                      " of tensor memory, it must be a multiple of 32 below 128",
                  lane);
    if (at.lane != 0)
      throw machine::Unsupported(std::string(kShiftName) + " at lane " + std::to_string(at.lane) +
                                 " of tensor memory: which lanes then move is not known, from lane 0 all do");
    run::Cta& cta = context.cta;
    run::Cta* const other = use.cta_group == 2 ? &peer(cta) : nullptr;
    tensor_unit(cta).issue(
        context, lane, kShiftName, {TensorOrder::Kind::shift}, {},
        {.kind = machine::Task::Kind::tensor_copy, .ctas = static_cast<uint32_t>(use.cta_group)},
        [&cta, other, at](const run::Port& port) {
          shift_down(port, cta, at.column);
          if (other != nullptr) shift_down(port, *other, at.column);
        });
  }
  return Next::advance;
}

// shift [taddr]
void shift_form(Builder& b, const Match& m) {
  operands_left(b, m, 1);
  Op op = effect(shift);
  auto& use = b.payload<ShiftUse>(op);
  use.cta_group = cta_group(b.instruction());
  const Address address = b.address(b.operand(0), Space::shared);
  if (!address.narrow) throw Invalid("a tensor memory address has 32 bits");
  b.uses().touch_there({.space = Space::tensor, .reads = true, .writes = true, .operation = true});
  op.a = address.row;
  use.offset = address.offset;
  b.emit(op);
}

constexpr Form kShift[] = {
    {"tcgen05.shift|" CTA_GROUP ".down", "*", shift_form, 86, &Features::tcgen05_shift},
};

}  // namespace

std::span<const Form> tensor_shift_forms() { return kShift; }

}  // namespace bitwell::isa
