// Packed fp16 all the way: one pair of sums over all tiles of a thread, fp16 butterfly over 8 threads.
// Shapes: any m and l, k a multiple of 64. Block 8 x 32, grid ceil(m / 32) x l.
#include "packed_k.cuh"

namespace {

constexpr int kThreads = 8;
constexpr int kRows = 32;

template <class Layout>
__device__ void fp16_combine(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                             int m, int k, int l) {
  const int row = blockIdx.x * kRows + threadIdx.y;
  const int batch = blockIdx.y;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row < m ? row : m - 1, m, k, batch);
  uint32_t sums = 0;
  for (int tile = threadIdx.x; tile < k / 64; tile += kThreads)
    sums = gemv::packed_fma_tile(gemv::Tile::load(data, tile), sums);
  uint16_t sum = gemv::sum_halves_f16(sums);
#pragma unroll
  for (int offset = kThreads / 2; offset > 0; offset >>= 1)
    sum = ptx::add_rn_f16(sum, static_cast<uint16_t>(__shfl_xor_sync(0xFFFFFFFFu, static_cast<uint32_t>(sum), offset)));
  if (threadIdx.x == 0 && row < m) c[size_t(batch) * m + row] = sum;
}

}  // namespace

GEMV_ENTRIES(fp16_combine, 256)
