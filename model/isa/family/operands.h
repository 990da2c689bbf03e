// Operands of instructions that take their sources from a list.
#pragma once
#include "model/isa/family/emit.h"
#include "model/isa/family/transfer.h"

namespace bitwell::isa {

// Adds rows to the op's sources and remembers where.
class Operands {
 public:
  Operands(Builder& b, Op& op) : b_(b), op_(op) { op.sources = b.new_list(); }

  AddressOperand address(const ptx::Operand& operand, Space space) {
    const Address a = b_.address(operand, space);
    return {add(a.row), a.narrow, a.offset, space};
  }
  size_t value(const ptx::Operand& operand, const char* type, Use::Take take = Use::Take::data) {
    const uint32_t row = b_.source(operand, b_.type(type)).row;
    b_.uses().as(take);
    return add(row);
  }
  FunctionUses& uses() { return b_.uses(); }
  size_t add(uint32_t row) {
    op_.sources->push_back(row);
    return op_.sources->size() - 1;
  }

 private:
  Builder& b_;
  Op& op_;
};

}  // namespace bitwell::isa
