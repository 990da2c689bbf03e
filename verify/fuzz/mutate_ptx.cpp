// PTX: an instruction may become one of any form, instructions of any form are put in with operands that fit,
// and nearly all mutations keep words whole.
#include "model/isa/family/families.h"
#include "model/isa/form/type.h"
#include "verify/fuzz/mutate_text.h"

namespace bitwell::fuzz {
namespace {

std::string_view any(std::initializer_list<std::string_view> of, Random& random) {
  return of.begin()[below(random, of.size())];
}

// Registers and variables of the asynchronous probes, which most seeds have or may be given.
std::string register_of(std::string_view type, Random& random) {
  const isa::Type* t = isa::find_type(type);
  const int bits = t == nullptr ? 32 : t->bits;
  const std::string number = std::to_string(below(random, 4));
  if (type == ".pred") return "%p" + number;
  return (bits <= 16 ? "%h" : bits == 32 ? "%r" : "%q") + number;
}
std::string constant_of(std::string_view type, Random& random) {
  const isa::Type* t = isa::find_type(type);
  if (t != nullptr && t->kind == 'f')
    return std::string(any({"0d3FF8000000000000", "0f3FC00000", "0.0", "-1.5"}, random));
  return std::string(any({"0", "1", "2", "4", "8", "16", "31", "32", "-1", "0x7FFFFFFF", "65535"}, random));
}

// Operands that a form leaves to its own check: those of memory, barriers, shuffles and matrices.
std::string loose_operands(Random& random) {
  std::string out;
  for (size_t n = below(random, 5), i = 0; i < n; ++i)
    out += (i == 0 ? " " : ", ") +
           std::string(any({"%r1",       "%r2",     "%q0",        "%q1",          "%q3",
                            "%h1",       "%p1",     "[%q0]",      "[%q0+64]",     "[%q1]",
                            "[%r2]",     "[tile]",  "[tile+16]",  "[bar]",        "0",
                            "1",         "16",      "_",          "{%r4,%r5}",    "{%r4,%r5,%r6,%r7}",
                            "{%q4,%q5}", "%r1|%p1", "0xffffffff", "[%q0, {%r1}]", "[%q0, {%r1,%r2}]",
                            "{%h0,%h1}"},
                           random));
  return out;
}

struct Spelled {
  const isa::Form* form;
  isa::Match match;
};

// A form with one alternative of each group.
Spelled spell(Random& random) {
  static const std::vector<const isa::Form*> forms = isa::all_forms();
  Spelled out{forms[below(random, forms.size())], {}};
  out.match.name = isa::opcode_of(*out.form);
  for (const isa::Element& e : isa::elements_of(*out.form)) {
    const bool absent = e.alternatives.empty() || (e.optional && below(random, 2) == 0);
    const std::string taken = absent ? "" : e.alternatives[below(random, e.alternatives.size())];
    out.match.name += taken;
    if (e.group) out.match.choice.push_back(taken);
  }
  return out;
}

}  // namespace

const size_t kBytes = 16;

std::string compound_name(Random& random) { return below(random, 2) == 0 ? "" : spell(random).match.name; }

std::string statement(Random& random) {
  const Spelled spelled = spell(random);
  std::string out = std::string(any({"", "", "", "@%p1 ", "@!%p0 "}, random)) + spelled.match.name;
  if (spelled.form->operands == "*") return out + loose_operands(random) + ";\n";
  bool first = true;
  for (const isa::Role& role : isa::roles_of(*spelled.form, spelled.match)) {
    if (role.optional && below(random, 2) == 0) break;
    const bool constant = role.kind == 'i' || (role.kind == 's' && below(random, 3) == 0);
    out +=
        (first ? " " : ", ") + (constant ? constant_of(role.type, random) : register_of(role.type, random));
    first = false;
  }
  return out + ";\n";
}

}  // namespace bitwell::fuzz
