#include "verify/launch/variables.h"

#include <algorithm>
#include <map>
#include <set>

#include "verify/launch/file/names.h"

namespace bitwell::launch {

static const isa::GlobalVariable& variable_of(const std::vector<isa::GlobalVariable>& all,
                                              const std::string& name) {
  std::vector<std::string> names;
  for (const isa::GlobalVariable& g : all) names.push_back(g.name);
  return all[name_among(names, name, "variable")];
}

void use_full_names(const isa::Program& program, Launch& launch) {
  launch.entry = program.functions[static_cast<size_t>(program.entry)].name;
  for (Variable& v : launch.variables) v.name = variable_of(program.globals, v.name).name;
}

const isa::GlobalVariable& Variables::named(const Variable& variable) const {
  return variable_of(context_.variables(module_), variable.name);
}

void Variables::write(const Launch& launch) const {
  std::map<const isa::GlobalVariable*, const Variable*> given;
  for (const Variable& v : launch.variables) {
    const isa::GlobalVariable& g = named(v);
    if (const auto [first, is_new] = given.emplace(&g, &v); !is_new)
      throw machine::InputError("variable '" + g.name + "' stands twice in the launch" +
                                (first->second->name == v.name
                                     ? ""
                                     : ", as '" + first->second->name + "' and as '" + v.name + "'") +
                                ": what it holds before and its output go into one");
    if (!v.before) continue;
    if (v.before->size() > g.size)
      throw machine::InputError("variable '" + v.name + "' has " + std::to_string(g.size) +
                                " bytes, the launch gives it " + std::to_string(v.before->size()));
    context_.write({g.address, g.size, 0}, *v.before);
  }
}

std::vector<std::byte> Variables::read(const Variable& variable) const {
  const isa::GlobalVariable& g = named(variable);
  std::vector<std::byte> out(g.size);
  context_.read({g.address, g.size, 0}, out);
  return out;
}

void Variables::read_back(Launch& launch) const {
  for (Variable& v : launch.variables)
    if (v.output) v.after = read(v);
}

void Variables::note_unwritten(const Launch& launch, std::vector<run::Note>& notes) const {
  std::set<const isa::GlobalVariable*> given;
  for (const Variable& v : launch.variables)
    if (v.before) given.insert(&named(v));
  for (const isa::GlobalVariable& g : context_.variables(module_))
    if (g.is_const && g.bytes.empty() && given.count(&g) == 0)
      notes.emplace_back().text = "__constant__ '" + g.name + "' was never written: it is 0";
}

}  // namespace bitwell::launch
