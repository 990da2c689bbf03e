// What the instructions of machine code do, as far as it is known by their opcodes.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/timing/machine_code.h"
#include "model/timing/multiprocessor.h"

namespace bitwell::timing {

enum class CodeKind : uint8_t {
  fp32,
  half,      // fp16 and bf16 by pairs
  multiply,  // whole numbers
  multiply_high,
  alu,
  fp64,
  special,  // functions and conversions
  memory,
  exchange,  // between lanes and warps
  branch,
  other  // that is issued and no more, as far as is known
};
inline constexpr size_t kCodeKinds = 11;

// How many instructions of each kind a PTX line has, in all of its copies.
struct CodeCounts {
  std::array<uint32_t, kCodeKinds> by{};
  uint32_t all = 0;
  uint32_t stalls = 0;  // cycles
  uint32_t meets = 0;   // places where lanes that went apart meet again

  uint32_t of(CodeKind kind) const { return by[static_cast<size_t>(kind)]; }
};
CodeCounts counts_of(const MachineCode& code, int line);

// A kind that computes in a pipe, and an instruction of PTX that is one of that kind: both cost the same.
struct ComputesLike {
  CodeKind kind;
  Pipe pipe;
  std::string_view ptx;
};
std::span<const ComputesLike> computes_like();

}  // namespace bitwell::timing
