// Packed fp16 inside a tile of 64, the tile's fp16 sum added to an fp32 sum, fp32 butterfly over 8 threads.
// Shapes: any m and l, k a multiple of 64. Block 8 x 32, grid ceil(m / 32) x l.
#include "packed_k.cuh"

namespace {

constexpr int kThreads = 8;
constexpr int kRows = 32;

template <class Layout>
__device__ void fp32_combine(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                             int m, int k, int l) {
  const int row = blockIdx.x * kRows + threadIdx.y;
  const int batch = blockIdx.y;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row < m ? row : m - 1, m, k, batch);
  float sum = 0.0f;
  for (int tile = threadIdx.x; tile < k / 64; tile += kThreads) {
    const uint32_t sums = gemv::packed_fma_tile(gemv::Tile::load(data, tile), 0);
    sum = sum + ptx::cvt_f32_f16(gemv::sum_halves_f16(sums));
  }
#pragma unroll
  for (int offset = kThreads / 2; offset > 0; offset >>= 1) sum = sum + __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  if (threadIdx.x == 0 && row < m) c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(fp32_combine, 256)
