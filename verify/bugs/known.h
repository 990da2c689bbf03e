// Mutants that no suite can fail, and why: by rule where the instruction alone tells, else from a list.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/bugs/mutate.h"
#include "verify/bugs/values.h"

namespace bitwell::bugs {

struct Known {
  enum class Class { equivalent, needs_races } is = Class::equivalent;
  std::string reason;
};

// What needs no list. `values`: of the entry's text.
std::optional<Known> by_rule(const Mutant& m, const Values& values);

// A line of the list: "equivalent" or "needs-races", kernel, before, after ("-": deleted), reason, with tabs
// between them. A kernel that ends in * is every one that starts so. An instruction whose registers and
// labels are written as % is every one of that shape.
struct Listed {
  Known known;
  std::string kernel, before, after;
  int line = 0;  // of the list
};

// Throws machine::InputError naming the line that is none.
std::vector<Listed> read_list(const std::string& path);

const Listed* find(const std::vector<Listed>& list, const std::string& kernel, const Mutant& m);

}  // namespace bitwell::bugs
