// fp32 products, k split over 16 threads, partial sums through shared memory, added in order by the first.
// Shapes: any m and l, k a multiple of 64. Block 16 x 16, grid ceil(m / 16) x l.
#include "split_k.cuh"

namespace {

constexpr int kThreads = 16;
constexpr int kRows = 16;

template <class Layout>
__device__ void split_k_shared(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                               int m, int k, int l) {
  __shared__ float partial[kRows][kThreads];
  const int row = blockIdx.x * kRows + threadIdx.y;
  const int batch = blockIdx.y;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row < m ? row : m - 1, m, k, batch);
  partial[threadIdx.y][threadIdx.x] = gemv::split_k_products_f32(data, k / 64, kThreads);
  __syncthreads();
  if (threadIdx.x != 0 || row >= m) return;
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kThreads; ++i) sum = sum + partial[threadIdx.y][i];
  c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(split_k_shared, 256)
