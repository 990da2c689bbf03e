// NVIDIA's assembler, where there is one.
#pragma once
#include <string>
#include <vector>

#include "verify/contraction/contract.h"

namespace bitwell::contraction {

// Where ptxas is looked for: in the environment's PATH, CUDA_HOME and CUDA_PATH, and in /usr/local/cuda.
std::vector<std::string> usual_folders();

// The path of ptxas in the first of the folders that has it. Throws InputError saying where it is to be had.
std::string ptxas_path(const std::vector<std::string>& folders = usual_folders());

// What ptxas does for each line of the text, for "sm_90a". Throws InputError where there is no ptxas, or
// where it does not take the text: with the first error that it names.
std::map<int64_t, LineCode> assembled(const std::string& text, const std::string& target);

// What ptxas makes of what an entry can come to.
struct Assembly {
  std::string version, target;  // "13.0.88", "sm_90a"
  std::map<int64_t, Opcodes> lines;
  std::map<int64_t, std::vector<int64_t>> waits;  // loads_waited_for
  uint32_t registers = 0;                         // of a thread
};

// For a device of that sm (90, 100), as its driver does it; where the text's target is one device's alone
// (sm_90a), for that. Throws as contracted_by_ptxas.
Assembly assembly_by_ptxas(const std::string& text, const std::string& entry, int sm);

struct ByPtxas {
  Contracted contracted;
  std::string version;  // "13.0.88"
  std::string target;   // "sm_90a", for which it was asked
};

// What ptxas fuses of `text`: of what `entry` can come to; of "" all. For the text's own target, and for
// sm_90 where that is older than what ptxas makes code for. Throws InputError where there is no ptxas, or
// where it does not take the text; SyntaxError as parse does.
ByPtxas contracted_by_ptxas(const std::string& text, const std::string& entry);

}  // namespace bitwell::contraction
