#include "model/isa/form/form.h"

#include <algorithm>
#include <initializer_list>

namespace bitwell::isa {
namespace {

size_t opcode_length(std::string_view pattern) {
  return std::min(pattern.find_first_of(".[{"), pattern.size());
}

bool match_from(const std::vector<Element>& elements, size_t e, const std::vector<std::string>& modifiers,
                size_t m, std::vector<std::string>& choice, size_t& reached) {
  reached = std::max(reached, m);
  if (e == elements.size()) return m == modifiers.size();
  const Element& element = elements[e];
  const size_t depth = choice.size();
  if (m < modifiers.size() && std::find(element.alternatives.begin(), element.alternatives.end(),
                                        modifiers[m]) != element.alternatives.end()) {
    if (element.group) choice.push_back(modifiers[m]);
    if (match_from(elements, e + 1, modifiers, m + 1, choice, reached)) return true;
    choice.resize(depth);
  }
  if (!element.optional) return false;
  choice.emplace_back();
  if (match_from(elements, e + 1, modifiers, m, choice, reached)) return true;
  choice.resize(depth);
  return false;
}

// The same where each modifier may be that of any element.
bool match_any_order(const std::vector<Element>& elements, const std::vector<std::string>& modifiers,
                     std::vector<std::string>& choice, size_t& reached) {
  std::vector<bool> used(modifiers.size());
  for (const Element& element : elements) {
    // A first one that is fixed stands first.
    const bool stays = &element == &elements.front() && !element.group;
    const size_t end = stays ? std::min<size_t>(1, modifiers.size()) : modifiers.size();
    size_t m = 0;
    const auto fits = [&] {
      return !used[m] && std::find(element.alternatives.begin(), element.alternatives.end(), modifiers[m]) !=
                             element.alternatives.end();
    };
    while (m < end && !fits()) ++m;
    const bool found = m < end;
    if (!found && !element.optional) return false;
    if (found) used[m] = true;
    if (element.group) choice.push_back(found ? modifiers[m] : "");
    reached = static_cast<size_t>(std::find(used.begin(), used.end(), false) - used.begin());
  }
  return reached == modifiers.size();
}

}  // namespace

std::string_view opcode_of(const Form& form) { return form.pattern.substr(0, opcode_length(form.pattern)); }

std::vector<Element> elements_of(const Form& form) {
  std::vector<Element> out;
  const std::string_view p = form.pattern;
  size_t at = opcode_length(p);
  while (at < p.size()) {
    Element element;
    if (p[at] == '.') {
      const size_t end = std::min(p.find_first_of(".[{", at + 1), p.size());
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
    out.push_back(std::move(element));
  }
  return out;
}

bool match(const Form& form, const std::vector<std::string>& modifiers, Match& out, size_t& reached) {
  out.choice.clear();
  reached = 0;
  const std::vector<Element> elements = elements_of(form);
  if (!(form.any_order ? match_any_order(elements, modifiers, out.choice, reached)
                       : match_from(elements, 0, modifiers, 0, out.choice, reached)))
    return false;
  out.name = opcode_of(form);
  for (const std::string& m : modifiers) out.name += m;
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
