// A judged case as a line of a journal.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "verify/verdict/judged.h"

namespace bitwell::verdict {

// All but its result, of which the digest alone is there. The replay is named from `folder` on.
nlohmann::json as_json(const Judged& judged, const std::string& folder);
// The result is left empty. Throws nlohmann::json::exception, and InputError for a case that is not there.
Judged judged_of(const nlohmann::json& line, const std::string& folder);
std::string digest_of(const std::vector<std::byte>& bytes);

}  // namespace bitwell::verdict
