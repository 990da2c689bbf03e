// What a launch touched of what it reserved, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "model/run/footprint.h"

namespace bitwell::cli {

std::string footprint(const isa::Footprint& f);  // a line each for shared and tensor memory
nlohmann::json footprint_facts(const isa::Footprint& f);

}  // namespace bitwell::cli
