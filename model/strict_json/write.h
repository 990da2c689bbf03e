// JSON as text, whatever its strings hold.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace bitwell::strict_json {

// Names of files and words of kernels are bytes that need not be UTF-8, which JSON is: what is none stands as
// U+FFFD. The library's own dump() throws instead, and what was to be told would be lost.
template <class Json>
std::string dumped(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bitwell::strict_json
