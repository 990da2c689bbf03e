// Dot products of eight elements in packed fp16, as the contest entry in PTX orders them (kernels/README.md).
#pragma once
#include "problem.cuh"

namespace gemv {

// Eight products: pairs (0,1) and (2,3) each mul then fma, the two packed sums added, halves added in fp32.
__device__ inline float dot8_two_chains(uint32_t a, uint32_t b) {
  uint32_t va[4];
  uint32_t vb[4];
  ptx::cvt_rn_f16x2_e2m1x2_x4(a, va);
  ptx::cvt_rn_f16x2_e2m1x2_x4(b, vb);
  const uint32_t p0 = ptx::fma_rn_f16x2(va[1], vb[1], ptx::mul_rn_f16x2(va[0], vb[0]));
  const uint32_t p1 = ptx::fma_rn_f16x2(va[3], vb[3], ptx::mul_rn_f16x2(va[2], vb[2]));
  return sum_halves_f32(ptx::add_rn_f16x2(p0, p1));
}

// Sixteen products of group g: one packed chain of eight steps, halves added in fp32.
__device__ inline float dot16_one_chain(const Tile& t, int g) {
  uint32_t chain = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint32_t va[4];
    uint32_t vb[4];
    ptx::cvt_rn_f16x2_e2m1x2_x4(Tile::word(t.a, g, half), va);
    ptx::cvt_rn_f16x2_e2m1x2_x4(Tile::word(t.b, g, half), vb);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      chain = half + i == 0 ? ptx::mul_rn_f16x2(va[0], vb[0]) : ptx::fma_rn_f16x2(va[i], vb[i], chain);
  }
  return sum_halves_f32(chain);
}

}  // namespace gemv
