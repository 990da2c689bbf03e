// Four rows a warp, so that a lane's part of b is decoded once for all of them: the integers of `streamed` without its ring of
// shared memory, for what the ring does not pay for. Nothing is shared, and nothing waits.
// Shapes: any m and l, k a multiple of 32. Block 32 x 8, grid ceil(m / 32) x l.
#include "row_sum.cuh"

#include "problem.cuh"

namespace {

constexpr int kRows = 4;

template <class Layout>
__device__ void four_rows(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                          int k, int l) {
  const int lane = threadIdx.x;
  const int first = (blockIdx.x * 8 + threadIdx.y) * kRows;
  const int batch = blockIdx.y;
  if (first >= m) return;
  const gemv::Magnitudes of;
  const uint32_t one = gemv::held(gemv::kOne);
  float sums[kRows] = {};
  for (int tile = lane; tile < k / 32; tile += 32) {
    const gemv::Row<Layout> top(a, b, sfa, sfb, first, m, k, batch);
    const gemv::Kept kept(__ldg(reinterpret_cast<const uint4*>(top.b) + tile),
                          __ldg(reinterpret_cast<const uint16_t*>(top.scale_b(2 * tile))), of);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (first + i >= m) break;
      const gemv::Row<Layout> row(a, b, sfa, sfb, first + i, m, k, batch);
      const uint4 codes = __ldg(reinterpret_cast<const uint4*>(row.a) + tile);
      const uint16_t scales = __ldg(reinterpret_cast<const uint16_t*>(row.scale_a(2 * tile)));
      sums[i] = sums[i] + gemv::row_sum(codes, scales, kept, of, one);
    }
  }
  const float sum = gemv::warp_sums(sums, lane);
  const int row = first + lane / 8;
  if (lane % 8 == 0 && row < m) c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum * 16.0f);
}

}  // namespace

GEMV_ENTRIES(four_rows, 256)
