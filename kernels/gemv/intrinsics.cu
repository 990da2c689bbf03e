// 16-byte loads, CUDA's own conversion intrinsics, fp32 fma inside each group of 16, one scale product a group.
// Shapes: any m and l, k a multiple of 64. Block 32 x 8, grid ceil(m / 8) x l.
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include "problem.cuh"

namespace {

__device__ float scale_f32(uint32_t four, int g) {
  const __half_raw h = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(four >> (8 * g)), __NV_E4M3);
  return ptx::cvt_f32_f16(h.x);
}

template <class Layout>
__device__ void intrinsics(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                           int m, int k, int l) {
  const int row = blockIdx.x * 8 + threadIdx.y;
  const int batch = blockIdx.y;
  if (row >= m) return;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row, m, k, batch);
  float sum = 0.0f;
  for (int tile = threadIdx.x; tile < k / 64; tile += 32) {
    const gemv::Tile t = gemv::Tile::load(data, tile);
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      float group = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const auto pair_a = static_cast<uint8_t>(gemv::Tile::word(t.a, g, i / 4) >> (8 * (i % 4)));
        const auto pair_b = static_cast<uint8_t>(gemv::Tile::word(t.b, g, i / 4) >> (8 * (i % 4)));
        const __half2_raw va = __nv_cvt_fp4x2_to_halfraw2(pair_a, __NV_E2M1);
        const __half2_raw vb = __nv_cvt_fp4x2_to_halfraw2(pair_b, __NV_E2M1);
        group = ptx::fma_rn_f32(ptx::cvt_f32_f16(va.x), ptx::cvt_f32_f16(vb.x), group);
        group = ptx::fma_rn_f32(ptx::cvt_f32_f16(va.y), ptx::cvt_f32_f16(vb.y), group);
      }
      sum = ptx::fma_rn_f32(group, scale_f32(t.sfa, g) * scale_f32(t.sfb, g), sum);
    }
  }
  sum = gemv::warp_sum_down_f32(sum);
  if (threadIdx.x == 0) c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(intrinsics, 256)
