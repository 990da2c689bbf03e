// What 16-bit arithmetic lost, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/session/session.h"

namespace bitwell::cli {

// A line for each instruction and kind of loss, or one that says that there was none. `bound`: with which
// they were counted.
std::string numeric_text(const std::vector<run::Losses>& losses, run::Bound bound);
nlohmann::json numeric_facts(const std::vector<run::Losses>& losses, run::Bound bound);

}  // namespace bitwell::cli
