// Gated dual NVFP4 GEMM for Blackwell: D[l, m, n] = silu(gate) * up, gate = sum over k of (A * SFA)[l, m, k] * (B1 * SFB1)[l, n, k],
// up the same with B2. fp16 out, m, n and l any, k a multiple of 64.
//
// A CTA makes 128 rows and kV.n columns of both products, or a pair 256 rows: each of them 128, from its rows of A and half the
// rows of B1 and B2. A is fetched once for two MMAs, whose sums stand side by side in tensor memory, so that D needs nothing but
// them. One thread fetches by TMA into a ring of stages, one, of a pair in the first CTA, multiplies, four warps make D of the sums.
//
// Compiled with NAME a line of variants.inc.
#include <cuda_fp16.h>

#include "launch.h"
#include "nvfp4/ring.cuh"
#include "ptx/cluster.cuh"
#include "ptx/shared.cuh"
#include "silu.cuh"

#define DUAL_STRING_OF(x) #x
#define DUAL_STRING(x) DUAL_STRING_OF(x)

namespace dual {
#if __CUDA_ARCH__ >= 1000

constexpr Variant kV = variant(DUAL_STRING(NAME));
constexpr int kCtas = kV.ctas;
constexpr bool kPair = kCtas == 2;
constexpr int kStages = kV.stages();
constexpr int kAccumulators = kV.accumulators();
constexpr int kSums = kBs * kV.n;  // columns of tensor memory of a tile
constexpr int kColumns = 16;       // that a thread takes at a time
using Ring = nvfp4::Ring<kV.n, kBs, kStages, kCtas>;

// What the kernel was given.
struct Problem {
  nvfp4::Maps a, b1, b2;
  __half* d;
  int m, n, k, l;
  __device__ int steps() const { return k / nvfp4::kStep; }
  __device__ int stages() const { return nvfp4::up(k, nvfp4::kTileK); }
};

// work(x, y, z, i) for the i-th tile of this CTA, or its pair: the CTA's 128 rows, kV.n columns, batch.
template <class Work>
__device__ void each_tile(const Problem& p, Work work) {
  if constexpr (kV.tiles == Tiles::single) {
    work(static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z), 0);
  } else {
    const int down = nvfp4::up(p.m, kCtas * nvfp4::kRows), across = nvfp4::up(p.n, kV.n);
    int i = 0;
    for (int t = static_cast<int>(blockIdx.x) / kCtas; t < down * across * p.l; t += static_cast<int>(gridDim.x) / kCtas)
      work(t % down * kCtas + Ring::rank(), t / down % across, t / down / across, i++);
  }
}

struct Shared {
  Ring ring;
  __device__ explicit Shared(uint32_t base) : ring{base, base + kStages * Ring::kBytes} {}
  __device__ uint32_t small(int i) const { return ring.barriers + (2 * kStages + i) * 8; }
  __device__ uint32_t done(int i) const { return small(i); }      // the sums of a tile
  __device__ uint32_t free(int i) const { return small(2 + i); }  // room for another tile's; of a pair the first CTA's
  __device__ uint32_t tensor() const { return small(4); }         // where alloc writes
  __device__ void init() const {
    ring.init();
    for (int i = 0; i < kAccumulators; ++i) {
      ptx::mbarrier_init(done(i), 1);
      ptx::mbarrier_init(free(i), 4 * kCtas);
    }
    ptx::fence_mbarrier_init();
  }
};

__device__ void fetch(const Problem& p, const Shared& shared) {
  int i = 0;
  each_tile(p, [&](int x, int y, int z, int) {
#pragma unroll 1
    for (int k = 0; k < p.stages(); ++k, ++i) {
      shared.ring.acquire(i);
      shared.ring.fetch_a(i, p.a, k, x, z);
      shared.ring.fetch_b(i, 0, p.b1, k, y, z);
      shared.ring.fetch_b(i, 1, p.b2, k, y, z);
    }
  });
  shared.ring.drain(i);
}

__device__ void multiply(const Problem& p, const Shared& shared, uint32_t tensor) {
  each_tile(p, [&](int, int y, int, int tile) {
    const int sums = tile % kAccumulators;
    if constexpr (kPair)
      ptx::mbarrier_wait_parity_cluster(shared.free(sums), (tile / kAccumulators + 1) & 1);
    else
      ptx::mbarrier_wait_parity(shared.free(sums), (tile / kAccumulators + 1) & 1);
    ptx::tcgen05_fence_after_thread_sync();
#pragma unroll 1
    for (int step = 0; step < p.steps(); ++step) {
      constexpr int kSteps = nvfp4::kTileK / nvfp4::kStep;
      const int i = tile * p.stages() + step / kSteps, s = step % kSteps;
      if (s == 0) shared.ring.wait(i);
      shared.ring.multiply(i, s, tensor + sums * kSums, tensor + kV.scale_column(), y, step != 0);
      if (s == kSteps - 1 || step == p.steps() - 1) shared.ring.release(i);
    }
    ptx::tcgen05_commit<kCtas>(shared.done(sums));
  });
}

// Four warps, a thread a row.
__device__ void store(const Problem& p, const Shared& shared, uint32_t tensor) {
  const uint32_t lanes = threadIdx.x / 32 * 32 << 16;
  each_tile(p, [&](int x, int y, int z, int tile) {
    const int sums = tile % kAccumulators;
    ptx::mbarrier_wait_parity(shared.done(sums), tile / kAccumulators & 1);
    ptx::tcgen05_fence_after_thread_sync();
    const int row = x * nvfp4::kRows + static_cast<int>(threadIdx.x);
    __half* const d = p.d + (static_cast<size_t>(z) * p.m + row) * p.n;
    for (int column = 0; column < kV.n; column += kColumns) {
      float gate[kColumns], up[kColumns];
      ptx::tcgen05_ld_32x32b_x16(gate, tensor + lanes + sums * kSums + column);
      ptx::tcgen05_ld_32x32b_x16(up, tensor + lanes + sums * kSums + kV.n + column);
      ptx::tcgen05_wait_ld();
      const int first = y * kV.n + column;
      if (row < p.m)
        for (int i = 0; i < kColumns; ++i)
          if (first + i < p.n) d[first + i] = __float2half_rn(silu(gate[i]) * up[i]);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    if constexpr (kPair)
      ptx::mbarrier_arrive_release_cluster(ptx::mapa(shared.free(sums), 0));
    else
      ptx::mbarrier_arrive(shared.free(sums));
  });
}

__device__ void run(const Problem& p) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const Shared shared((ptx::shared_address(bytes) + 1023) & ~1023u);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) shared.init();
  if (warp == 5) {
    ptx::tcgen05_alloc<kCtas>(shared.tensor(), kV.columns());
    ptx::tcgen05_relinquish_alloc_permit<kCtas>();
  }
  __syncwarp();
  nvfp4::meet<kCtas>();
  const uint32_t tensor = ptx::ld_shared_u32(shared.tensor());
  if (warp < 4)
    store(p, shared, tensor);
  else if (threadIdx.x == 4 * 32)
    fetch(p, shared);
  else if (threadIdx.x == 5 * 32 && Ring::rank() == 0)
    multiply(p, shared, tensor);
  __syncwarp();
  nvfp4::meet<kCtas>();
  if (warp == 5) ptx::tcgen05_dealloc<kCtas>(tensor, kV.columns());
}

#endif
}  // namespace dual

// a, b1, b2: boxes of 256 elements of k by 128 rows and by the tile's columns, of a pair half of them, swizzled by 128 bytes; of their
// scales: one atom, 4 steps.
extern "C" __global__ void __launch_bounds__(dual::kThreads)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b1, const __grid_constant__ CUtensorMap b2,
         const __grid_constant__ CUtensorMap sfa, const __grid_constant__ CUtensorMap sfb1,
         const __grid_constant__ CUtensorMap sfb2, __half* d, int m, int n, int k, int l) {
#if __CUDA_ARCH__ >= 1000
  dual::run({{a, sfa}, {b1, sfb1}, {b2, sfb2}, d, m, n, k, l});
#endif
}
