// Tensor-core instructions one by one: kernels that apply an instruction to many tiles, their operands in
// directed regimes, and what model/number says of them. The GPU runs the same kernels.
#pragma once
#include <string>
#include <vector>

#include "model/number/dot.h"
#include "verify/launch/launch.h"

namespace bitwell::probe {

struct TensorInstruction {
  std::string name;      // "wgmma.m64n8k16.f32.e4m3"
  std::string spelling;  // the PTX opcode with its modifiers
  bool warpgroup;        // wgmma; else mma.sync
  int m, n, k;
  const number::Format* input;  // of A
  const number::Format* input_b;
  const number::Format* output;
  const number::DotRule* rule;
};
// Every type that sm_90's mma.sync and wgmma have, with each K of mma.sync and two N of wgmma (one where A
// and B have different types).
std::vector<TensorInstruction> tensor_instructions();

// How operands are drawn.
inline constexpr const char* kTensorRegimes[] = {
    "uniform bits", "near exponents", "wide exponents", "cancelling", "specials", "subnormals", "directed"};

// Outputs of an instruction and regime whose digest a device run records, drawn with seed 1.
inline constexpr size_t kTensorRecorded = size_t{1} << 14;

// One instruction on `tiles` tiles: operands by (row, k) and (column, k), C and D by (row, column).
struct TensorCase {
  std::vector<uint32_t> a, b, c;  // codes
};
TensorCase tensor_case(const TensorInstruction& i, size_t regime, size_t tiles, uint64_t seed);
// The model's D, tile by tile, row by row.
std::vector<uint32_t> tensor_model(const TensorInstruction& i, const TensorCase& c);

std::string tensor_module(const TensorInstruction& i);  // entry "apply"
launch::Launch tensor_launch(const TensorInstruction& i, const TensorCase& c);
// D's codes out of the launch's last buffer.
std::vector<uint32_t> tensor_results(const TensorInstruction& i, const launch::Launch& launch);

}  // namespace bitwell::probe
