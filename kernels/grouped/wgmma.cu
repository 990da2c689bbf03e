// Grouped NVFP4 GEMM for Hopper: the problem of grouped.cu, by wgmma on operands decoded to fp16 as in kernels/gemm. A scale's sign
// counts, and a group's k is a multiple of 64.
//
// Persistent: a CTA takes every (number of CTAs)th tile of 128 x 128 over all groups. The host makes the groups' tensor maps, or, in
// grouped_wgmma_device, each CTA does.
#include <cuda_fp16.h>

#include "gemm/decode.cuh"
#include "gemm/ring.cuh"
#include "launch.h"
#include "wgmma_maps.cuh"

namespace grouped {

// work(group, its number, first row of A, first row of B) for each of this CTA's tiles.
template <class Work>
__device__ void each_tile(const Group* groups, int count, Work work) {
  const int tiles = groups[count - 1].first_tile + groups[count - 1].tiles();
  int g = 0;
  for (int t = static_cast<int>(blockIdx.x); t < tiles; t += static_cast<int>(gridDim.x)) {
    while (g + 1 < count && t >= groups[g + 1].first_tile) ++g;
    const Group group = groups[g];  // a copy: stores of D might change the table, as far as the compiler knows
    const int down = nvfp4::up(group.m, gemm::kTileM), of_group = t - group.first_tile;
    work(group, g, of_group % down * gemm::kTileM, of_group / down * kTileN);
  }
}

template <class Maps>
__device__ void run(Maps maps, const uint8_t* sfb, __half* d, const Group* groups, int count) {
  gemm::divide<gemm::kTileM, 1, Maps::kFetchers>(
      [&](const Ring& ring) {
        gemm::Slot slot;
        each_tile(groups, count, [&](const Group& group, int g, int row_a, int row_b) {
          maps.take(ring, slot, group, g);
          if (Maps::kFetchers > 1 && threadIdx.x != 0) return;
          const int steps = group.k / gemm::kStep;
          const uint8_t* const atoms = sfb + group.sfb + static_cast<size_t>(row_b / 128) * steps * gemm::kScaleAtom;
#pragma unroll 1
          for (int step = 0; step < steps; ++step) {
            ring.acquire(slot, ring.kStage);
            ring.fetch_a(slot, maps.a(), step, row_a, 0);
            ring.fetch_b(slot, 0, maps.b(), atoms, step, row_b, 0);
            slot.advance<Ring::kStages>();
          }
        });
      },
      [&](auto& consumer) {
        each_tile(groups, count, [&](const Group& group, int, int row_a, int row_b) {
          consumer.multiply(0, group.k / gemm::kStep, group.k);
          gemm::each_sum(consumer, [&](int of_b, int of_a, int i) {
            const int m = row_a + of_a, n = row_b + of_b;
            if (m < group.m && n < group.n)
              d[group.d + static_cast<size_t>(m) * group.n + n] = __float2half_rn(consumer.sums[0][i] * gemm::kUnscale);
          });
        });
      });
}

}  // namespace grouped

// A of every group, decoded: of group g from byte 4 * groups[g].a of `out` on. Grid: (32 * ceil(m / 128), k / 8 / 128, groups), of the
// largest m and k; blocks of 128.
extern "C" __global__ void __launch_bounds__(128)
    grouped_wgmma_decode(const uint8_t* a, const uint8_t* sfa, uint8_t* out, const grouped::Group* groups) {
  ptx::griddepcontrol_launch_dependents();
  const grouped::Group& g = groups[blockIdx.z];
  if (blockIdx.x / 32 * 128 < g.m)
    gemm::decode(a + g.a, sfa + g.sfa, reinterpret_cast<uint4*>(out + 4 * g.a), g.m, g.k, 0, gridDim.x);
}

extern "C" __global__ void __launch_bounds__(gemm::kThreads, 1)
    grouped_wgmma(const __grid_constant__ grouped::HopperMaps maps, const uint8_t* sfb, __half* d, const grouped::Group* groups,
                  int count) {
  grouped::run(grouped::GivenMaps{maps}, sfb, d, groups, count);
}

// a, b: the first group's maps; decoded, codes: from a multiple of 16 bytes on; made: room for two maps a CTA, from a multiple of 128.
extern "C" __global__ void __launch_bounds__(gemm::kThreads, 1)
    grouped_wgmma_device(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const uint8_t* decoded,
                         const uint8_t* codes, const uint8_t* sfb, __half* d, const grouped::Group* groups, int count,
                         CUtensorMap* made) {
  grouped::run(grouped::MadeMaps{a, b, decoded, codes, made + 2 * blockIdx.x}, sfb, d, groups, count);
}
