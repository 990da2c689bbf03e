// The fully fused tile of the contest entry in PTX (kernels/README.md): one packed chain of eight fma a group, the tile's
// four groups gathered in fp32 before they meet the running sum.
// Shapes: any m and l, k a multiple of 64. Block 32 x 8, grid ceil(m / 8) x l.
#include "fp16x2.cuh"

namespace {

template <class Layout>
__device__ void fused(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                      int k, int l) {
  const int row = blockIdx.x * 8 + threadIdx.y;
  const int batch = blockIdx.y;
  if (row >= m) return;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row, m, k, batch);
  float sum = 0.0f;
  for (int tile = threadIdx.x; tile < k / 64; tile += 32) {
    const gemv::Tile t = gemv::Tile::load(data, tile);
    uint16_t scale[4];
    gemv::scale_products_f16(t, scale);
    float gathered = gemv::dot16_one_chain(t, 0) * ptx::cvt_f32_f16(scale[0]);
#pragma unroll
    for (int g = 1; g < 4; ++g)
      gathered = ptx::fma_rn_f32(gemv::dot16_one_chain(t, g), ptx::cvt_f32_f16(scale[g]), gathered);
    sum = ptx::fma_rn_f32(gathered, 1.0f, sum);
  }
  sum = gemv::warp_sum_down_f32(sum);
  if (threadIdx.x == 0) c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(fused, 256)
