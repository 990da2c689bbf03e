#include "model/isa/compile/module.h"

#include "model/isa/compile/module_layout.h"

namespace bitwell::isa {
namespace {

Program variables_of(const ptx::Module& source, const machine::ModulePlace& place) {
  Program out;
  out.globals = ModuleLayout(source, "", place).globals();
  out.constants = place.constants;
  return out;
}

}  // namespace

Module::Module(ptx::Module source, machine::Memory& memory, Approximate approximate)
    : source_(std::move(source)),
      memory_(memory),
      approximate_(approximate),
      place_(memory.next_module()),
      variables_(variables_of(source_, place_)),
      constants_(place_variables(variables_, memory)) {}

const Program& Module::program(const std::string& entry) {
  auto at = programs_.find(entry);
  if (at == programs_.end())
    at = programs_.emplace(entry, compile(source_, entry, approximate_, place_)).first;
  return at->second;
}

const GlobalVariable* Module::variable(const std::string& name) const {
  for (const GlobalVariable& g : variables_.globals)
    if (g.name == name) return &g;
  return nullptr;
}

RunResult Module::run(const std::string& entry, const Shape& shape,
                      const std::vector<std::vector<std::byte>>& arguments, const Options& options) {
  return isa::run(program(entry), constants_, shape, arguments, memory_, options);
}

}  // namespace bitwell::isa
