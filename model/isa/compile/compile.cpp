#include "model/isa/compile/compile.h"

#include <algorithm>

#include "model/isa/compile/contraction.h"
#include "model/isa/compile/function_builder.h"
#include "model/isa/compile/module_layout.h"
#include "model/isa/compile/slots.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

Function translate(const ModuleLayout& layout, const ptx::Function& source, bool collect,
                   Approximate approximate, std::vector<Finding>& findings) {
  Function f;
  f.name = source.name;
  f.is_entry = source.is_entry;
  f.directives = source.directives;
  FunctionBuilder builder(layout, source, f, collect, approximate, findings);
  if (!source.has_body) return f;
  builder.body();
  if (!collect) assign_slots(f, builder);
  return f;
}

}  // namespace

// Whether the bits that approximate instructions get are the target's own, as recorded.
static bool recorded(int sm, Approximate approximate) {
  return approximate != Approximate::nearest && sm == 90;
}

Program compile(const ptx::Module& module, const std::string& entry, Approximate approximate,
                const machine::ModulePlace& place) {
  if (entry.empty()) throw machine::InputError("the name of the entry is empty");
  const ModuleLayout layout(module, entry, place);
  Program program;
  program.sm = layout.sm;
  program.target = module.target;
  program.entry = layout.find_function(entry);
  program.shared_size = layout.shared_size;
  program.dynamic_shared = layout.dynamic_shared;
  program.globals = layout.globals();
  program.constants = place.constants;
  program.shared_variables = layout.shared_variables();
  std::vector<Finding> findings;
  for (size_t i = 0; i < layout.functions.size(); ++i) {
    const ptx::Function& source = *layout.functions[i];
    if (layout.reachable[i])
      program.functions.push_back(translate(layout, source, false, approximate, findings));
    else
      program.functions.emplace_back();
  }
  for (const Finding& f : findings)
    if (f.kind == Finding::Kind::approximate && !recorded(layout.sm, approximate))
      program.approximations.push_back("line " + std::to_string(f.line) + ": " + f.what);
  for (const Parameter& p : program.functions[static_cast<size_t>(program.entry)].params)
    program.parameter_size = std::max(program.parameter_size, p.offset + p.size);
  return program;
}

std::vector<Finding> check(const ptx::Module& module, const std::string& entry) {
  std::vector<Finding> findings;
  const ModuleLayout layout(module, "");
  layout.globals();  // for what it refuses
  const std::vector<bool> wanted = entry.empty() ? layout.reachable : ModuleLayout(module, entry).reachable;
  for (size_t i = 0; i < layout.functions.size(); ++i) {
    if (!wanted[i]) continue;
    const ptx::Function* f = layout.functions[i];
    try {
      if (f->is_entry && f->has_body) ModuleLayout(module, f->name);  // for what it refuses
      translate(layout, *f, true, Approximate::h200, findings);
      for (Finding& open : contractions(module, *f)) findings.push_back(std::move(open));
    } catch (const machine::InputError& e) {
      findings.push_back({Finding::Kind::invalid, f->at.line, e.what()});
    } catch (const machine::Unsupported& e) {
      findings.push_back({Finding::Kind::unsupported, f->at.line, e.what()});
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.line < b.line; });
  return findings;
}

std::vector<std::string> entries(const ptx::Module& module) {
  std::vector<std::string> out;
  for (const ptx::Function& f : module.functions)
    if (f.is_entry && f.has_body) out.push_back(f.name);
  return out;
}

}  // namespace bitwell::isa
