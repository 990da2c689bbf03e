// The grouped NVFP4 GEMM for Hopper (kernels/grouped/wgmma.cu): how a problem is launched, and what the
// kernel should give.
#pragma once
#include "verify/suite/kernels/grouped.h"

namespace grouped {
enum class Maker;  // of tensor maps: kernels/grouped/launch.h
}

namespace bitwell::suite {

// grouped_wgmma_decode of every group's A, then grouped_wgmma, or, where the device makes the tensor maps,
// grouped_wgmma_device, by `ctas` CTAs.
Chain grouped_wgmma_chain(const GroupedProblem& problem, const Build& build, int ctas, grouped::Maker maker);
Chain grouped_wgmma_chain(const GroupedProblem& problem, const Build& build, int ctas);
constexpr size_t kGroupedWgmmaResult = 3;  // buffer of the last launch: d

// D, fp16, one group's [m][n] after another: wgmma k16 after k16. And its distance to exact arithmetic, where
// the case asks for it.
std::vector<std::byte> grouped_wgmma_expected(const GroupedProblem& problem);
std::vector<double> grouped_wgmma_errors_ulp(const GroupedProblem& problem,
                                             const std::vector<std::byte>& outputs);

// As the suite has them.
std::vector<Kernel> grouped_wgmma_kernels();

}  // namespace bitwell::suite
