// A module as far as its brackets show: what is found without reading a body.
#pragma once
#include <string_view>
#include <vector>

namespace bitwell::ptx {

// A function, a variable or a section, as far as brackets show.
struct Item {
  std::string_view head;  // up to the body, or up to the '='
  std::string_view body;  // with its brackets; of a variable from the '=' on
  enum class Kind { other, function, entry, section } kind = Kind::other;
  std::string_view name = {};  // of a function
  bool reached = false;
};

inline bool has_body(const Item& item) { return item.body.starts_with('{'); }

// The items of a module, in its order, with all that stands before each; none where brackets do not end.
// Throws SyntaxError.
std::vector<Item> items(std::string_view source);

}  // namespace bitwell::ptx
