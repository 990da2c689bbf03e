#include "model/ptx/items.h"

#include <array>

#include "model/ptx/token.h"

namespace bitwell::ptx {
namespace {

// What brackets, strings and comments begin with or end in, and what ends an item.
constexpr auto kStops = [] {
  std::array<bool, 256> out{};
  for (const char c : {'{', '}', ';', '=', '"', '/'}) out[static_cast<unsigned char>(c)] = true;
  return out;
}();

// The end of the string or comment that begins at `at`, or of the one character there.
size_t behind(std::string_view text, size_t at) {
  const auto end = [&](size_t found, size_t length) {
    return found == std::string_view::npos ? text.size() : found + length;
  };
  if (text[at] == '"') return end(text.find('"', at + 1), 1);
  if (text.substr(at, 2) == "//") return end(text.find('\n', at), 0);
  if (text.substr(at, 2) == "/*") return end(text.find("*/", at + 2), 2);
  return at + 1;
}

// Of the head of an item, whether it is a function's and what that is called.
void name_function(Item& item) {
  int depth = 0;  // of the brackets around what a .func returns
  for (const Token& token : tokenize(item.head)) {
    if (token.text == ".section") item.kind = Item::Kind::section;
    if (token.text == ".entry") item.kind = Item::Kind::entry;
    if (token.text == ".func") item.kind = Item::Kind::function;
    depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0;
    const bool function = item.kind == Item::Kind::entry || item.kind == Item::Kind::function;
    if (!function || depth != 0 || token.kind != TokenKind::identifier) continue;
    item.name = token.text;
    return;
  }
}

}  // namespace

std::vector<Item> items(std::string_view source) {
  std::vector<Item> out;
  size_t begin = 0;   // of the item
  size_t equals = 0;  // its '=' outside of brackets; 0: none
  size_t open = 0;    // its '{'
  int depth = 0;
  for (size_t at = 0; at < source.size(); at = behind(source, at)) {
    while (at < source.size() && !kStops[static_cast<unsigned char>(source[at])]) ++at;
    if (at == source.size()) break;
    const char c = source[at];
    if (c == '{' && depth++ == 0) open = at;
    if (c == '=' && depth == 0 && equals == 0) equals = at;
    if (c == '}' && --depth < 0) return {};
    if (depth != 0 || (c != ';' && (c != '}' || equals != 0))) continue;
    const size_t body = c == '}' ? open : equals != 0 ? equals : at;
    const std::string_view head = source.substr(begin, body - begin);
    const std::string_view rest = source.substr(body, at + 1 - body);
    // A directive of a function, .pragma, has a ';' of its own.
    if (c == '}' && !out.empty() && !out.back().name.empty() && tokenize(head).size() == 1) {
      out.back().body = rest;
    } else {
      out.push_back({head, rest});
      name_function(out.back());
    }
    begin = at + 1;
    equals = 0;
  }
  return depth == 0 ? out : std::vector<Item>{};
}

}  // namespace bitwell::ptx
