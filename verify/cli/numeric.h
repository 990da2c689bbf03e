// What 16-bit arithmetic lost, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/run/numeric.h"

namespace bitwell::cli {

// A line for each instruction and kind of loss, or one that says that there was none.
std::string numeric_text(const std::vector<isa::Losses>& losses, const isa::Program& program);
nlohmann::json numeric_facts(const std::vector<isa::Losses>& losses);

}  // namespace bitwell::cli
