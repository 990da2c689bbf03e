// Colour on terminals.
#pragma once
#include <string>

namespace bitwell::cli {

enum class Colour { red, yellow };

// Whether the standard output is a terminal that should be coloured: not where NO_COLOR is set and not empty
// (no-color.org), nor where TERM is dumb.
bool coloured();
// The words so, in bold, where coloured() says so; else as they are.
std::string in(Colour colour, const std::string& words);

}  // namespace bitwell::cli
