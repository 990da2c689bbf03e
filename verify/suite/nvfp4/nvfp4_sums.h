// The sums of an NVFP4 GEMM on Blackwell whose steps of 64 elements of k are added in order, by the oracle.
#pragma once
#include <cstdint>
#include <vector>

#include "verify/oracle/gemv.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"

namespace bitwell::suite {

struct Nvfp4Sums {
  std::vector<uint32_t> sums;           // fp32 bits, [l][rows of A][rows of B]
  std::vector<oracle::ExactDot> exact;  // the same; or empty
};
// Operands of the same k and l. `exact`: without it large problems are done in seconds.
Nvfp4Sums nvfp4_sums(const Nvfp4Operand& a, const Nvfp4Operand& b, bool exact);

}  // namespace bitwell::suite
