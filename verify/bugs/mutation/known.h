// Mutants that neither suites nor the race check find, and why: by rule where the instruction alone tells,
// else from a list.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/bugs/mutation/mutate.h"
#include "verify/bugs/mutation/values.h"

namespace bitwell::bugs {

struct Known {
  enum class Class { equivalent, gap } is = Class::equivalent;
  std::string reason;
};

// What needs no list: why it is equivalent. `values`: of the entry's text.
std::optional<std::string> equivalent_by_rule(const Mutant& m, const Values& values);

// Whether it changes what is promised, and no order of whole instructions can show it: fences, scopes,
// orders.
bool only_the_race_check_can_tell(const Mutant& m);

// A line of the list: "equivalent" or "gap", kernel, before, after ("-": deleted), reason, with tabs between
// them. A gap is wrong by the manual, and nothing finds it. A kernel that ends in * is every one that starts
// so. An instruction whose registers and labels are written as % is every one of that shape; one with " #2"
// behind it is the second of the kernel that says so.
struct Listed {
  Known known;
  std::string kernel, before, after;
  int line = 0;  // of the list
};

// Throws machine::InputError naming the line that is none.
std::vector<Listed> read_list(const std::string& path);

const Listed* find(const std::vector<Listed>& list, const std::string& kernel, const Mutant& m);

}  // namespace bitwell::bugs
