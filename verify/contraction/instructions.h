// The instructions of a cubin, each with the PTX line that it was made of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

namespace bitwell::contraction {

// Of sm_75 and later: 16 bytes.
struct CodeWord {
  int64_t line = 0;
  uint64_t word = 0, control = 0;  // the lower 8 bytes, and the upper ones
  bool begins = false;             // the first of a function

  static constexpr uint64_t kOpcode = 0x1ff;  // the bits above them say where the operands are
  uint32_t opcode() const { return static_cast<uint32_t>(word & kOpcode); }
  // The upper bytes say how the warp goes on. For how many cycles it then issues nothing:
  uint32_t stalls() const { return std::max<uint32_t>(control >> 41 & 15, 1); }
  // A warp has six barriers for what is ready later than that. The one that this instruction sets until its
  // result is there; kBarriers: none.
  static constexpr uint32_t kBarriers = 6;
  uint32_t sets() const { return std::min<uint32_t>(control >> 46 & 7, kBarriers); }
  // Those that it waits for, a bit each.
  uint32_t waits() const { return control >> 52 & ((1 << kBarriers) - 1); }
};

// Of each function from its first instruction to its last. Throws as code_of_lines.
void each_instruction(std::string_view cubin, const std::function<void(const CodeWord&)>& tell);

}  // namespace bitwell::contraction
