// JSON that people write: launches, budget specs, captures. Refused where a reader would have to guess.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

namespace bitwell::strict_json {

// The text is no JSON, or none that is read. what() says where: line and column, or a JSON pointer.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr int kDeepest = 64;  // objects and lists inside each other

// RFC 8259, and comments as in C++. Throws JsonError also for what that leaves open: nesting deeper than
// kDeepest, a key that stands twice in one object, a number that no double holds, and a NUL inside a key or
// a string (no path or name can hold one).
nlohmann::json parse(const std::string& text);
nlohmann::ordered_json parse_ordered(const std::string& text);

}  // namespace bitwell::strict_json
