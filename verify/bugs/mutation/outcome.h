// What became of the mistakes planted into kernels, as tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verify/bugs/mutation/count.h"

namespace bitwell::bugs {

// What became of the mutants of a line of the list of survivors: one that survives is enough.
enum class Use : uint8_t { none, found, survived };

// Of one kernel.
struct Outcome {
  std::string kernel;
  std::map<std::string, Count> by_kind;          // of mistakes
  std::vector<std::string> missed, gaps, noted;  // in words, a mutant each
  std::vector<Use> used;                         // by line of the list

  Count total() const;
};

// Every kernel and kind of mistake; then the mutation score of each kernel, of each kind, and of all.
std::string tables(const std::vector<Outcome>& outcomes);

// The second as CSV: the rows "kernel,NAME", "kind,NAME" and "all,", with what was planted and what became of
// it.
std::string scores_csv(const std::vector<Outcome>& outcomes);

}  // namespace bitwell::bugs
