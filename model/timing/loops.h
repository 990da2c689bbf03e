// The loops of a program, and what of it is an epilogue: read from the program, before it runs.
#pragma once
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::timing {

struct Loop {
  size_t function = 0;
  std::vector<uint32_t> ops;  // ascending; the first is where it begins
  int first = 0, last = 0;    // PTX lines
  bool spins = false;         // it does nothing but wait
  bool innermost = false;     // none is in it but those that spin
};
// Natural loops, in the order of the code.
std::vector<Loop> loops_of(const isa::Program& program);

// What warps are called by: bits.
enum Does : uint8_t { kCopies = 1, kMultiplies = 2, kReads = 4 };
// Of an instruction: it brings operands to shared memory, multiplies matrices, or reads tensor memory.
uint8_t does(std::string_view name);

// Whether warps go round a loop that takes a number from a counter in global memory: who is there takes the
// next tile, so that one cluster alone would do the work of all.
bool takes_work(const isa::Program& program);

// PTX lines of what comes behind the products: where there is tensor memory, behind what reads it. Not the
// loops that multiply or copy.
std::set<int> epilogue_of(const isa::Program& program);

}  // namespace bitwell::timing
