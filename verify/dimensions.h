// Shapes on the command line: "7168x16384x1".
#pragma once

#include <array>
#include <string_view>

namespace bitwell::verify {

// The three whole numbers, each from 1 to 2^31 - 1, of a shape written as `form` ("MxKxL") says. InputError,
// which names `form` and the text, otherwise.
std::array<int, 3> parse_dimensions(std::string_view text, std::string_view form);

}  // namespace bitwell::verify
