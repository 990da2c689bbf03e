#include "model/ptx/reach.h"

#include <algorithm>
#include <unordered_map>

#include "model/ptx/items.h"
#include "model/ptx/token.h"

namespace bitwell::ptx {
namespace {

// Marks what `entry` comes to. Whether there is such an entry, and it calls nothing that only an address
// tells, which another entry may have stored.
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
    for (const Token& token : tokenize(item.body)) {
      if (token.text == ".callprototype") return false;
      if (token.kind == TokenKind::identifier)
        for (auto [at, last] = named.equal_range(token.text); at != last; ++at) add(*at->second);
    }
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
