#include "model/hazard/flow/by_lanes.h"

#include <algorithm>

namespace bitwell::hazard {

bool reached_by_lanes(const isa::Program& program) {
  using enum isa::Act;
  const auto by_lanes = [](const isa::Uses& what) {
    return (what.act == none || what.act == calls) &&
           std::none_of(what.touches.begin(), what.touches.end(), [](const isa::Touch& t) {
             return t.operation || t.barrier || t.space == isa::Space::tensor;
           });
  };
  return std::all_of(program.functions.begin(), program.functions.end(), [&](const isa::Function& f) {
    for (size_t i = 0; i < f.uses.size(); ++i)
      if (!by_lanes(f.uses.at(i))) return false;
    return true;
  });
}

}  // namespace bitwell::hazard
