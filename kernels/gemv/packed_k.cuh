// The packed fp16 inner loop of the contest entry in CuTe (kernels/README.md): (a * b) and (sfa * sfb) each rounded to
// fp16, then one fp16x2 fma into a pair of running sums, one for even and one for odd k.
#pragma once
#include "problem.cuh"

namespace gemv {

__device__ inline uint32_t packed_fma_tile(const Tile& t, uint32_t sums) {
  uint16_t scale[4];
  scale_products_f16(t, scale);
#pragma unroll
  for (int g = 0; g < 4; ++g) {
    const uint32_t both = scale[g] | static_cast<uint32_t>(scale[g]) << 16;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t va[4];
      uint32_t vb[4];
      ptx::cvt_rn_f16x2_e2m1x2_x4(Tile::word(t.a, g, half), va);
      ptx::cvt_rn_f16x2_e2m1x2_x4(Tile::word(t.b, g, half), vb);
#pragma unroll
      for (int i = 0; i < 4; ++i) sums = ptx::fma_rn_f16x2(ptx::mul_rn_f16x2(va[i], vb[i]), both, sums);
    }
  }
  return sums;
}

__device__ inline uint16_t sum_halves_f16(uint32_t pair) {
  return ptx::add_rn_f16(static_cast<uint16_t>(pair), static_cast<uint16_t>(pair >> 16));
}

}  // namespace gemv
