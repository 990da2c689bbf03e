// What an assembler made of a kernel: PTX does not tell.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitwell::timing {

// Of one opcode (the lowest 9 bits of an instruction of sm_75 and later) in one line.
struct OpcodeCount {
  uint32_t times = 0;   // instructions, in all copies of the line: a round of an unrolled loop has several
  uint32_t stalls = 0;  // cycles until the warp may issue what stands behind each, together
};

struct MachineCode {
  std::string by;  // "ptxas 13.0.88 for sm_90a"
  // By PTX line. A line without any opcode was made part of another, or is not needed.
  std::map<int64_t, std::map<uint32_t, OpcodeCount>> lines;
  // By PTX line of a load: those of loads that a warp has waited for when it issues that one.
  std::map<int64_t, std::vector<int64_t>> waits;
  uint32_t registers = 0;  // of a thread; 0: not known
};

}  // namespace bitwell::timing
