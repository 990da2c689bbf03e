// The instructions of a cubin, each with the PTX line that it was made of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bitwell::contraction {

// Of sm_75 and later: 16 bytes.
struct CodeWord {
  int64_t line = 0;
  uint64_t word = 0, control = 0;  // the lower 8 bytes, and the upper ones
  bool begins = false;             // the first of a function
  uint32_t loops = 0;              // in which it stands
  uint32_t loop = 0;               // the innermost of them, counted from 1 in its function; 0: none
  uint32_t loop_size = 0;          // its instructions

  static constexpr uint64_t kOpcode = 0x1ff;  // the bits above them say where the operands are
  uint32_t opcode() const { return static_cast<uint32_t>(word & kOpcode); }
  // The upper bytes say how the warp goes on. For how many cycles it then issues nothing:
  uint32_t stalls() const { return std::max<uint32_t>(control >> 41 & 15, 1); }
  // A warp has six barriers for what is ready later than that. The one that this instruction sets until its
  // result is there; kBarriers: none.
  static constexpr uint32_t kBarriers = 6;
  uint32_t sets() const { return std::min<uint32_t>(control >> 46 & 7, kBarriers); }
  // Of a branch: from behind it to where it leads, in bytes. Of others nothing that means anything.
  int64_t leap() const {
    const auto upper = static_cast<int64_t>((control & 0x3ffff) << 30 | word >> 34);  // of 48 bits
    return ((upper << 16 >> 16) * 256 + static_cast<int64_t>(word >> 16 & 0xff)) * 4;
  }
  // Those that it waits for, a bit each.
  uint32_t waits() const { return control >> 52 & ((1 << kBarriers) - 1); }
};

// Of each function from its first instruction to its last. Throws as code_of_lines.
std::vector<CodeWord> instructions_of(std::string_view cubin);
// Of each line those that stand in most loops, and of these in one: the one that has most of them, or is the
// longest. Where ptxas unrolls a loop, what does not fill a round stands behind it once more, most often as a
// loop; and what a first round does alone, before it.
std::vector<CodeWord> of_most_rounds(const std::vector<CodeWord>& code);

}  // namespace bitwell::contraction
