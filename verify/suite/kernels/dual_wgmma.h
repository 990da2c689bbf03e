// The gated dual NVFP4 GEMM for Hopper (kernels/dual/wgmma.cu): how a problem is launched, and what the
// kernel should give.
#pragma once
#include "verify/suite/kernels/dual.h"

namespace bitwell::suite {

// gemm_decode of A, then dual_wgmma by `ctas` CTAs.
Chain dual_wgmma_chain(const DualProblem& problem, const Build& build, int ctas);
constexpr size_t kDualWgmmaResult = 5;  // buffer of the last launch: d

// An element of D of the sums of both products: oracle::silu of the first times the second in fp32, then to
// fp16.
uint16_t dual_wgmma_element(uint32_t gate, uint32_t up);
// D, fp16 [l][m][n]: both products by wgmma k16 after k16. And its distance to exact arithmetic, where the
// case asks for it.
std::vector<std::byte> dual_wgmma_expected(const DualProblem& problem);
std::vector<double> dual_wgmma_errors_ulp(const DualProblem& problem, const std::vector<std::byte>& outputs);

// As the suite has it.
Kernel dual_wgmma_kernel();

}  // namespace bitwell::suite
