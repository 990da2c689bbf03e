// What machine code does for each line of the PTX that it was made of.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "verify/contraction/instructions.h"

namespace bitwell::contraction {

// How many instructions of machine code do a product alone, a sum alone, both at once. A loop that was
// unrolled has several for one of the PTX.
struct Rounded {
  uint32_t products = 0, sums = 0, fused = 0;
};
// Of fp32 and pairs of them; of fp64; of fp16 and bf16, whose sums and products may be fused with 1 and -0.
struct LineCode {
  Rounded single{}, twice{}, half{};
};

// By PTX line, of all functions of a cubin for sm_75 or later that has .nv_debug_line_sass (ptxas -lineinfo);
// lines without any of those are not in it. Opcodes as ptxas 12.8 to 13.5 writes them, read off nvdisasm.
// Throws InputError where the bytes are no such cubin.
std::map<int64_t, LineCode> code_of_lines(std::string_view cubin);

// How many instructions of a line have an opcode (the lowest 9 bits), and the cycles until a warp may issue
// what stands behind each, together: from 1 to 15 of one, as it says itself.
struct OpcodeCount {
  uint32_t times = 0, stalls = 0;
};
using Opcodes = std::map<uint32_t, OpcodeCount>;
// By PTX line. Of a loop that is unrolled: of a round.
std::map<int64_t, Opcodes> opcodes_of_lines(const std::vector<CodeWord>& code);
// By PTX line of a load: the lines of loads that a warp has waited for before it issues that one, since it
// branched last. Of a line that a loop has several times: those of the same round, of each of its copies.
std::map<int64_t, std::vector<int64_t>> loads_waited_for(const std::vector<CodeWord>& code);
// Registers of a thread of that entry; 0: the cubin has no such entry.
uint32_t registers_of(std::string_view cubin, std::string_view entry);

}  // namespace bitwell::contraction
