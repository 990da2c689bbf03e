// Which parts are asked, and what they are made of.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "verify/prove/prove.h"

namespace bitwell::prove {

// Those of the names; all without any. Throws InputError for a name that none has.
std::vector<Part> chosen(std::vector<Part> all, const std::vector<std::string>& names);

// Their modules but those of bitwell's own kernels, each once, by a name for its file.
std::map<std::string, std::string> texts_of(const std::vector<Part>& parts);

// Whether a GPU gave every answer that is bitwell's alone to give.
bool all_hold(const std::vector<Reply>& replies);

}  // namespace bitwell::prove
