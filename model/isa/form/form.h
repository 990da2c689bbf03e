// Instruction forms as table rows, in the manual's own notation.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/ptx/syntax.h"

namespace bitwell::isa {

class Builder;

// How an instruction matched a pattern: the alternative taken of each group, "" for an optional group left
// out.
struct Match {
  std::vector<std::string> choice;
  std::string name;  // opcode and modifiers as written
};

// One row. `pattern` is the opcode and its modifiers: `{.a,.b}` one of, `[.a,.b]` none or one of, in this
// order. `operands` lists the operands' roles and types, separated by blanks:
//   d:T destination register or `_`     s:T register or constant      r:T register      i:T constant
//   q destination predicate             p predicate, may be negated
//   T is a type without its dot or $n, the n-th group's choice; a trailing ? allows the operand to be absent;
//   `*` alone leaves all operands to `build`.
// `version` (10 * major + minor) and `sm` are the least PTX version and target; sm 0: any. `only` names
// targets that must carry the suffix a or f ("a": sm_90a and later with suffix a), `until` the last sm that
// has the form, 0: all later ones have it.
struct Form {
  std::string_view pattern;
  std::string_view operands;
  void (*build)(Builder&, const Match&);
  int version = 0;
  int sm = 0;
  std::string_view only{};
  int until = 0;
  // The modifiers may stand in any order, as ptxas takes them; behind the first, if that is a fixed one.
  bool any_order = false;
};

std::string_view opcode_of(const Form& form);

// One element of a pattern: a fixed modifier or a group.
struct Element {
  std::vector<std::string> alternatives;
  bool optional = false;
  bool group = false;
};
std::vector<Element> elements_of(const Form& form);

// Whether `modifiers` fit the pattern; `reached` returns how many modifiers the best attempt consumed.
bool match(const Form& form, const std::vector<std::string>& modifiers, Match& out, size_t& reached);

// What a role string such as "s:$1?" says.
struct Role {
  char kind;
  std::string type;  // with its dot, $n resolved
  bool optional;
};
std::vector<Role> roles_of(const Form& form, const Match& match);

}  // namespace bitwell::isa
