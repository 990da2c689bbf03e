// Two tiles in flight, each with a sum of its own; a last odd tile goes to the first sum.
// Shapes: any m and l, k a multiple of 64. Block 32 x 8, grid ceil(m / 8) x l.
#include "fp16x2.cuh"

namespace {

__device__ float tile_dot(const gemv::Tile& t, float sum) {
  uint16_t scale[4];
  gemv::scale_products_f16(t, scale);
#pragma unroll
  for (int g = 0; g < 4; ++g) {
    const float low = gemv::dot8_two_chains(gemv::Tile::word(t.a, g, 0), gemv::Tile::word(t.b, g, 0));
    const float high = gemv::dot8_two_chains(gemv::Tile::word(t.a, g, 1), gemv::Tile::word(t.b, g, 1));
    sum = ptx::fma_rn_f32(low + high, ptx::cvt_f32_f16(scale[g]), sum);
  }
  return sum;
}

template <class Layout>
__device__ void two_tiles(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                          int k, int l) {
  const int row = blockIdx.x * 8 + threadIdx.y;
  const int batch = blockIdx.y;
  if (row >= m) return;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row, m, k, batch);
  const int tiles = k / 64;
  float sum0 = 0.0f;
  float sum1 = 0.0f;
  int tile = threadIdx.x;
  for (; tile + 32 < tiles; tile += 64) {
    const gemv::Tile t0 = gemv::Tile::load(data, tile);
    const gemv::Tile t1 = gemv::Tile::load(data, tile + 32);
    sum0 = tile_dot(t0, sum0);
    sum1 = tile_dot(t1, sum1);
  }
  if (tile < tiles) sum0 = tile_dot(gemv::Tile::load(data, tile), sum0);
  const float sum = gemv::warp_sum_down_f32(sum0 + sum1);
  if (threadIdx.x == 0) c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(two_tiles, 256)
