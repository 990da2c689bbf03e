// What `bitwell run --races` says, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "verify/hazard/report.h"

namespace bitwell::cli {

struct Hazards {
  std::string text;
  nlohmann::json facts = nlohmann::json::array();
  size_t errors = 0, notes = 0;
};
// Of `findings`, and how to see them again; nothing where there are none. `path`: the launch file's.
Hazards hazards(const std::vector<hazard::Finding>& findings, const isa::Program& program,
                const isa::Shape& shape, const isa::Schedule& schedule, const std::string& path);

}  // namespace bitwell::cli
