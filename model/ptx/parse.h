// Tokens -> syntax.
#pragma once
#include <string_view>

#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// The module written in `source`. Throws SyntaxError at the first thing that is not PTX.
Module parse(std::string_view source);

}  // namespace bitwell::ptx
