#include "model/isa/form/form.h"

#include <algorithm>
#include <iterator>

#include "model/isa/form/type.h"

namespace bitwell::isa {
namespace {

size_t opcode_length(std::string_view pattern) {
  return std::min(pattern.find_first_of(".[{|"), pattern.size());
}

// Takes one modifier for each element, in the pattern's order; each may be taken once.
class Matcher {
 public:
  explicit Matcher(const std::vector<std::string>& modifiers)
      : modifiers_(modifiers), used_(modifiers.size()) {}

  // Takes the element's modifier, nullptr if none fits: the next one of the head, or the first of the rest
  // that fits; of a class whose order says which operand is meant, the first that is left.
  const std::string* take(const Element& element) {
    const bool ordered = element.ordered != OrderClass::none && !element.head;
    for (size_t m = 0; m < modifiers_.size(); ++m) {
      if (used_[m] || (ordered && order_class(modifiers_[m]) != element.ordered)) continue;
      if (std::find(element.alternatives.begin(), element.alternatives.end(), modifiers_[m]) !=
          element.alternatives.end()) {
        used_[m] = true;
        return &modifiers_[m];
      }
      if (element.head || ordered) return nullptr;
    }
    return nullptr;
  }
  // How many, from the first, were taken.
  size_t reached() const {
    return static_cast<size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
  }

 private:
  const std::vector<std::string>& modifiers_;
  std::vector<bool> used_;
};

}  // namespace

std::string_view opcode_of(const Form& form) { return form.pattern.substr(0, opcode_length(form.pattern)); }

std::vector<Element> elements_of(const Form& form) {
  std::vector<Element> out;
  const std::string_view p = form.pattern;
  size_t at = opcode_length(p);
  while (at < p.size()) {
    if (p[at] == '|') {
      for (Element& before : out) before.head = true;
      ++at;
      continue;
    }
    Element element;
    if (p[at] == '.') {
      const size_t end = std::min(p.find_first_of(".[{|", at + 1), p.size());
      element.alternatives.emplace_back(p.substr(at, end - at));
      at = end;
    } else {
      element.group = true;
      element.optional = p[at] == '[';
      const size_t close = p.find_first_of("]}", at);
      size_t from = at + 1;
      while (from < close) {
        const size_t comma = std::min(p.find(',', from), close);
        element.alternatives.emplace_back(p.substr(from, comma - from));
        from = comma + 1;
      }
      at = close + 1;
    }
    element.ordered = order_class(element.alternatives.front());
    out.push_back(std::move(element));
  }
  return out;
}

OrderClass order_class(std::string_view modifier) {
  static constexpr std::string_view spaces[] = {".const",  ".global",       ".local",
                                                ".param",  ".param::entry", ".param::func",
                                                ".shared", ".shared::cta",  ".shared::cluster"};
  // Types that no register has: of packed numbers, of a tensor map, and the rows of a matrix's narrow copy.
  static constexpr std::string_view formats[] = {
      ".e4m3",   ".e5m2",   ".e2m3",   ".e3m2",   ".e2m1",   ".ue8m0",     ".ue4m3",    ".u4",
      ".s4",     ".e4m3x2", ".e5m2x2", ".e2m3x2", ".e3m2x2", ".e2m1x2",    ".ue8m0x2",  ".e4m3x4",
      ".e5m2x4", ".e2m3x4", ".e3m2x4", ".e2m1x4", ".b8x16",  ".b6x16_p32", ".b4x16_p64"};
  const auto in = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), modifier) != std::end(list);
  };
  if (find_type(modifier) != nullptr || in(formats)) return OrderClass::type;
  if (in(spaces)) return OrderClass::space;
  if (modifier == ".row" || modifier == ".col") return OrderClass::layout;
  if (modifier.starts_with(".L2::evict_")) return OrderClass::eviction;
  return OrderClass::none;
}

bool match(const Form& form, const std::vector<Element>& elements, const std::vector<std::string>& modifiers,
           Match& out, size_t& reached) {
  out.choice.clear();
  out.modifiers.clear();
  Matcher matcher(modifiers);
  bool whole = true;
  for (const Element& element : elements) {
    const std::string* taken = matcher.take(element);
    whole = whole && (taken != nullptr || element.optional);
    if (taken != nullptr) out.modifiers.push_back(*taken);
    if (element.group) out.choice.push_back(taken != nullptr ? *taken : "");
    if (!whole) break;
  }
  reached = matcher.reached();
  if (!whole || reached != modifiers.size()) return false;
  out.name = opcode_of(form);
  for (const std::string& m : out.modifiers) out.name += m;
  return true;
}

std::vector<Role> roles_of(const Form& form, const Match& match) {
  std::vector<Role> out;
  std::string_view rest = form.operands;
  while (!rest.empty()) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, blank);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
    if (word.empty()) continue;
    Role role{word[0], "", word.ends_with('?')};
    if (role.optional) word.remove_suffix(1);
    if (role.kind == 'p' || role.kind == 'q') role.type = ".pred";
    if (word.size() > 2 && word[2] == '$')
      role.type = match.choice[static_cast<size_t>(word[3] - '1')];
    else if (word.size() > 2)
      role.type = "." + std::string(word.substr(2));
    out.push_back(std::move(role));
  }
  return out;
}

}  // namespace bitwell::isa
