// The tensor maps of a group: the launch's parameters, or made of the first group's.
#pragma once
#include "launch.h"
#include "nvfp4/ring.cuh"
#include "ptx/shared.cuh"
#include "ptx/tensormap.cuh"

namespace grouped {
#if __CUDA_ARCH__ >= 1000

// Buffers of all groups' operands, one after another.
struct Buffers {
  const unsigned char *a, *b, *sfa, *sfb;
};

// Makes the maps of a group in a CTA's four places in global memory, by a whole warp; copies that read what stood there have
// ended. `staging`: shared memory for four maps. The first group's maps say all that does not change: types, boxes, swizzles.
struct DeviceMaps {
  const CUtensorMap &codes_of_a, &codes_of_b, &scales;
  const Buffers& buffers;
  CUtensorMap* place;
  uint32_t staging;

  // A map of codes [rows][k].
  __device__ void codes(int i, const CUtensorMap& like, const unsigned char* from, int rows, int k) const {
    const uint32_t map = start(i, like);
    ptx::tensormap_replace_global_address(map, from);
    ptx::tensormap_replace_global_dim<0>(map, k);
    ptx::tensormap_replace_global_dim<1>(map, rows);
    ptx::tensormap_replace_global_stride<1>(map, k / 2);
    ptx::tensormap_replace_global_stride<2>(map, uint64_t(k / 2) * rows);
  }
  // Of scales in the 128x4 tiling.
  __device__ void atoms(int i, const unsigned char* from, int rows, int k) const {
    const uint32_t map = start(i, scales);
    const uint64_t steps = k / nvfp4::kStep, down = nvfp4::up(rows, nvfp4::kRows);
    ptx::tensormap_replace_global_address(map, from);
    ptx::tensormap_replace_global_dim<1>(map, static_cast<uint32_t>(steps));
    ptx::tensormap_replace_global_dim<2>(map, static_cast<uint32_t>(down));
    ptx::tensormap_replace_global_stride<2>(map, nvfp4::kAtom * steps);
    ptx::tensormap_replace_global_stride<3>(map, nvfp4::kAtom * steps * down);
  }
  __device__ uint32_t start(int i, const CUtensorMap& like) const {
    const uint32_t map = staging + i * 128;
    const uint4* const from = reinterpret_cast<const uint4*>(&like);
    for (int word = 0; word < 8; ++word) ptx::st_shared_v4(map + word * 16, from[word]);
    return map;
  }

  __device__ void make(const Group& g) const {
    if (threadIdx.x % 32 == 0) {
      codes(0, codes_of_a, buffers.a + g.a, g.m, g.k);
      codes(1, codes_of_b, buffers.b + g.b, g.n, g.k);
      atoms(2, buffers.sfa + g.sfa, g.m, g.k);
      atoms(3, buffers.sfb + g.sfb, g.n, g.k);
    }
    __syncwarp();
    for (int i = 0; i < 4; ++i) ptx::tensormap_cp_fenceproxy(place + i, staging + i * 128);
    for (int i = 0; i < 4; ++i) ptx::fence_proxy_tensormap_acquire(place + i);
    __syncwarp();
  }
};

#endif
}  // namespace grouped
