// A ring of stages in shared memory between one thread that fetches NVFP4 operands by TMA and one that multiplies them: A and
// one or more B of one CTA, or of a pair, each with its scales.
#pragma once
#include <cuda.h>

#include "../ptx/cluster.cuh"
#include "../ptx/copy.cuh"
#include "../ptx/descriptor.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/tcgen05.cuh"
#include "tile.h"

namespace nvfp4 {

// The tensor maps of an operand's codes and of its scales.
struct Maps {
  const CUtensorMap& codes;
  const CUtensorMap& scales;
};

// `kBs` tiles of B of `kN` columns. What is called `i` counts the stages of k that the CTA has fetched, or multiplied. A pair is
// a cluster: each CTA has a ring, holds its 128 rows of A and half of B's, and all scales of B; the first CTA multiplies for both,
// and its barrier counts the bytes of both.
template <int kN, int kBs, int kStages, int kCtas = 1>
struct Ring {
  static constexpr Tile kTile{kN, kCtas};
  static constexpr int kBytes = ring_stage_bytes(kTile, kBs);
  static constexpr uint32_t kInstruction = ptx::instruction_mxf4nvf4(kCtas * kRows, kN);
  uint32_t base;      // kStages * kBytes, from a multiple of 1024 on
  uint32_t barriers;  // 2 * kStages of 8 bytes

  __device__ uint32_t a(int i) const { return base + i % kStages * kBytes; }
  __device__ uint32_t b(int i, int which) const { return a(i) + kTile.a_bytes() + which * kTile.b_bytes(); }
  __device__ uint32_t sfa(int i) const { return b(i, kBs); }
  __device__ uint32_t sfb(int i, int which) const { return sfa(i) + (1 + which * kTile.atoms()) * kTile.scale_bytes(); }
  __device__ uint32_t full(int i) const { return barriers + i % kStages * 8; }
  __device__ uint32_t empty(int i) const { return barriers + (kStages + i % kStages) * 8; }

  __device__ void init() const {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(full(stage), 1);
      ptx::mbarrier_init(empty(stage), 1);
    }
  }

  // Of the CTA in its pair.
  __device__ static int rank() { return kCtas == 1 ? 0 : static_cast<int>(blockIdx.x) % kCtas; }

  // By the thread that fetches. Waits until the stage is free; then A's and every B's part of it are to be fetched, `k` in
  // stages.
  __device__ void acquire(int i) const {
    ptx::mbarrier_wait_parity(empty(i), (i / kStages + 1) & 1);
    if (kCtas == 1 || rank() == 0) ptx::mbarrier_arrive_expect_tx(full(i), kCtas * kBytes);
  }
  __device__ void codes(int i, uint32_t to, const CUtensorMap& map, int k, int row, int batch) const {
    if constexpr (kCtas == 2)
      ptx::cp_async_bulk_tensor_3d_pair(to, map, k * kTileK, row, batch, ptx::mapa(full(i), 0));
    else
      ptx::cp_async_bulk_tensor_3d(to, map, k * kTileK, row, batch, full(i));
  }
  __device__ void scales(int i, uint32_t to, const CUtensorMap& map, int k, int atom, int batch) const {
    if constexpr (kCtas == 2)
      ptx::cp_async_bulk_tensor_4d_pair(to, map, 0, k * (kTileK / kStep), atom, batch, ptx::mapa(full(i), 0));
    else
      ptx::cp_async_bulk_tensor_4d(to, map, 0, k * (kTileK / kStep), atom, batch, full(i));
  }
  // `rows`: which 128 rows, the CTA's own; `tile` of fetch_b: of kN columns, the pair's.
  __device__ void fetch_a(int i, const Maps& maps, int k, int rows, int batch) const {
    codes(i, a(i), maps.codes, k, rows * kRows, batch);
    scales(i, sfa(i), maps.scales, k, rows, batch);
  }
  __device__ void fetch_b(int i, int which, const Maps& maps, int k, int tile, int batch) const {
    codes(i, b(i, which), maps.codes, k, tile * kN + rank() * (kN / kCtas), batch);
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      scales(i, sfb(i, which) + atom * kTile.scale_bytes(), maps.scales, k, Tile{kN, kCtas}.first_atom(tile) + atom, batch);
  }
  // Until every one of `all` stages has been given back, so that no commit arrives at a CTA that has ended.
  __device__ void drain(int all) const {
#pragma unroll 1
    for (int i = max(0, all - kStages); i < all; ++i) ptx::mbarrier_wait_parity(empty(i), i / kStages & 1);
  }

  // By the thread that multiplies, of a pair the first CTA's: until the stage is there; and what gives it back.
  __device__ void wait(int i) const { ptx::mbarrier_wait_parity(full(i), i / kStages & 1); }
  __device__ void release(int i) const { ptx::tcgen05_commit<kCtas>(empty(i)); }
  // 64 elements of k, step `s` of a stage. Sums stand side by side from column `d` on, scales from `scales` on: A's in 16
  // columns, then those of each B, of which the tile along n is `tile`.
  __device__ void multiply(int i, int s, uint32_t d, uint32_t scales, int tile, bool accumulate) const {
    const uint32_t of_a = scales + 4 * s;
    ptx::tcgen05_cp_32x128b_warpx4<kCtas>(of_a, ptx::matrix_at(ptx::kMatrixScales, sfa(i) + s * kAtom));
#pragma unroll
    for (int which = 0; which < kBs; ++which) {
      const uint32_t of_b = scales + 16 + which * 16 * kTile.atoms() + 4 * s * kTile.atoms();
      for (int atom = 0; atom < kTile.atoms(); ++atom)
        ptx::tcgen05_cp_32x128b_warpx4<kCtas>(
            of_b + 4 * atom, ptx::matrix_at(ptx::kMatrixScales, sfb(i, which) + atom * kTile.scale_bytes() + s * kAtom));
      ptx::tcgen05_mma_mxf4nvf4<kCtas>(d + which * kN, ptx::matrix_at(ptx::kMatrix128b, a(i) + 32 * s),
                                   ptx::matrix_at(ptx::kMatrix128b, b(i, which) + 32 * s), kInstruction, of_a,
                                   of_b + Tile{kN, kCtas}.shift(tile), accumulate);
    }
  }
};

// All threads of a tile's CTAs, with what they did to tensor memory.
template <int kCtas>
__device__ inline void meet() {
  ptx::tcgen05_fence_before_thread_sync();
  if constexpr (kCtas == 2) {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait();
  } else {
    __syncthreads();
  }
  ptx::tcgen05_fence_after_thread_sync();
}

}  // namespace nvfp4
