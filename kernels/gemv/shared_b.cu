// b staged in shared memory, one warp a row, fp16 sums, fp16 shuffle tree.
// Shapes: any m and l, k a multiple of 128. Block 32 x 8, grid ceil(m / 8) x l.
#include "problem.cuh"

namespace {

constexpr int kTile = 128;  // elements of k in shared memory at a time
constexpr int kRows = 8;

template <class Layout>
__device__ void shared_b(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                         int k, int l) {
  __shared__ uint8_t tile_b[kTile / 2];
  __shared__ uint8_t tile_sfb[kTile / 16];
  const int lane = threadIdx.x;
  const int linear = threadIdx.y * 32 + lane;
  const int batch = blockIdx.y;
  const int row = blockIdx.x * kRows + threadIdx.y;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row < m ? row : m - 1, m, k, batch);  // spare warps repeat the last row
  uint16_t sum = 0;
  for (int base = 0; base < k; base += kTile) {
    if (linear < kTile / 2) tile_b[linear] = data.b[base / 2 + linear];
    if (linear < kTile / 16) tile_sfb[linear] = *data.scale_b(base / 16 + linear);
    __syncthreads();
#pragma unroll
    for (int byte = lane; byte < kTile / 2; byte += 32) {
      uint32_t va[4];
      uint32_t vb[4];
      ptx::cvt_rn_f16x2_e2m1x2_x4(data.a[base / 2 + byte], va);
      ptx::cvt_rn_f16x2_e2m1x2_x4(tile_b[byte], vb);
      const uint32_t products = ptx::mul_rn_f16x2(va[0], vb[0]);
      const uint32_t scales = ptx::cvt_rn_f16x2_e4m3x2(
          static_cast<uint16_t>(*data.scale_a(base / 16 + byte / 8) | tile_sfb[byte / 8] << 8));
      const uint16_t scale = ptx::mul_rn_f16(static_cast<uint16_t>(scales), static_cast<uint16_t>(scales >> 16));
      sum = ptx::fma_rn_f16(static_cast<uint16_t>(products), scale, sum);
      sum = ptx::fma_rn_f16(static_cast<uint16_t>(products >> 16), scale, sum);
    }
    __syncthreads();
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    sum = ptx::add_rn_f16(sum, static_cast<uint16_t>(__shfl_down_sync(0xFFFFFFFFu, static_cast<uint32_t>(sum), offset)));
  if (lane == 0 && row < m) c[size_t(batch) * m + row] = sum;
}

}  // namespace

GEMV_ENTRIES(shared_b, 256)
