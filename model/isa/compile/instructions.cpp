#include "model/isa/compile/instructions.h"

#include "model/isa/compile/module_layout.h"

namespace bitwell::isa {

static void add(const std::vector<ptx::Statement>& body, std::set<std::string>& out) {
  std::string name;
  for (const ptx::Statement& s : body) {
    add(s.body, out);
    if (s.kind != ptx::Statement::Kind::instruction) continue;
    name = s.instruction.opcode;
    for (const std::string& modifier : s.instruction.modifiers) name += modifier;
    out.insert(name);
  }
}

std::set<std::string> instructions(const ptx::Module& module, const std::string& entry) {
  std::set<std::string> out;
  const ModuleLayout layout(module, entry);
  for (size_t i = 0; i < layout.functions.size(); ++i)
    if (layout.reachable[i]) add(layout.functions[i]->body, out);
  return out;
}

}  // namespace bitwell::isa
