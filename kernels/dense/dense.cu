// Dense NVFP4 GEMM for Blackwell: d[l, m, n] = fp16(sum over k of (a * sfa)[l, m, k] * (b * sfb)[l, n, k]).
//
// A CTA makes a tile of 128 x TILE_N in a single wave, or a pair one of 256 x TILE_N: each of them 128 rows, from its rows of
// A and half of B's. One thread fetches A, B and their scales by TMA into a ring of stages of 256 elements of k; one, of a
// pair in the first CTA, copies the scales to tensor memory and multiplies, 64 elements of k at a time; four warps store the
// sums. Scales stand in the 128x4 tiling. k: a multiple of 64; m and n: any, what lies past them is zero or multiplied in
// vain and not stored.
//
// Compiled for TILE_N 64, 128, 192 and 256, CTAS 1 and 2.
#include <cuda.h>
#include <cuda_fp16.h>

#include "launch.h"
#include "ptx/cluster.cuh"
#include "ptx/copy.cuh"
#include "ptx/shared.cuh"
#include "ptx/tcgen05.cuh"

namespace dense {

constexpr Tile kTile{TILE_N, CTAS};
constexpr int kStages = kTile.stages();
constexpr int kStepsAStage = kTileK / kStep;
constexpr bool kPair = CTAS == 2;

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
__device__ uint64_t at(uint64_t descriptor, uint32_t address) { return descriptor | (address & 0x3FFFF) >> 4; }
// The instruction descriptor (9.7.16.4.2): E2M1 in A and B, N, M; scales of UE4M3.
constexpr uint32_t kInstruction =
    1u << 7 | 1u << 10 | uint32_t{TILE_N >> 3} << 17 | static_cast<uint32_t>(CTAS * kRows >> 4) << 24;

struct Maps {
  const CUtensorMap &a, &b, &sfa, &sfb;
};

// This CTA's part of every stage; all bytes of a pair count on the first CTA's barrier.
__device__ void fetch(const Maps& maps, const Shared& shared, int stages) {
  const int x = static_cast<int>(blockIdx.x), y = static_cast<int>(blockIdx.y), z = static_cast<int>(blockIdx.z);
  const int column = y * TILE_N + x % CTAS * (TILE_N / CTAS);
  const int first_atom = Tile{TILE_N, CTAS}.first_atom(y);
  for (int i = 0; i < stages; ++i) {
    const int stage = i % kStages;
    ptx::mbarrier_wait_parity(shared.empty(stage), (i / kStages + 1) & 1);
    if (x % CTAS == 0) ptx::mbarrier_arrive_expect_tx(shared.full(stage), CTAS * kTile.stage_bytes());
    const auto box = [&](uint32_t to, const CUtensorMap& map, int row) {
      if constexpr (kPair)
        ptx::cp_async_bulk_tensor_3d_pair(to, map, i * kTileK, row, z, ptx::mapa(shared.full(stage), 0));
      else
        ptx::cp_async_bulk_tensor_3d(to, map, i * kTileK, row, z, shared.full(stage));
    };
    const auto scales = [&](uint32_t to, const CUtensorMap& map, int atom) {
      if constexpr (kPair)
        ptx::cp_async_bulk_tensor_4d_pair(to, map, 0, i * kStepsAStage, atom, z, ptx::mapa(shared.full(stage), 0));
      else
        ptx::cp_async_bulk_tensor_4d(to, map, 0, i * kStepsAStage, atom, z, shared.full(stage));
    };
    box(shared.a(stage), maps.a, x * kRows);
    box(shared.b(stage), maps.b, column);
    scales(shared.sfa(stage), maps.sfa, x);
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      scales(shared.sfb(stage) + atom * kTile.scale_bytes(), maps.sfb, first_atom + atom);
  }
}

__device__ void multiply(const Shared& shared, uint32_t tensor, int steps) {
  const uint32_t sfa = tensor + kTile.sfa_column();
  const uint32_t sfb = tensor + kTile.sfb_column();
  const uint32_t shift = Tile{TILE_N, CTAS}.shift(static_cast<int>(blockIdx.y));
  for (int step = 0; step < steps; ++step) {
    const int i = step / kStepsAStage, s = step % kStepsAStage, stage = i % kStages;
    if (s == 0) ptx::mbarrier_wait_parity(shared.full(stage), i / kStages & 1);
    ptx::tcgen05_cp_32x128b_warpx4<CTAS>(sfa + 4 * s, at(kScales, shared.sfa(stage) + s * kAtom));
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      ptx::tcgen05_cp_32x128b_warpx4<CTAS>(sfb + 4 * (s * kTile.atoms() + atom),
                                           at(kScales, shared.sfb(stage) + atom * kTile.scale_bytes() + s * kAtom));
    ptx::tcgen05_mma_mxf4nvf4<CTAS>(tensor, at(kOperand, shared.a(stage) + 32 * s), at(kOperand, shared.b(stage) + 32 * s),
                                    kInstruction, sfa + 4 * s, sfb + 4 * s * kTile.atoms() + shift, step != 0);
    if (s == kStepsAStage - 1 || step == steps - 1) ptx::tcgen05_commit<CTAS>(shared.empty(stage));
  }
  ptx::tcgen05_commit<CTAS>(shared.done());
}

__device__ void store(const Shared& shared, uint32_t tensor, __half* d, int m, int n) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = static_cast<int>(blockIdx.x) * kRows + static_cast<int>(threadIdx.x);
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

// All threads of the tile's CTAs, with what they did to tensor memory.
__device__ void meet() {
  ptx::tcgen05_fence_before_thread_sync();
  if constexpr (kPair) {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait();
  } else {
    __syncthreads();
  }
  ptx::tcgen05_fence_after_thread_sync();
}

}  // namespace dense

extern "C" __global__ void __launch_bounds__(dense::kThreads)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap sfa, const __grid_constant__ CUtensorMap sfb, __half* d, int m, int n, int k) {
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
    ptx::tcgen05_alloc<CTAS>(shared.tensor(), kTile.columns());
    ptx::tcgen05_relinquish_alloc_permit<CTAS>();
  }
  meet();
  const uint32_t tensor = ptx::ld_shared_u32(shared.tensor());
  if (warp < 4) {
    store(shared, tensor, d, m, n);
  } else if (threadIdx.x == 4 * 32) {
    fetch({a, b, sfa, sfb}, shared, up(steps, kStepsAStage));
  } else if (threadIdx.x == 5 * 32 && blockIdx.x % CTAS == 0) {
    multiply(shared, tensor, steps);
  }
  __syncwarp();
  meet();
  if (warp == 5) ptx::tcgen05_dealloc<CTAS>(tensor, kTile.columns());
#endif
}
