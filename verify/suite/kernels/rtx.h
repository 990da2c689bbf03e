// The NVFP4 kernels of kernels/rtx for RTX Blackwell cards: their problems, how they are launched, and what
// each should give.
#pragma once
#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/suite.h"

namespace rtx {
struct Variant;  // a GEMM kernel: kernels/rtx/launch.h
}

namespace bitwell::suite {

struct RtxCase {
  int m, n, k, l;  // n: 1 for the GEMV
  OperandData data;
  uint64_t seed;
  std::string describe() const;
};

struct RtxProblem {
  // Throws machine::InputError for m, n or l below 1, and a k that is no positive multiple of 64.
  explicit RtxProblem(const RtxCase& c);
  RtxCase spec;
  Nvfp4Operand a, b;

  launch::Launch gemm(const rtx::Variant& variant, const Build& build) const;
  launch::Launch gemv(const Build& build) const;
  // Steps of 64 elements of k in order, each one's sum the next one's addend; then to the format of D.
  std::vector<std::byte> gemm_expected(const rtx::Variant& variant) const;
  // The same of each warp's steps, the warps' sums added in fp32 in order; then to fp16.
  std::vector<std::byte> gemv_expected() const;

 private:
  RtxProblem(const RtxCase& c, OperandSource source);
};

constexpr size_t kRtxResult = 4;  // buffer of either launch

}  // namespace bitwell::suite
