// Dense NVFP4 GEMM for Blackwell: d[l, m, n] = fp16(sum over k of (a * sfa)[l, m, k] * (b * sfb)[l, n, k]).
//
// A CTA makes a tile of 128 x TILE_N in a single wave. One thread fetches A, B and their scales by TMA into a ring of
// stages of 256 elements of k; one copies the scales to tensor memory and multiplies, 64 elements of k at a time; four warps
// store the sums. Scales stand in the 128x4 tiling. k: a multiple of 64; m and n: any, what lies past them is zero or
// multiplied in vain and not stored.
//
// Compiled for TILE_N 64, 128, 192 and 256.
#include <cuda.h>
#include <cuda_fp16.h>

#include "launch.h"
#include "ptx/copy.cuh"
#include "ptx/shared.cuh"
#include "ptx/tcgen05.cuh"

namespace dense {

constexpr Tile kTile{TILE_N};
constexpr int kStages = kTile.stages();
constexpr int kStepsAStage = kTileK / kStep;

// Addresses in shared memory.
struct Shared {
  uint32_t base;
  __device__ uint32_t a(int stage) const { return base + stage * kTile.stage_bytes(); }
  __device__ uint32_t b(int stage) const { return a(stage) + kTile.a_bytes(); }
  __device__ uint32_t sfa(int stage) const { return b(stage) + kTile.b_bytes(); }
  __device__ uint32_t sfb(int stage) const { return sfa(stage) + kTile.scale_bytes(); }
  __device__ uint32_t full(int stage) const { return base + kStages * kTile.stage_bytes() + stage * 8; }
  __device__ uint32_t empty(int stage) const { return full(kStages + stage); }
  __device__ uint32_t done() const { return full(2 * kStages); }
  __device__ uint32_t tensor() const { return full(2 * kStages + 1); }  // where alloc writes
};

// Matrix descriptors (9.7.16.4.1): of 8 rows of 128 bytes, swizzled, and of scales, 8 rows of 16 bytes.
constexpr uint64_t kVersion = uint64_t{1} << 46;
constexpr uint64_t kOperand = uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | kVersion | uint64_t{2} << 61;
constexpr uint64_t kScales = uint64_t{1} << 16 | uint64_t{128 >> 4} << 32 | kVersion;
// The instruction descriptor (9.7.16.4.2): E2M1 in A and B, N, M; scales of UE4M3.
constexpr uint32_t kInstruction = 1u << 7 | 1u << 10 | uint32_t{TILE_N >> 3} << 17 | uint32_t{kTileM >> 4} << 24;

struct Maps {
  const CUtensorMap &a, &b, &sfa, &sfb;
};

__device__ void fetch(const Maps& maps, const Shared& shared, int stages) {
  const int x = static_cast<int>(blockIdx.x), y = static_cast<int>(blockIdx.y), z = static_cast<int>(blockIdx.z);
  for (int i = 0; i < stages; ++i) {
    const int stage = i % kStages;
    ptx::mbarrier_wait_parity(shared.empty(stage), (i / kStages + 1) & 1);
    const uint32_t full = shared.full(stage);
    ptx::mbarrier_arrive_expect_tx(full, kTile.stage_bytes());
    ptx::cp_async_bulk_tensor_3d(shared.a(stage), maps.a, i * kTileK, x * kTileM, z, full);
    ptx::cp_async_bulk_tensor_3d(shared.b(stage), maps.b, i * kTileK, y * TILE_N, z, full);
    ptx::cp_async_bulk_tensor_4d(shared.sfa(stage), maps.sfa, 0, i * kStepsAStage, x, z, full);
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      ptx::cp_async_bulk_tensor_4d(shared.sfb(stage) + atom * kTile.scale_bytes(), maps.sfb, 0, i * kStepsAStage,
                                   Tile{TILE_N}.first_atom(y) + atom, z, full);
  }
}

__device__ void multiply(const Shared& shared, uint32_t tensor, int steps) {
  const uint32_t sfa = tensor + kTile.sfa_column();
  const uint32_t sfb = tensor + kTile.sfb_column();
  const uint32_t shift = Tile{TILE_N}.shift(static_cast<int>(blockIdx.y));
  for (int step = 0; step < steps; ++step) {
    const int i = step / kStepsAStage, s = step % kStepsAStage, stage = i % kStages;
    if (s == 0) ptx::mbarrier_wait_parity(shared.full(stage), i / kStages & 1);
    ptx::tcgen05_cp_32x128b_warpx4(sfa + 4 * s, kScales | (shared.sfa(stage) + s * kAtom) >> 4);
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      ptx::tcgen05_cp_32x128b_warpx4(sfb + 4 * (s * kTile.atoms() + atom),
                                     kScales | (shared.sfb(stage) + atom * kTile.scale_bytes() + s * kAtom) >> 4);
    ptx::tcgen05_mma_mxf4nvf4(tensor, kOperand | (shared.a(stage) + 32 * s) >> 4, kOperand | (shared.b(stage) + 32 * s) >> 4,
                              kInstruction, sfa + 4 * s, sfb + 4 * s * kTile.atoms() + shift, step != 0);
    if (s == kStepsAStage - 1 || step == steps - 1) ptx::tcgen05_commit(shared.empty(stage));
  }
  ptx::tcgen05_commit(shared.done());
}

__device__ void store(const Shared& shared, uint32_t tensor, __half* d, int m, int n) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = static_cast<int>(blockIdx.x) * kTileM + static_cast<int>(threadIdx.x);
  __half* const to = d + (static_cast<size_t>(blockIdx.z) * m + row) * n;
  ptx::mbarrier_wait_parity(shared.done(), 0);
  ptx::tcgen05_fence_after_thread_sync();
  for (int column = 0; column < TILE_N; column += 8) {
    float sums[8];
    ptx::tcgen05_ld_32x32b_x8(sums, tensor + (static_cast<uint32_t>(warp) * 32 << 16) + column);
    ptx::tcgen05_wait_ld();
    const int first = static_cast<int>(blockIdx.y) * TILE_N + column;
    if (row >= m) continue;
    for (int i = 0; i < 8; ++i)
      if (first + i < n) to[first + i] = __float2half_rn(sums[i]);
  }
}

}  // namespace dense

#define PASTE(a, b) a##b
#define NAME(n) PASTE(dense_n, n)

extern "C" __global__ void __launch_bounds__(dense::kThreads)
    NAME(TILE_N)(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ CUtensorMap sfa, const __grid_constant__ CUtensorMap sfb, __half* d, int m, int n,
                 int k) {
#if __CUDA_ARCH__ >= 1000
  using namespace dense;
  extern __shared__ __align__(1024) unsigned char bytes[];
  const Shared shared{(ptx::shared_address(bytes) + 1023) & ~1023u};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int steps = k / kStep;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(shared.full(i), 1);
      ptx::mbarrier_init(shared.empty(i), 1);
    }
    ptx::mbarrier_init(shared.done(), 1);
    ptx::fence_mbarrier_init();
  }
  if (warp == 5) {
    ptx::tcgen05_alloc(shared.tensor(), kTile.columns());
    ptx::tcgen05_relinquish_alloc_permit();
  }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const uint32_t tensor = ptx::ld_shared_u32(shared.tensor());
  if (warp < 4) {
    store(shared, tensor, d, m, n);
  } else if (threadIdx.x == 4 * 32) {
    fetch({a, b, sfa, sfb}, shared, up(steps, kStepsAStage));
  } else if (threadIdx.x == 5 * 32) {
    multiply(shared, tensor, steps);
  }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  if (warp == 5) ptx::tcgen05_dealloc(tensor, kTile.columns());
#endif
}
