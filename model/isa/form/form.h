// Instruction forms as table rows, in the manual's own notation.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/arch.h"
#include "model/ptx/syntax.h"

namespace bitwell::isa {

class Builder;
using machine::Features;

// How an instruction matched a pattern: the alternative taken of each group, "" for an optional group left
// out, and all modifiers in the pattern's order, whatever order they were written in.
struct Match {
  std::vector<std::string> choice;
  std::vector<std::string> modifiers;
  std::string name;  // opcode and modifiers, in the pattern's order
};

// What a row needs of the target: an architecture at least (0: any), or a feature that an architecture must
// have.
struct Needs {
  int sm = 0;
  std::string_view Features::*feature = nullptr;
  constexpr Needs() = default;
  constexpr Needs(int least) : sm(least) {}
  constexpr Needs(std::string_view Features::*f) : feature(f) {}
};

// One row. `pattern` is the opcode and its modifiers: `{.a,.b}` one of, `[.a,.b]` none or one of. What stands
// before a `|` names the operation with the opcode and keeps its place; all other modifiers may stand in any
// order, but for those that say what an operand is: two types, two state spaces, two layouts keep theirs
// (order_class). ptxas 13.0 takes them so. `operands` lists the operands' roles and types, separated by
// blanks:
//   d:T destination register or `_`     s:T register or constant      r:T register      i:T constant
//   q destination predicate             p predicate, may be negated
//   T is a type without its dot or $n, the n-th group's choice; a trailing ? allows the operand to be absent;
//   `*` alone leaves all operands to `build`.
// `version` (10 * major + minor) is the least PTX version; `needs` the least target (0: any), or the feature
// that an architecture must have; `only` names the suffixes that a target must carry ("a": sm_90a and later
// with suffix a). A feature says its own.
struct Form {
  std::string_view pattern;
  std::string_view operands;
  void (*build)(Builder&, const Match&);
  int version = 0;
  Needs needs{};
  std::string_view only{};
};

std::string_view opcode_of(const Form& form);

// What a modifier says of an operand; modifiers of one class keep their order, those of none need not.
enum class OrderClass { none, type, space, layout, eviction };
OrderClass order_class(std::string_view modifier);

// One element of a pattern: a fixed modifier or a group, whose alternatives are all of one class.
struct Element {
  std::vector<std::string> alternatives;
  bool optional = false;
  bool group = false;
  bool head = false;  // stands before the `|`
  OrderClass ordered = OrderClass::none;
};
std::vector<Element> elements_of(const Form& form);

// Whether `modifiers` fit the pattern, whose elements are given; `reached` returns how many of them did, from
// the first, in the best
// attempt.
bool match(const Form& form, const std::vector<Element>& elements, const std::vector<std::string>& modifiers,
           Match& out, size_t& reached);

// What a role string such as "s:$1?" says.
struct Role {
  char kind;
  std::string type;  // with its dot, $n resolved
  bool optional;
};
std::vector<Role> roles_of(const Form& form, const Match& match);

}  // namespace bitwell::isa
