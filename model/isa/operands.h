// Operands of instructions that take their sources from a list.
#pragma once
#include "model/isa/effects.h"
#include "model/isa/forms.h"

namespace bitwell::isa {

// Adds rows to the op's sources and remembers where.
class Operands {
 public:
  Operands(Builder& b, Op& op) : b_(b), op_(op) { op.sources = b.new_list(); }

  AddressOperand address(const ptx::Operand& operand, Space space) {
    const Address a = b_.address(operand, space);
    return {add(a.row), a.narrow, a.offset, space};
  }
  size_t value(const ptx::Operand& operand, const char* type) {
    return add(b_.source(operand, b_.type(type)).row);
  }
  size_t add(uint32_t row) {
    op_.sources->push_back(row);
    return op_.sources->size() - 1;
  }

 private:
  Builder& b_;
  Op& op_;
};

inline Op effect(Effect e) {
  Op op;
  op.kind = OpKind::effect;
  op.effect = e;
  return op;
}

inline void operands_left(Builder& b, const Match& m, size_t used) {
  if (b.operand_count() != used)
    throw Invalid("'" + m.name + "' takes " + std::to_string(used) + " operands here, found " +
                  std::to_string(b.operand_count()));
}

}  // namespace bitwell::isa
