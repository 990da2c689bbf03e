// PTX decode, packed fp16 products eight at a time, fp32 above; scale products in fp16.
// Shapes: any m and l, k a multiple of 64. Block 32 x 8, grid ceil(m / 8) x l.
#include "fp16x2.cuh"

namespace {

template <class Layout>
__device__ void ptx_decode(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                           int m, int k, int l) {
  const int row = blockIdx.x * 8 + threadIdx.y;
  const int batch = blockIdx.y;
  if (row >= m) return;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row, m, k, batch);
  float sum = 0.0f;
  for (int tile = threadIdx.x; tile < k / 64; tile += 32) {
    const gemv::Tile t = gemv::Tile::load(data, tile);
    uint16_t scale[4];
    gemv::scale_products_f16(t, scale);
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      const float low = gemv::dot8_two_chains(gemv::Tile::word(t.a, g, 0), gemv::Tile::word(t.b, g, 0));
      const float high = gemv::dot8_two_chains(gemv::Tile::word(t.a, g, 1), gemv::Tile::word(t.b, g, 1));
      sum = sum + (low + high) * ptx::cvt_f32_f16(scale[g]);
    }
  }
  sum = gemv::warp_sum_down_f32(sum);
  if (threadIdx.x == 0) c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(ptx_decode, 256)
