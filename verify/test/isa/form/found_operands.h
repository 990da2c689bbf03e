// Operands that a spelling takes.
#pragma once
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "operand_candidates.h"
#include "spellings.h"

namespace bitwell::isa {

// Gives the spelling a target and the first operands that bitwell takes with it. Whether there are some, or
// bitwell knows the spelling, and refuses it by name.
enum class Found { yes, no, unsupported };
inline Found find_operands(Spelling& s, std::mt19937_64& random) {
  static const std::vector<std::string> all = operand_candidates();
  const std::vector<std::string> candidates =
      s.form->operands == "*" ? all : std::vector{operands_of_roles(*s.form, s.match)};
  std::vector<std::string> lines;
  for (const std::string& operands : candidates) lines.push_back(written(s, s.match.modifiers, operands));
  const size_t first = random() % std::size(kSpelledTargets);
  bool unsupported = false;
  for (size_t t = 0; t < std::size(kSpelledTargets); ++t) {
    s.target = kSpelledTargets[(first + t) % std::size(kSpelledTargets)];
    std::vector<int> line_of;
    const std::set<int> refused = bitwell_refuses(module_of(s.target, {lines}, line_of), &unsupported);
    for (size_t n = 0; n < candidates.size(); ++n)
      if (!refused.contains(line_of[n])) {
        s.operands = candidates[n];
        return Found::yes;
      }
  }
  return unsupported ? Found::unsupported : Found::no;
}

}  // namespace bitwell::isa
