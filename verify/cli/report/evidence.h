// How the results of a kernel's instructions are known, in words and as data.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/capture/evidence.h"

namespace bitwell::cli {

std::string evidence_text(const std::vector<capture::Evidence>& evidence, const std::string& target);
nlohmann::json evidence_facts(const std::vector<capture::Evidence>& evidence);

}  // namespace bitwell::cli
