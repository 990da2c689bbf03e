#include "verify/findings/readings.h"

#include "verify/findings/places.h"

namespace bitwell::findings {

const Reading& Readings::of(const SharedProgram& program) {
  const std::scoped_lock lock(mutex_);
  const auto at = readings_.find(program);
  if (at != readings_.end()) return at->second;
  return readings_
      .emplace(program, Reading{{*program, places_of(*program)},
                                hazard::MmaRegisters(*program),
                                hazard::reached_by_lanes(*program)})
      .first->second;
}

const hazard::Ways& Readings::ways(const SharedProgram& program) {
  const std::scoped_lock lock(mutex_);
  return ways_.try_emplace(program, *program).first->second;
}

}  // namespace bitwell::findings
