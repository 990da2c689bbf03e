// Layout expressions as text: what CuTe prints, and calls of the algebra's functions.
//
//   layout    (4,(2,8)):(8,(1,32))   8:2   (4,8) (compact)   _4:_1 (static integers as CUTLASS prints them)
//   swizzled  S<3,4,3> o 0 o (8,64):(64,1)
//   tiler     [4:1, 8:2]   [4:1, _]
//   call      logical_divide((16,32), [4:1, 8:1])
//   number    size(...)  cosize(...)
#pragma once
#include <string_view>
#include <variant>

#include "model/layout/algebra.h"
#include "model/layout/swizzle.h"

namespace bitwell::layout {

using Value = std::variant<Composed, int64_t>;

// Throws LayoutError with the column and what was expected there.
Value evaluate(std::string_view text);
// The same for a text that must be a layout, or a layout without a swizzle.
Composed parse_composed(std::string_view text);
Layout parse_layout(std::string_view text);

// "5,2", "(5,(1,2))" or "5": integers that are not negative, nested.
Tuple parse_coordinate(std::string_view text);

// Names of all functions with their arguments, "logical_divide(layout, tiler)", for --help.
std::vector<std::string> function_names();

}  // namespace bitwell::layout
