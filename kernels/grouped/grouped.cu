// Grouped NVFP4 GEMM for Blackwell: for every group g of a launch D_g[m, n] = sum over k of (A_g * SFA_g)[m, k] * (B_g * SFB_g)[n, k],
// each with an m, n and k of its own. fp16 out, m and n any, k a multiple of 64, up to kMostGroups groups.
//
// A CTA makes tiles of 128 x 128 of whichever group comes. Scales stand in the 128x4 tiling, whose rows past m or n hold
// anything: they multiply rows that nobody stores.
//
// Compiled with NAME a line of variants.inc.
#include <cuda_fp16.h>

#include "maps.cuh"
#include "ptx/cluster.cuh"

#define GROUPED_STRING_OF(x) #x
#define GROUPED_STRING(x) GROUPED_STRING_OF(x)

namespace grouped {
#if __CUDA_ARCH__ >= 1000

constexpr Variant kV = variant(GROUPED_STRING(NAME));
constexpr int kAccumulators = kV.accumulators();
constexpr int kColumns = 16;  // that a thread takes at a time
constexpr int kSteps = nvfp4::kTileK / nvfp4::kStep;
using Ring = nvfp4::Ring<kTileN, 1, kV.stages>;

// What the kernel was given. maps(g): of a group, where the host made them.
template <class HostMaps>
struct Problem {
  HostMaps maps;
  Buffers buffers;
  CUtensorMap* made;  // four for each CTA
  __half* d;
  const Group* groups;
  int count;
};

// work(group, number of the group, x, y, i, stages): this CTA's i-th tile, before which it has had `stages` stages of k.
template <class P, class Work>
__device__ void each_tile(const P& p, Work work) {
  const Group& last = p.groups[p.count - 1];
  const int all = kV.tiles == Tiles::persistent ? last.first_tile + last.tiles() : static_cast<int>(blockIdx.x) + 1;
  int g = 0, i = 0, stages = 0;
  for (int t = static_cast<int>(blockIdx.x); t < all; t += static_cast<int>(gridDim.x)) {
    while (g + 1 < p.count && t >= p.groups[g + 1].first_tile) ++g;
    const Group& group = p.groups[g];
    const int down = nvfp4::up(group.m, nvfp4::kRows), of_group = t - group.first_tile;
    work(group, g, of_group % down, of_group / down, i++, stages);
    stages += nvfp4::up(group.k, nvfp4::kTileK);
  }
}

struct Shared {
  Ring ring;
  uint32_t maps;  // four, on their way to global memory
  __device__ explicit Shared(uint32_t base)
      : ring{base, base + kV.stages * Ring::kBytes + 4 * 128}, maps(base + kV.stages * Ring::kBytes) {}
  __device__ uint32_t small(int i) const { return ring.barriers + (2 * kV.stages + i) * 8; }
  __device__ uint32_t done(int i) const { return small(i); }      // the sums of a tile
  __device__ uint32_t free(int i) const { return small(2 + i); }  // room for another tile's
  __device__ uint32_t tensor() const { return small(4); }         // where alloc writes
  __device__ void init() const {
    ring.init();
    for (int i = 0; i < kAccumulators; ++i) {
      ptx::mbarrier_init(done(i), 1);
      ptx::mbarrier_init(free(i), 4);
    }
    ptx::fence_mbarrier_init();
  }
};

__device__ void fetch(const Shared& shared, const nvfp4::Maps& a, const nvfp4::Maps& b, int i, int k, int x, int y) {
  shared.ring.acquire(i);
  shared.ring.fetch_a(i, a, k, x, 0);
  shared.ring.fetch_b(i, 0, b, k, y, 0);
}

// Stage `k` of a tile.
__device__ void multiply(const Shared& shared, const Group& group, uint32_t d, uint32_t scales, int i, int k, int y) {
  shared.ring.wait(i);
  const int steps = min(kSteps, group.k / nvfp4::kStep - k * kSteps);
#pragma unroll 1
  for (int s = 0; s < steps; ++s) shared.ring.multiply(i, s, d, scales, y, k != 0 || s != 0);
  shared.ring.release(i);
}

// Room for the sums of tile `i`: their columns.
__device__ uint32_t room(const Shared& shared, uint32_t tensor, int i) {
  ptx::mbarrier_wait_parity(shared.free(i % kAccumulators), (i / kAccumulators + 1) & 1);
  ptx::tcgen05_fence_after_thread_sync();
  return tensor + i % kAccumulators * kTileN;
}

// By a whole warp, of which one thread fetches; where there is no other to multiply, it does so too.
template <class P>
__device__ void fetch_all(const P& p, const Shared& shared, uint32_t tensor) {
  const bool issues = threadIdx.x % 32 == 0;
  int made = -1, all = 0;
  CUtensorMap* const place = p.made + blockIdx.x * 4;
  each_tile(p, [&](const Group& group, int g, int x, int y, int i, int stages) {
    if (kV.maker == Maker::device && g != made) {
      if (issues) shared.ring.drain(stages);  // nobody copies by the maps of the group before any more
      __syncwarp();
      DeviceMaps{p.maps(0, 0), p.maps(0, 1), p.maps(0, 2), p.buffers, place, shared.maps}.make(group);
      made = g;
    }
    const auto map = [&](int which) -> const CUtensorMap& {
      if constexpr (kV.maker == Maker::device) return place[which];
      return p.maps(g, which);
    };
    const nvfp4::Maps a{map(0), map(2)}, b{map(1), map(3)};
    const int count = nvfp4::up(group.k, nvfp4::kTileK);
    if (issues) {
      if constexpr (kV.warps == Warps::one) {
        const uint32_t d = room(shared, tensor, i);
#pragma unroll 1
        for (int k = 0; k < count; ++k) {
          fetch(shared, a, b, stages + k, k, x, y);
          ptx::tcgen05_fence_after_thread_sync();  // fetching has waited for the commit of the stage before
          multiply(shared, group, d, tensor + kV.scale_column(), stages + k, k, y);
        }
        ptx::tcgen05_commit<1>(shared.done(i % kAccumulators));
      } else {
#pragma unroll 1
        for (int k = 0; k < count; ++k) fetch(shared, a, b, stages + k, k, x, y);
      }
    }
    __syncwarp();
    all = stages + count;
  });
  if (issues) shared.ring.drain(all);
}

template <class P>
__device__ void multiply_all(const P& p, const Shared& shared, uint32_t tensor) {
  each_tile(p, [&](const Group& group, int, int, int y, int i, int stages) {
    const uint32_t d = room(shared, tensor, i);
#pragma unroll 1
    for (int k = 0; k < nvfp4::up(group.k, nvfp4::kTileK); ++k)
      multiply(shared, group, d, tensor + kV.scale_column(), stages + k, k, y);
    ptx::tcgen05_commit<1>(shared.done(i % kAccumulators));
  });
}

// Four warps, a thread a row.
template <class P>
__device__ void store(const P& p, const Shared& shared, uint32_t tensor) {
  const uint32_t lanes = threadIdx.x / 32 * 32 << 16;
  each_tile(p, [&](const Group& group, int, int x, int y, int i, int) {
    const int sums = i % kAccumulators;
    ptx::mbarrier_wait_parity(shared.done(sums), i / kAccumulators & 1);
    ptx::tcgen05_fence_after_thread_sync();
    const int row = x * nvfp4::kRows + static_cast<int>(threadIdx.x);
    __half* const d = p.d + group.d + static_cast<size_t>(row) * group.n;
    for (int column = 0; column < kTileN; column += kColumns) {
      float v[kColumns];
      ptx::tcgen05_ld_32x32b_x16(v, tensor + lanes + sums * kTileN + column);
      ptx::tcgen05_wait_ld();
      const int first = y * kTileN + column;
      if (row < group.m)
        for (int c = 0; c < kColumns; ++c)
          if (first + c < group.n) d[first + c] = __float2half_rn(v[c]);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(shared.free(sums));
  });
}

template <class P>
__device__ void run(const P& p) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const Shared shared((ptx::shared_address(bytes) + 1023) & ~1023u);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) shared.init();
  if (warp == 5) {
    ptx::tcgen05_alloc<1>(shared.tensor(), kV.columns());
    ptx::tcgen05_relinquish_alloc_permit<1>();
  }
  __syncwarp();
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const uint32_t tensor = ptx::ld_shared_u32(shared.tensor());
  if (warp < 4)
    store(p, shared, tensor);
  else if (warp == 4)
    fetch_all(p, shared, tensor);
  else if (threadIdx.x == 5 * 32 && kV.warps == Warps::two)
    multiply_all(p, shared, tensor);
  __syncwarp();
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  if (warp == 5) ptx::tcgen05_dealloc<1>(tensor, kV.columns());
}

#endif
}  // namespace grouped

#define GROUP_MAPS(g)                                                                                         \
  const __grid_constant__ CUtensorMap a##g, const __grid_constant__ CUtensorMap b##g,                         \
      const __grid_constant__ CUtensorMap sfa##g, const __grid_constant__ CUtensorMap sfb##g
#define GROUP_MAPS_OF(g) \
  case g: return which == 0 ? a##g : which == 1 ? b##g : which == 2 ? sfa##g : sfb##g

// The maps of kMostGroups groups, those that are too many the first one's: boxes of 256 elements of k by 128 rows, swizzled by
// 128 bytes; of scales one atom, 4 steps. Where CTAs make the maps, the first group's say what all have in common, and `made` is
// room for four a CTA; else neither it nor the buffers a to sfb are looked at.
extern "C" __global__ void __launch_bounds__(grouped::kThreads)
    NAME(GROUP_MAPS(0), GROUP_MAPS(1), GROUP_MAPS(2), GROUP_MAPS(3), GROUP_MAPS(4), GROUP_MAPS(5), GROUP_MAPS(6), GROUP_MAPS(7),
         const unsigned char* a, const unsigned char* b, const unsigned char* sfa, const unsigned char* sfb, CUtensorMap* made,
         __half* d, const grouped::Group* groups, int count) {
#if __CUDA_ARCH__ >= 1000
  const auto maps = [&](int g, int which) -> const CUtensorMap& {
    switch (g) {
      GROUP_MAPS_OF(1);
      GROUP_MAPS_OF(2);
      GROUP_MAPS_OF(3);
      GROUP_MAPS_OF(4);
      GROUP_MAPS_OF(5);
      GROUP_MAPS_OF(6);
      GROUP_MAPS_OF(7);
      default:
      GROUP_MAPS_OF(0);
    }
  };
  grouped::run(grouped::Problem<decltype(maps)>{maps, {a, b, sfa, sfb}, made, d, groups, count});
#endif
}
