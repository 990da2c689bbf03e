#include "model/ptx/link.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "model/ptx/items.h"
#include "model/ptx/token.h"

namespace bitwell::ptx {
namespace {

enum class Linkage : uint8_t { module, external, common, weak, visible };  // a later one goes before
constexpr std::pair<std::string_view, Linkage> kLinkages[] = {{".extern", Linkage::external},
                                                              {".common", Linkage::common},
                                                              {".weak", Linkage::weak},
                                                              {".visible", Linkage::visible}};

// A function, variable or section of a module, without directives of the module that stand before it.
struct Part {
  std::string_view text, head;
  std::vector<std::string_view> names{};
  Linkage linkage = Linkage::module;
  enum class Kind : uint8_t { other, function, entry, variable } kind = Kind::other;
  bool has_body = false, shared = false;
  uint64_t align = 0;
  bool dropped = false;
  bool defines() const { return kind == Kind::variable ? linkage != Linkage::external : has_body; }
};

struct Unit {
  std::string_view version, target, address_size;
  std::vector<Part> parts{};
  std::map<std::string_view, std::string_view>
      files{};  // by number, as it is written: the name, with its quotes
  std::map<std::string_view, std::string> renamed{};
  std::map<std::string_view, int> numbers{};  // of files in the joined text
};

std::string_view between(std::string_view from, std::string_view to) {
  return {from.data(), static_cast<size_t>(to.data() + to.size() - from.data())};
}

using Tokens = std::vector<Token>;

// Reads the module's own directives from `at` on; where what follows them begins.
size_t directives(Unit& m, const Tokens& tokens, size_t at) {
  const size_t last = tokens.size() - 1;  // the end
  const auto text = [&](size_t i) { return tokens[std::min(i, last)].text; };
  for (; at < last; ++at) {
    if (text(at) == ".version") {
      m.version = text(++at);
    } else if (text(at) == ".target") {
      const std::string_view first = text(++at);
      while (text(at + 1) == "," && at + 2 < last) at += 2;
      m.target = between(first, text(at));
    } else if (text(at) == ".address_size") {
      m.address_size = text(++at);
    } else if (text(at) == ".file") {
      m.files[text(at + 1)] = text(at + 2);
      at += 2;
      while (text(at + 1) == ",") at += 2;  // when it was written, and its size
    } else {
      return at;
    }
  }
  return last;
}

// The names that a variable's declaration has: behind its type, and behind each comma outside of brackets.
std::vector<std::string_view> declared(const Tokens& tokens, size_t at) {
  std::vector<std::string_view> out;
  int depth = 0;
  bool wanted = true;
  for (; tokens[at].kind != TokenKind::end; ++at) {
    const std::string_view text = tokens[at].text;
    if (text == "{" || text == "[" || text == "(") ++depth;
    if (text == "}" || text == "]" || text == ")") --depth;
    if (depth == 0 && text == ",") wanted = true;
    if (depth != 0 || !wanted || tokens[at].kind != TokenKind::identifier) continue;
    out.push_back(text);
    wanted = false;
  }
  return out;
}

Part part_of(Unit& m, const Item& item) {
  const std::string_view all = between(item.head, item.body);
  const Tokens tokens = tokenize(item.head);
  size_t at = directives(m, tokens, 0);
  if (tokens[at].kind == TokenKind::end) return {all.substr(all.size()), all.substr(all.size())};
  Part out{between(tokens[at].text, item.body), between(tokens[at].text, item.head)};
  out.has_body = has_body(item);
  for (const auto& [text, linkage] : kLinkages)
    if (tokens[at].text == text) out.linkage = linkage;
  if (out.linkage != Linkage::module) ++at;
  const std::string_view space = tokens[at].text;
  if (!item.name.empty()) {
    out.kind = item.kind == Item::Kind::entry ? Part::Kind::entry : Part::Kind::function;
    out.names = {item.name};
    // A kernel is known to the host, whatever its module says.
    if (out.kind == Part::Kind::entry && out.linkage == Linkage::module) out.linkage = Linkage::visible;
  } else if (space == ".global" || space == ".const" || space == ".shared") {
    out.kind = Part::Kind::variable;
    out.shared = space == ".shared";
    out.names = declared(tokenize(out.text), out.linkage == Linkage::module ? 1 : 2);
    for (size_t i = at; i + 1 < tokens.size(); ++i)
      if (tokens[i].text == ".align")
        out.align = std::strtoull(std::string(tokens[i + 1].text).c_str(), nullptr, 0);
  }
  return out;
}

Unit unit_of(std::string_view text) {
  Unit out;
  const std::vector<Item> all = items(text);
  if (all.empty()) return out;
  for (const Item& item : all)
    if (Part p = part_of(out, item); !p.text.empty()) out.parts.push_back(std::move(p));
  const size_t end = static_cast<size_t>(all.back().body.data() + all.back().body.size() - text.data());
  directives(out, tokenize(text.substr(end)), 0);
  return out;
}

// Whether another module's name can mean this part.
bool is_shared_between_modules(const Part& p) {
  return p.kind != Part::Kind::other && p.linkage != Linkage::module;
}

// Which modules need one another: for each the first of its group.
std::vector<size_t> groups(const std::vector<Unit>& modules) {
  std::vector<size_t> first(modules.size());
  std::iota(first.begin(), first.end(), size_t{0});
  const std::function<size_t(size_t)> root = [&](size_t i) { return first[i] == i ? i : root(first[i]); };
  const auto join = [&](size_t a, size_t b) {
    const size_t low = std::min(root(a), root(b)), high = std::max(root(a), root(b));
    first[high] = low;
  };
  std::map<std::string_view, std::vector<size_t>> definers, wanting, having;
  for (size_t i = 0; i < modules.size(); ++i)
    for (const Part& p : modules[i].parts) {
      if (!is_shared_between_modules(p) || p.shared) continue;
      const bool variable = p.kind == Part::Kind::variable;
      for (const std::string_view name : p.names) {
        if (p.defines()) definers[name].push_back(i);
        if (!p.defines() && p.linkage == Linkage::external) wanting[name].push_back(i);
        if (variable && p.defines()) having[name].push_back(i);
      }
    }
  for (const auto& [name, who] : wanting)
    if (const auto at = definers.find(name); at != definers.end())
      for (const size_t w : who)
        for (const size_t d : at->second) join(w, d);
  for (const auto& [name, who] : having)
    for (const size_t w : who) join(who.front(), w);
  for (size_t i = 0; i < first.size(); ++i) first[i] = root(i);
  return first;
}

// Of the parts that a name stands for the one that is taken; the others are dropped.
void choose(const std::string& name, const std::vector<Part*>& all) {
  Part* taken = nullptr;
  for (Part* const p : all) {
    if (taken == nullptr) {
      taken = p;
      continue;
    }
    const bool both = p->defines() && taken->defines();
    if (both && p->linkage == Linkage::visible && taken->linkage == Linkage::visible)
      throw LinkError("two modules define '" + name + "'");
    if (both && p->linkage == Linkage::common && taken->linkage == Linkage::common && p->text != taken->text)
      throw LinkError("two modules have a '.common' variable '" + name + "', which are not the same");
    // Memory that a launch gives is one, and is aligned as whoever wants most.
    const bool better = p->defines() != taken->defines() ? p->defines()
                        : p->defines()                   ? p->linkage > taken->linkage
                                                         : p->align > taken->align;
    Part* const less = better ? taken : p;
    if (better) taken = p;
    if (less->names.size() > 1)
      throw LinkError("'" + name +
                      "' is declared with other names in one statement, and two modules have it");
    less->dropped = true;
  }
}

void resolve(std::vector<Unit>& modules) {
  std::map<std::string_view, std::vector<Part*>> known;
  std::map<std::string_view, std::set<size_t>> within;
  for (size_t i = 0; i < modules.size(); ++i)
    for (Part& p : modules[i].parts) {
      if (p.kind == Part::Kind::other) continue;
      for (const std::string_view name : p.names)
        if (p.linkage == Linkage::module)
          within[name].insert(i);
        else
          known[name].push_back(&p);
    }
  for (const auto& [name, all] : known) choose(std::string(name), all);
  for (const auto& [name, who] : within) {
    size_t count = known.contains(name) ? 1 : 0;
    for (const size_t i : who) {
      std::string other(name);
      for (; count > 0 && (known.contains(other) || within.contains(other)); ++count)
        other = std::string(name) + "_" + std::to_string(count);
      if (other != name) modules[i].renamed[name] = other;
      ++count;
    }
  }
}

// Text of a module with the names and numbers that it has in the joined one.
std::string rewritten(std::string_view text, const Unit& m, size_t index) {
  std::string out;
  const char* copied = text.data();
  const auto replace = [&](std::string_view token, const std::string& by) {
    out.append(copied, token.data());
    out += by;
    copied = token.data() + token.size();
  };
  const Tokens tokens = tokenize(text);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.text == ".loc" || (t.text == "inlined_at" && i > 0 && tokens[i - 1].text == ",")) {
      const std::string_view number = tokens[i + 1].text;
      if (const auto at = m.numbers.find(number); at != m.numbers.end())
        replace(number, std::to_string(at->second));
    } else if (t.kind == TokenKind::identifier && t.text.starts_with("$L__info_string")) {
      replace(t.text, std::string(t.text) + "_" + std::to_string(index));
    } else if (t.kind == TokenKind::identifier) {
      if (const auto at = m.renamed.find(t.text); at != m.renamed.end()) replace(t.text, at->second);
    }
  }
  return out.append(copied, text.data() + text.size());
}

// A function's head as a declaration: up to the end of its parameters.
std::string declaration(const Part& p) {
  const Tokens tokens = tokenize(p.head);
  size_t at = 0;
  while (tokens[at].text != p.names.front()) ++at;
  if (tokens[at + 1].text == "(")
    while (tokens[at].text != ")" && at + 2 < tokens.size()) ++at;
  const bool returns =
      std::none_of(tokens.begin(), tokens.end(), [](const Token& t) { return t.text == ".noreturn"; });
  return std::string(between(tokens[0].text, tokens[at].text)) + (returns ? ";\n" : " .noreturn;\n");
}

// Numbers the files of all: each name once.
std::string file_list(std::vector<Unit>& modules) {
  std::map<std::string_view, int> numbers;
  std::string out;
  for (Unit& m : modules)
    for (const auto& [number, name] : m.files) {
      const auto [at, is_new] = numbers.try_emplace(name, static_cast<int>(numbers.size()) + 1);
      if (is_new) out += ".file " + std::to_string(at->second) + " " + std::string(name) + "\n";
      m.numbers[number] = at->second;
    }
  return out;
}

// All variables: each behind those that its initializer names.
std::string variables(const std::vector<Unit>& modules) {
  std::map<std::string, std::pair<const Part*, size_t>> by_name;
  std::vector<std::string> order;
  for (size_t i = 0; i < modules.size(); ++i)
    for (const Part& p : modules[i].parts) {
      if (p.kind != Part::Kind::variable || p.dropped) continue;
      const auto other = modules[i].renamed.find(p.names.front());
      order.push_back(other == modules[i].renamed.end() ? std::string(p.names.front()) : other->second);
      by_name[order.back()] = {&p, i};
    }
  std::string out;
  std::set<std::string> begun;
  const std::function<void(const std::string&)> write = [&](const std::string& name) {
    const auto at = by_name.find(name);
    if (at == by_name.end() || !begun.insert(name).second) return;
    const std::string text = rewritten(at->second.first->text, modules[at->second.second], at->second.second);
    for (const Token& t : tokenize(text))
      if (t.kind == TokenKind::identifier) write(std::string(t.text));
    out += text + "\n";
  };
  for (const std::string& name : order) write(name);
  return out;
}

std::string join(std::vector<Unit> modules) {
  const Unit& first = modules.front();
  std::string_view version = first.version, target = first.target;
  const auto device = [](std::string_view t) { return t.substr(0, t.find(',')); };
  const auto number = [](std::string_view v) { return std::strtod(std::string(v).c_str(), nullptr); };
  for (const Unit& m : modules) {
    if (m.version.empty() || m.target.empty()) throw LinkError("a module has no .version or no .target");
    if (!m.address_size.empty() && m.address_size != "64")
      throw LinkError("a module of .address_size " + std::string(m.address_size) + " is not linked");
    if (device(m.target) != device(target))
      throw LinkError("modules for " + std::string(device(target)) + " and for " +
                      std::string(device(m.target)) + " are not linked");
    if (m.target.size() > target.size()) target = m.target;
    if (number(m.version) > number(version)) version = m.version;
  }
  resolve(modules);
  std::string out = ".version " + std::string(version) + "\n.target " + std::string(target) +
                    "\n.address_size 64\n" + file_list(modules);
  const auto each = [&](auto wanted, auto text) {
    for (size_t i = 0; i < modules.size(); ++i)
      for (const Part& p : modules[i].parts)
        if (!p.dropped && wanted(p)) out += rewritten(text(p), modules[i], i) + "\n";
  };
  using Kind = Part::Kind;
  each([](const Part& p) { return p.kind == Kind::function; }, declaration);
  out += variables(modules);
  const auto whole = [](const Part& p) { return std::string(p.text); };
  each([](const Part& p) { return p.kind == Kind::function && p.has_body; }, whole);
  each([](const Part& p) { return p.kind == Kind::entry; }, whole);
  each([](const Part& p) { return p.kind == Kind::other; }, whole);
  return out;
}

}  // namespace

std::string joined(const std::vector<std::string>& modules) {
  std::vector<Unit> all;
  for (const std::string& m : modules) all.push_back(unit_of(m));
  return join(std::move(all));
}

std::vector<std::string> link(std::vector<std::string> modules) {
  std::vector<Unit> all;
  for (const std::string& m : modules) {
    try {
      all.push_back(unit_of(m));
    } catch (const SyntaxError&) {  // whoever compiles it says where
      all.emplace_back();
    }
  }
  const std::vector<size_t> first = groups(all);
  std::vector<std::string> out;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (first[i] != i) continue;
    std::vector<Unit> group;
    for (size_t j = i; j < modules.size(); ++j)
      if (first[j] == i) group.push_back(all[j]);
    out.push_back(group.size() == 1 ? std::move(modules[i]) : join(std::move(group)));
  }
  return out;
}

}  // namespace bitwell::ptx
