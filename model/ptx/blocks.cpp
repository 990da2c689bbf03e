#include "model/ptx/blocks.h"

namespace bitwell::ptx {

Blocks::Blocks(const Function& function) {
  size_t block = 0;
  walk(function.body, block);
}

void Blocks::walk(const std::vector<Statement>& body, size_t& block) {
  for (const Statement& s : body) {
    if (s.kind == Statement::Kind::label) ++block;
    if (!s.body.empty()) {
      ++block;
      walk(s.body, block);
      ++block;
    }
    if (s.kind != Statement::Kind::instruction) continue;
    places_[&s.instruction] = {all_.size(), block};
    all_.push_back(&s.instruction);
    if (s.instruction.opcode == "bra" || s.instruction.opcode == "brx" || s.instruction.opcode == "call")
      ++block;
  }
}

bool Blocks::keep(const Instruction& from, const Instruction& to, const std::string& name) const {
  const Place first = places_.at(&from), last = places_.at(&to);
  if (first.block != last.block || first.number > last.number) return false;
  for (size_t n = first.number + 1; n < last.number; ++n) {
    bool writes = false;
    each_written(*all_[n], [&](const std::string& written) { writes = writes || written == name; });
    if (writes) return false;
  }
  return true;
}

}  // namespace bitwell::ptx
