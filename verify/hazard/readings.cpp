#include "verify/hazard/readings.h"

#include "verify/hazard/places.h"

namespace bitwell::verify {

const Reading& Readings::of(const SharedModule& module, const SharedProgram& program) {
  const std::scoped_lock lock(mutex_);
  const auto at = readings_.find(program);
  if (at != readings_.end()) return at->second;
  const ptx::Module& syntax = module->syntax(program->functions[static_cast<size_t>(program->entry)].name);
  return readings_
      .emplace(program, Reading{{syntax, places_of(*program, syntax)}, hazard::MmaRegisters(syntax)})
      .first->second;
}

const std::vector<int>& Readings::lines(const SharedModule& module, const std::string& entry) {
  const std::scoped_lock lock(mutex_);
  auto at = lines_.find({module, entry});
  if (at == lines_.end())
    at = lines_.try_emplace({module, entry}, hazard::MmaRegisters(module->syntax(entry)).lines()).first;
  return at->second;
}

const hazard::Ways& Readings::ways(const SharedModule& module, const std::string& entry) {
  const std::scoped_lock lock(mutex_);
  auto at = ways_.find({module, entry});
  if (at == ways_.end()) at = ways_.try_emplace({module, entry}, module->syntax(entry)).first;
  return at->second;
}

}  // namespace bitwell::verify
