// SVDQuant W4A4 for Hopper (kernels/svdquant/wgmma.cu): how a problem is launched, and what each kernel
// should give.
#pragma once
#include "verify/suite/kernels/svdquant.h"

namespace svdquant {
struct HopperVariant;  // a kernel: kernels/svdquant/wgmma.h
}

namespace bitwell::suite {

// gemm_decode of A, then the kernel by `ctas` CTAs. The problem's LoRA operands are of the kernel's format.
Chain svdquant_wgmma_chain(const SvdquantProblem& problem, const svdquant::HopperVariant& variant,
                           const Build& build, int ctas);
constexpr size_t kSvdquantWgmmaResult = 7;  // buffer of the last launch: y

// An element of y: the main sum by wgmma k16 after k16; LoRA's k16 after k16, added to it (scaled_sum) or
// apart; then the definition's fp32 operations, then to the variant's format.
uint16_t svdquant_wgmma_element(const SvdquantProblem& problem, const svdquant::HopperVariant& variant, int m,
                                int n);
// y, [m][n].
std::vector<std::byte> svdquant_wgmma_expected(const SvdquantProblem& problem,
                                               const svdquant::HopperVariant& variant);

// As the suite has them.
std::vector<Kernel> svdquant_wgmma_kernels();

}  // namespace bitwell::suite
