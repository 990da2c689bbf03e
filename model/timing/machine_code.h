// What an assembler made of a kernel: PTX does not tell.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace bitwell::timing {

struct MachineCode {
  std::string by;  // "ptxas 13.0.88 for sm_90a"
  // By PTX line: opcodes (the lowest 9 bits of an instruction of sm_75 and later), and how many instructions
  // of that line have them, in all of its copies: a loop that is unrolled has several. A line without any was
  // made part of another, or is not needed.
  std::map<int64_t, std::map<uint32_t, uint32_t>> lines;
  uint32_t registers = 0;  // of a thread; 0: not known
};

}  // namespace bitwell::timing
