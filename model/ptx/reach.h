// What of a PTX file one entry needs: a file with the kernels of a library has hundreds that nobody launches.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::ptx {

// The names of the entries that `source` defines, in its order, found without reading their bodies. Of a text
// that is not PTX some of what parse would find, or none.
std::vector<std::string> entry_names(std::string_view source);

// `source` where the bodies of functions that `entry` cannot come to hold nothing but their line ends, and
// sections of debug information too: whatever stands elsewhere has the line it had. A function counts as
// come to where its name stands in one that is, or in the initializer of a variable that such a one names.
// The whole text where it defines no such entry, and where a call of what only an address tells
// (.callprototype) is come to: any entry may have stored that.
std::string reached_from(std::string_view source, std::string_view entry);

// `source` likewise, without the body of any function: heads and variables. The whole text where its brackets
// do not end.
std::string without_bodies(std::string_view source);

}  // namespace bitwell::ptx
