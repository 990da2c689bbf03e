// Shapes on the command line: "7168x16384x1".
#pragma once

#include <string_view>
#include <vector>

namespace bitwell::launch {

// The whole numbers, each from 1 to 2^31 - 1, of a shape written as `form` says: "MxKxL", or "MxNxK[xL]",
// where the last may be left out and is 1 then. InputError, which names `form` and the text, otherwise.
std::vector<int> parse_dimensions(std::string_view text, std::string_view form);

}  // namespace bitwell::launch
