// Which instructions of a function follow each other, whatever happens.
#pragma once
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// Points into the function, which must outlive it.
class Blocks {
 public:
  explicit Blocks(const Function& function);

  // Whether one comes after the other with no label, branch, call or brace between, and nothing that stands
  // between them writes a register of that name.
  bool keep(const Instruction& from, const Instruction& to, const std::string& name) const;

 private:
  struct Place {
    size_t number, block;
  };
  void walk(const std::vector<Statement>& body, size_t& block);
  std::unordered_map<const Instruction*, Place> places_;
  std::vector<const Instruction*> all_;
};

// `look` at each instruction of a body with an operand, in the order of the text.
void each_instruction(const std::vector<Statement>& body, const auto& look) {
  for (const Statement& s : body) {
    each_instruction(s.body, look);
    if (s.kind == Statement::Kind::instruction && !s.instruction.operands.empty()) look(s.instruction);
  }
}

// `look` at each register's name, or other name, in an operand and all below it.
void each_name(const Operand& operand, const auto& look) {
  if (!operand.name.empty()) look(operand.name);
  for (const Operand& e : operand.elements) each_name(e, look);
}

// The same of what an instruction may write: what stands first in it, unless that is an address.
void each_written(const Instruction& i, const auto& look) {
  if (!i.operands.empty() && i.operands[0].kind != OperandKind::memory) each_name(i.operands[0], look);
}

}  // namespace bitwell::ptx
