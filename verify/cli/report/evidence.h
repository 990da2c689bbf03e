// How the results of a kernel's instructions are known, in words and as data.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/capture/approximate_ways.h"
#include "verify/capture/evidence.h"

namespace bitwell::cli {

// `ways`: of the approximate ones.
std::string evidence_text(const std::vector<capture::Evidence>& evidence, const std::string& target,
                          const std::vector<capture::ApproximateWay>& ways);
nlohmann::json evidence_facts(const std::vector<capture::Evidence>& evidence,
                              const std::vector<capture::ApproximateWay>& ways);

}  // namespace bitwell::cli
