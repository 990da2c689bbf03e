// From which op to which a register's value may still be wanted.
#pragma once
#include <cstdint>
#include <vector>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// Ops that run one behind the other, and where they go from there.
struct Block {
  uint32_t begin = 0;
  uint32_t end = 0;
  int next = -1;                // fall-through block
  std::vector<int> successors;  // all of them
};

// In half-steps: op i writes from 2 * i on and reads until 2 * i + 1. Of a register that no op mentions the
// start lies behind the end.
struct Interval {
  uint32_t start = UINT32_MAX;
  uint32_t end = 0;
  static Interval always() { return {0, UINT32_MAX}; }
};

// One for each virtual row; `variable` says which of them are registers. A register that some path reads
// before it writes it is wanted always.
// Each register costs the blocks over which it lives: most live in one.
std::vector<Interval> live_intervals(const std::vector<Op>& code, const std::vector<Block>& blocks,
                                     const std::vector<bool>& variable);

}  // namespace bitwell::isa
