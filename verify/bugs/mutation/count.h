// How many mistakes of a kind were planted into a kernel, and what became of them.
#pragma once
#include <cstddef>
#include <string>

namespace bitwell::bugs {

struct Count {
  size_t sites = 0, planted = 0, named = 0, wrong_bits = 0, runs_on = 0, race = 0, noted = 0, unsupported = 0,
         not_ptx = 0, missed = 0, equivalent = 0, gap = 0;

  void add(const Count& c);
  // Those that a suite finds, those that it or the race check calls errors, and those that they could:
  // programs that run and are not the kernel again.
  size_t failed() const { return named + wrong_bits + runs_on; }
  size_t killed() const { return failed() + race; }
  size_t not_equivalent() const { return killed() + noted + missed + gap; }
};

// The mutation score: killed of not equivalent, as "97.3 %", rounded down so that 100 means all; "-" of none.
std::string percent_killed(const Count& count);

}  // namespace bitwell::bugs
