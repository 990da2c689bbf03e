// What a launch touched of what it reserved, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "verify/session/footprint.h"

namespace bitwell::cli {

// A line each for shared and tensor memory; behind that of shared memory one for its variables, where any has
// bytes that were never touched; of a memory of which more than a sixteenth was never touched, or of any with
// `all`. `of`: whose, of several launches (" of the first launch"), or empty.
std::string footprint(const session::Memories& memories, const std::string& of, bool all);
nlohmann::json footprint_facts(const session::Memories& memories);

}  // namespace bitwell::cli
