// d = a * b^T, fp16 with sums in fp32: one tile of 128 x 64 by one CTA with Blackwell's tensor core.
//
// One thread fetches 64 elements of k at a time by TMA, multiplies, and waits until the tensor core is done; then four
// warps store the sums. docs/first-verdict.md tells how bitwell runs it.
#include <cuda.h>

#include "ptx/copy.cuh"
#include "ptx/tcgen05.cuh"

constexpr int kM = 128, kN = 64;  // rows of a and of b
constexpr int kStep = 64;         // elements of k that 128 bytes hold, a swizzled row
constexpr uint32_t kColumns = 64;

// Of a matrix descriptor (PTX ISA 9.0, 9.7.16.4.1): groups of 8 rows of 128 bytes, swizzled.
constexpr uint64_t kRows = uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 46 | uint64_t{2} << 61;
// The instruction descriptor (9.7.16.4.2): sums in fp32, a and b in fp16.
constexpr uint32_t kInstruction = 1u << 4 | uint32_t{kN >> 3} << 17 | uint32_t{kM >> 4} << 24;

extern "C" __global__ void __launch_bounds__(128)
    tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* d, int k) {
#if __CUDA_ARCH__ >= 1000
  __shared__ __align__(1024) unsigned char a_rows[kM * 128];
  __shared__ __align__(1024) unsigned char b_rows[kN * 128];
  __shared__ uint64_t full, done;
  __shared__ uint32_t columns;
  const uint32_t a_at = ptx::shared_address(a_rows), b_at = ptx::shared_address(b_rows);
  const uint32_t full_at = ptx::shared_address(&full), done_at = ptx::shared_address(&done);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full_at, 1);
    ptx::mbarrier_init(done_at, 1);
    ptx::fence_mbarrier_init();
  }
  if (warp == 0) ptx::tcgen05_alloc<1>(ptx::shared_address(&columns), kColumns);
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const uint32_t sums = columns;

  if (threadIdx.x == 0)
#pragma unroll 1
    for (int step = 0; step < k / kStep; ++step) {
      ptx::mbarrier_arrive_expect_tx(full_at, sizeof a_rows + sizeof b_rows);
      ptx::cp_async_bulk_tensor_2d(a_at, a, step * kStep, 0, full_at);
      ptx::cp_async_bulk_tensor_2d(b_at, b, step * kStep, 0, full_at);
      ptx::mbarrier_wait_parity(full_at, step & 1);
      for (uint32_t bytes = 0; bytes < 128; bytes += 32)  // 16 elements of k
        ptx::tcgen05_mma_f16<1>(sums, kRows | (a_at + bytes) >> 4, kRows | (b_at + bytes) >> 4, kInstruction,
                                step != 0 || bytes != 0);
      ptx::tcgen05_commit<1>(done_at);
      ptx::mbarrier_wait_parity(done_at, step & 1);
      ptx::tcgen05_fence_after_thread_sync();
    }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();

  float* const row = d + threadIdx.x * kN;  // lane i of tensor memory holds row i
  for (int column = 0; column < kN; column += 16) {
    float values[16];
    ptx::tcgen05_ld_32x32b_x16(values, sums + (static_cast<uint32_t>(warp) * 32 << 16) + column);
    ptx::tcgen05_wait_ld();
    for (int i = 0; i < 16; ++i) row[column + i] = values[i];
  }
  __syncthreads();
  if (warp == 0) ptx::tcgen05_dealloc<1>(sums, kColumns);
#endif
}
