// mma.sync of fp8, fp6 and fp4, with scales and without, as a warp's registers have it: which thread holds
// which element by the manual's formulas (PTX ISA 9.0, 9.7.14.5.9 to 9.7.14.5.11), which byte is a scale by
// its 9.7.14.3 and by the kernels with which MMA-Sim was proved. Nothing of model/.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "verify/oracle/tensor_dot.h"

namespace bitwell::oracle {

// An instruction: m16n8k`k`. Elements of A and B have four bits where k is 64, else bytes.
struct WarpMma {
  FieldFormat a, b;
  int k;
  bool half = false;  // C and D are fp16
  int scales = 0;     // of a row or column: 0, 1, 2, 4
  bool ue8m0 = true;  // else ue4m3
};
struct ScaleIds {
  unsigned byte = 0, thread = 0;
};

using Lanes = std::array<uint32_t, 32>;  // of a register
struct WarpOperands {
  std::vector<Lanes> a, b, c;
  Lanes scale_a{}, scale_b{};
  ScaleIds ids_a{}, ids_b{};
};

// D's registers.
std::vector<Lanes> warp_mma(const WarpMma& mma, const WarpOperands& in);

}  // namespace bitwell::oracle
