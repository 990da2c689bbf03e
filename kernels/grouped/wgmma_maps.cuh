// The tensor maps of Hopper's groups: the launch's parameter, or made by each CTA of the first group's.
#pragma once
#include "gemm/ring.cuh"
#include "launch.h"
#include "ptx/tensormap.cuh"

namespace grouped {

using Ring = gemm::Ring<gemm::kTileM, 1>;

// Of each group: A, decoded, in boxes of 64 x 128, and B's codes as bytes, in boxes of 32 x 128. Those that are too many: anything.
struct HopperMaps {
  CUtensorMap a[kMostGroups], b[kMostGroups];
};

// Threads that fetch call take() before a group's first tile, with where the ring is to go on; the first of them then fetches by
// a() and b().
struct GivenMaps {
  static constexpr int kFetchers = 1;
  const HopperMaps& given;
  int g = 0;

  __device__ void take(const Ring&, const gemm::Slot&, const Group&, int next) { g = next; }
  __device__ const CUtensorMap& a() const { return given.a[g]; }
  __device__ const CUtensorMap& b() const { return given.b[g]; }
};

struct MadeMaps {
  static constexpr int kFetchers = 32;  // a map is published by a whole warp
  const CUtensorMap &like_a, &like_b;   // the first group's: types, boxes, swizzles
  const uint8_t *decoded, *codes;       // of all groups, one after another
  CUtensorMap* place;                   // the CTA's two
  int g = -1;

  // In shared memory behind the ring, where maps stand at multiples of 128 bytes.
  __device__ static uint32_t staging(const Ring& ring, int i) { return (ring.empty(Ring::kStages) + 127) / 128 * 128 + i * 128; }
  static constexpr int kRing = Ring::kStages * (Ring::kStage + 2 * 8);
  static_assert((kRing + 127) / 128 * 128 + 2 * 128 <= kernels::kSharedLimit - 1024, "there is room for two maps");

  // A map of `rows` rows of `width` elements, `pitch` bytes apart, from `from` on.
  __device__ static void make(uint32_t map, const CUtensorMap& like, const uint8_t* from, int rows, int width, uint64_t pitch) {
    const uint4* const words = reinterpret_cast<const uint4*>(&like);
    for (int word = 0; word < 8; ++word) ptx::st_shared_v4(map + word * 16, words[word]);
    ptx::tensormap_replace_global_address(map, from);
    ptx::tensormap_replace_global_dim<0>(map, width);
    ptx::tensormap_replace_global_dim<1>(map, rows);
    ptx::tensormap_replace_global_stride<1>(map, pitch);
    ptx::tensormap_replace_global_stride<2>(map, pitch * rows);
  }

  __device__ void take(const Ring& ring, gemm::Slot slot, const Group& group, int next) {
    if (next == g) return;
    g = next;
    if (threadIdx.x == 0) {
      // Until every stage has been given back: nobody copies by the maps of the group before any more.
#pragma unroll 1
      for (int i = 0; i < Ring::kStages; ++i) {
        ptx::mbarrier_wait_parity(ring.empty(slot.stage), slot.parity ^ 1);
        slot.advance<Ring::kStages>();
      }
      make(staging(ring, 0), like_a, decoded + 4 * group.a, group.m, group.k, 2 * group.k);
      make(staging(ring, 1), like_b, codes + group.b, group.n, group.k / 2, group.k / 2);
    }
    __syncwarp();
    for (int i = 0; i < 2; ++i) ptx::tensormap_cp_fenceproxy(place + i, staging(ring, i));
    for (int i = 0; i < 2; ++i) ptx::fence_proxy_tensormap_acquire(place + i);
    __syncwarp();
  }
  __device__ const CUtensorMap& a() const { return place[0]; }
  __device__ const CUtensorMap& b() const { return place[1]; }
};

}  // namespace grouped
