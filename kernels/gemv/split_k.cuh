// As the contest entry in CuTe begins (kernels/README.md): k split over the x threads of a row, products in fp32.
#pragma once
#include "problem.cuh"

namespace gemv {

// One thread's share: tiles threadIdx.x, threadIdx.x + threads, ...; each product (a * b) * (sfa * sfb) added in order.
template <class Layout>
__device__ float split_k_products_f32(const Row<Layout>& data, int tiles, int threads) {
  float sum = 0.0f;
  for (int tile = threadIdx.x; tile < tiles; tile += threads) {
    const Tile t = Tile::load(data, tile);
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      const uint32_t pair = ptx::cvt_rn_f16x2_e4m3x2(
          static_cast<uint16_t>(((t.sfa >> (8 * g)) & 0xFFu) | (((t.sfb >> (8 * g)) & 0xFFu) << 8)));
      const float scale = ptx::cvt_f32_f16(static_cast<uint16_t>(pair)) * ptx::cvt_f32_f16(static_cast<uint16_t>(pair >> 16));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint32_t va[4];
        uint32_t vb[4];
        ptx::cvt_rn_f16x2_e2m1x2_x4(Tile::word(t.a, g, half), va);
        ptx::cvt_rn_f16x2_e2m1x2_x4(Tile::word(t.b, g, half), vb);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t product = ptx::mul_rn_f16x2(va[i], vb[i]);
          sum = sum + ptx::cvt_f32_f16(static_cast<uint16_t>(product)) * scale;
          sum = sum + ptx::cvt_f32_f16(static_cast<uint16_t>(product >> 16)) * scale;
        }
      }
    }
  }
  return sum;
}

}  // namespace gemv
