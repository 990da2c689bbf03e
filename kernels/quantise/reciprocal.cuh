// What projects' kernels make of a group by the special-function unit: rcp.approx.ftz, or Triton's division,
// div.full. The bits are the GPU's own.
#pragma once
#include "codes.cuh"
#include "launch.h"
#include "ptx/arithmetic.cuh"

namespace quantise {

// A product as FlashInfer's compiler makes it, or as everybody's.
template <Recipe recipe>
__device__ inline float product(float a, float b) {
  return recipe == Recipe::flashinfer ? ptx::mul_rn_ftz_f32(a, b) : a * b;
}

// vllm, tensorrt_llm and flashinfer. `v` becomes what is rounded to E2M1; returns the scale's code.
template <Recipe recipe>
__device__ inline uint32_t scaled_by_reciprocals(float (&v)[nvfp4::kGroup], float largest, float encode) {
  const float sixth = product<recipe>(largest, ptx::rcp_approx_ftz_f32(6));
  const uint32_t code = ptx::cvt_rn_satfinite_e4m3_f32(product<recipe>(encode, sixth));
  const float s = e4m3(code);
  const bool vanishes = recipe == Recipe::vllm           ? s == 0
                        : recipe == Recipe::tensorrt_llm ? largest == 0
                                                         : largest < 1.17549435e-38f;  // 2^-126
  const float factor = vanishes ? 0 : ptx::rcp_approx_ftz_f32(product<recipe>(s, ptx::rcp_approx_ftz_f32(encode)));
#pragma unroll
  for (float& x : v) x = product<recipe>(x, factor);
  return code;
}

// fbgemm: its codes come of the largest magnitude, whatever its scale is rounded to.
__device__ inline uint32_t scaled_by_largest(float (&v)[nvfp4::kGroup], float largest, float encode) {
  const uint32_t code = ptx::cvt_rn_satfinite_e4m3_f32(ptx::div_full_f32(largest, 6) * encode);
  const float factor = ptx::div_full_f32(6, largest == 0 ? 1.17549435e-38f : largest);
#pragma unroll
  for (float& x : v) x = x * factor;
  return code;
}

}  // namespace quantise
