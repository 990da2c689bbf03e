#include "model/ptx/reach.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "model/ptx/token.h"

namespace bitwell::ptx {
namespace {

// A function, a variable or a section, as far as brackets show.
struct Item {
  std::string_view head;  // up to the body, or up to the '='
  std::string_view body;  // with its brackets; of a variable from the '=' on
  enum class Kind { other, function, entry, section } kind = Kind::other;
  std::string_view name = {};  // of a function
  bool reached = false;
};

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

// The items of a module; none where brackets do not end. Throws SyntaxError.
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

bool has_body(const Item& item) { return item.body.starts_with('{'); }

// Marks what `entry` comes to. Whether there is such an entry.
bool reach(std::vector<Item>& all, std::string_view entry) {
  std::unordered_multimap<std::string_view, Item*> named;  // what stands under a name
  std::vector<Item*> work;
  const auto add = [&](Item& item) {
    if (!item.reached) work.push_back(&item);
    item.reached = true;
  };
  for (Item& item : all) {
    if (!item.name.empty()) {
      named.emplace(item.name, &item);
      if (item.kind == Item::Kind::entry && item.name == entry && has_body(item)) add(item);
    } else if (item.body.starts_with('=')) {
      for (const Token& token : tokenize(item.head))
        if (token.kind == TokenKind::identifier) named.emplace(token.text, &item);
    }
  }
  const bool found = !work.empty();
  while (!work.empty()) {
    const Item& item = *work.back();
    work.pop_back();
    for (const Token& token : tokenize(item.body))
      if (token.kind == TokenKind::identifier)
        for (auto [at, last] = named.equal_range(token.text); at != last; ++at) add(*at->second);
  }
  return found;
}

// `source`, in which bodies of sections and of functions that are not marked hold nothing but line ends.
std::string without_idle_bodies(std::string_view source, const std::vector<Item>& all) {
  std::string out;
  const char* copied = source.data();  // up to here
  for (const Item& item : all) {
    const bool idle = item.kind == Item::Kind::section || (!item.name.empty() && !item.reached);
    if (!idle || !has_body(item)) continue;
    const char* const body = item.body.data();
    out.append(copied, body + 1);
    out.append(static_cast<size_t>(std::count(item.body.begin(), item.body.end(), '\n')), '\n');
    copied = body + item.body.size() - 1;
  }
  return out.append(copied, source.data() + source.size());
}

}  // namespace

std::vector<std::string> entry_names(std::string_view source) {
  std::vector<std::string> out;
  try {
    for (const Item& item : items(source))
      if (item.kind == Item::Kind::entry && has_body(item)) out.emplace_back(item.name);
  } catch (const SyntaxError&) {
    return {};
  }
  return out;
}

std::string reached_from(std::string_view source, std::string_view entry) {
  try {
    std::vector<Item> all = items(source);
    // Where one function is all there is, nothing need be read of it.
    const auto is_entry = [&](const Item& i) {
      return i.kind == Item::Kind::entry && i.name == entry && has_body(i);
    };
    const auto may_be_idle = [](const Item& i) {
      return has_body(i) && (i.kind == Item::Kind::section || !i.name.empty());
    };
    if (std::count_if(all.begin(), all.end(), may_be_idle) == 1 &&
        std::any_of(all.begin(), all.end(), is_entry))
      return std::string(source);
    if (reach(all, entry)) return without_idle_bodies(source, all);
  } catch (const SyntaxError&) {  // parse says where
  }
  return std::string(source);
}

std::string without_bodies(std::string_view source) {
  try {
    return without_idle_bodies(source, items(source));
  } catch (const SyntaxError&) {
    return std::string(source);
  }
}

}  // namespace bitwell::ptx
