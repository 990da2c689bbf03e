// Names of entries and variables as people write them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::launch {

// The one of `names` that `wanted` means: the name itself, or else the one whose C++ name is or contains it.
// `what`: "entry", for the InputError where none or several do, which lists them.
size_t name_among(const std::vector<std::string>& names, const std::string& wanted, const std::string& what);

// A message with the C++ names in it as they were written: "scale(float*)" for "_Z5scalePf".
std::string as_written(std::string_view message);
// A message with the C++ names in it as they were written, and what stands in long pairs of angle brackets,
// or in long parentheses behind a name, left out: "gemm<...>(...)"; and without the middle of other long
// names.
std::string shortened(std::string_view message);

}  // namespace bitwell::launch
