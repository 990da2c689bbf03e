#include "verify/hazard/readings.h"

#include "verify/hazard/places.h"

namespace bitwell::verify {

const Reading& Readings::of(const SharedModule&, const SharedProgram& program) {
  const std::scoped_lock lock(mutex_);
  const auto at = readings_.find(program);
  if (at != readings_.end()) return at->second;
  return readings_.emplace(program, Reading{{*program, places_of(*program)}, hazard::MmaRegisters(*program)})
      .first->second;
}

const std::vector<int>& Readings::lines(const SharedModule& module, const std::string& entry) {
  const std::scoped_lock lock(mutex_);
  auto at = lines_.find({module, entry});
  if (at == lines_.end())
    at = lines_.try_emplace({module, entry}, hazard::MmaRegisters(*module->program(entry)).lines()).first;
  return at->second;
}

const hazard::Ways& Readings::ways(const SharedModule& module, const std::string& entry) {
  const std::scoped_lock lock(mutex_);
  auto at = ways_.find({module, entry});
  if (at == ways_.end()) at = ways_.try_emplace({module, entry}, module->program(entry)).first;
  return at->second.ways;
}

}  // namespace bitwell::verify
