// Dense NVFP4 GEMM for Blackwell: D[l, m, n] = alpha * sum over k of (A * SFA)[l, m, k] * (B * SFB)[l, n, k] + beta * C[l, m, n].
//
// A CTA makes a tile of 128 rows of D, or a pair one of 256: each of them 128 rows, from its rows of A and half of B's. One
// thread fetches A, B and their scales by TMA into a ring of stages of 256 elements of k; one, of a pair in the first CTA,
// copies the scales to tensor memory and multiplies, 64 elements of k at a time; four warps store the sums. Scales stand in
// the 128x4 tiling. m and n: any, what lies past them is zero or multiplied in vain and not stored; k: a multiple of 32.
//
// Compiled with NAME a line of variants.inc.
#include "epilogue.cuh"
#include "mainloop.cuh"

namespace dense {

// All threads of the tile's CTAs, with what they did to tensor memory.
__device__ void meet() {
  ptx::tcgen05_fence_before_thread_sync();
  if constexpr (kCluster > 1) {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait();
  } else {
    __syncthreads();
  }
  ptx::tcgen05_fence_after_thread_sync();
}

__device__ void init(const Shared& shared) {
  for (int i = 0; i < kStages; ++i) {
    ptx::mbarrier_init(shared.full(i), 1);
    ptx::mbarrier_init(shared.empty(i), kRing);
  }
  for (int i = 0; i < kAccumulators; ++i) ptx::mbarrier_init(shared.done(i), 1);
  if constexpr (kPersistent)
    for (int i = 0; i < kRooms; ++i) ptx::mbarrier_init(shared.free(i), 4 * kCtas);
  ptx::mbarrier_init(shared.tail(), 1);
  if constexpr (kPair) ptx::mbarrier_init(shared.trimmed(), 1);
  if constexpr (kSplit > 1) {
    ptx::mbarrier_init(shared.sent(), 1);
    ptx::mbarrier_arrive_expect_tx(shared.sent(), kV.partial_bytes());
  }
  if constexpr (kV.tiles == Tiles::asked)
    for (int i = 0; i < kAnswers; ++i) {
      ptx::mbarrier_init(shared.answered(i), 1);
      ptx::mbarrier_init(shared.unread(i), kReaders);
    }
  ptx::fence_mbarrier_init();
}

__device__ void run(const Problem& p) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const Shared shared{(ptx::shared_address(bytes) + 1023) & ~1023u};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  constexpr bool kEarly = kV.start == Start::early;
  constexpr int kFetcher = 4 * 32, kMultiplier = 5 * 32;
  const Fetch fetch(p, shared);
  const bool any = kV.tiles != Tiles::fixed || Fixed(p).any();
  const int early = kEarly && kCluster == 1 && any ? min(kStages, fetch.part.stages) : 0;
  if (threadIdx.x == (kEarly ? kFetcher : 0)) {
    if constexpr (kEarly) {
      for (const CUtensorMap* map : {&p.a, &p.b, &p.sfa, &p.sfb}) ptx::prefetch_tensormap(*map);
      if (kV.store == Store::tma) ptx::prefetch_tensormap(p.out);
    }
    init(shared);
    if constexpr (kEarly && kCluster == 1)
      fetch.stages(first_tile(p), 0, 0, early);
  }
  if (warp == 5) {
    ptx::tcgen05_alloc<kCtas>(shared.tensor(), kV.columns());
    ptx::tcgen05_relinquish_alloc_permit<kCtas>();
  }
  __syncwarp();
  meet();
  const uint32_t tensor = ptx::ld_shared_u32(shared.tensor());
  if (warp < 4) {
    Epilogue(p, shared, tensor).run();
  } else if (threadIdx.x == kFetcher) {
    int tiles = 0;
    each_tile(p, shared, [&](const Place& place, int i) {
      if constexpr (kV.tiles == Tiles::asked) ask(shared, i);
      fetch.stages(place, i, i == 0 ? early : 0, fetch.part.stages);
      tiles = i + 1;
    });
    fetch.drain(tiles);
  } else if (threadIdx.x == kMultiplier && blockIdx.x % kCtas == 0) {
    multiply(p, shared, tensor);
  }
  __syncwarp();
  meet();
  if (warp == 5) ptx::tcgen05_dealloc<kCtas>(tensor, kV.columns());
}

}  // namespace dense

// a, b: boxes of 256 x Variant::box_a and box_b elements, swizzled by 128 bytes; sfa, sfb: of one atom, Variant::steps_sfa
// and steps_sfb. out, where
// TMA stores D: of 128 bytes x kBoxRows, swizzled likewise. An NVFP4 d: two elements a
// byte, then their scales in the 128x4 tiling.
extern "C" __global__ void __launch_bounds__(dense::kThreads)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap sfa, const __grid_constant__ CUtensorMap sfb,
         const __grid_constant__ CUtensorMap out, void* d, const __half* c, const float* alpha,
         const float* beta, int m, int n, int k, int l) {
#if __CUDA_ARCH__ >= 1000
  dense::run({a, b, sfa, sfb, out, d, c, alpha, beta, m, n, k, l});
#endif
}
