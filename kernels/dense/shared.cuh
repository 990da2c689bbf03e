// What this file is compiled for, and the shared memory of a CTA.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "launch.h"
#include "ptx/arithmetic.cuh"
#include "ptx/cluster.cuh"
#include "ptx/copy.cuh"
#include "ptx/descriptor.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/multicast.cuh"
#include "ptx/shared.cuh"
#include "ptx/tcgen05.cuh"

#define DENSE_STRING_OF(x) #x
#define DENSE_STRING(x) DENSE_STRING_OF(x)

namespace dense {

constexpr Variant kV = variant(DENSE_STRING(NAME));
constexpr Tile kTile = kV.tile;
constexpr int kTileN = kTile.n;
constexpr int kCtas = kTile.ctas;
constexpr bool kPair = kCtas == 2;
constexpr bool kPersistent = kV.tiles != Tiles::single;
constexpr bool kShares = kV.cluster_n > 1 || kV.sharers_b() > 1;  // tiles of A or B, by multicast
constexpr int kClusterM = kV.cluster_m;
constexpr int kClusterN = kV.cluster_n;
constexpr int kSplit = kV.split;
constexpr int kCluster = kV.cluster();
constexpr int kStages = kV.stages();
constexpr int kAccumulators = kV.accumulators();
constexpr int kNextSums = kV.accumulator_column(1);           // columns from one tile's sums to another's
constexpr int kRooms = kV.overlap() > 0 ? 1 : kAccumulators;  // for sums, that are waited for one by one
constexpr int kStepsAStage = kTileK / kStep;

// Addresses in shared memory.
struct Shared {
  uint32_t base;
  __device__ uint32_t a(int stage) const { return base + stage * kTile.stage_bytes(); }
  __device__ uint32_t b(int stage) const { return a(stage) + kTile.a_bytes(); }
  __device__ uint32_t sfa(int stage) const { return b(stage) + kTile.b_bytes(); }
  __device__ uint32_t sfb(int stage) const { return sfa(stage) + kTile.scale_bytes(); }
  // Of D, the boxes that a warp stages in turn.
  __device__ uint32_t box(int warp, int i) const {
    return base + kStages * kTile.stage_bytes() + (warp * kV.boxes() + i % kV.boxes()) * kBoxBytes;
  }
  __device__ uint32_t partials() const { return base + kStages * kTile.stage_bytes() + kV.staging_bytes(); }
  // Barriers and small things, 8 bytes each.
  __device__ uint32_t small(int i) const { return partials() + kV.partial_bytes() + i * 8; }
  __device__ uint32_t full(int stage) const { return small(stage); }  // of a pair the first CTA's, for both
  __device__ uint32_t empty(int stage) const { return small(kStages + stage); }
  __device__ uint32_t done(int i) const { return small(i == 0 ? 2 * kStages : 2 * kStages + 2); }  // of the sums of a tile
  __device__ uint32_t tensor() const { return small(2 * kStages + 1); }  // where alloc writes
  __device__ uint32_t free(int i) const { return small(2 * kStages + 3 + i); }  // room for the sums of another tile
  __device__ uint32_t tail() const { return small(2 * kStages + 5); }      // scales of k's end are there
  __device__ uint32_t trimmed() const { return small(2 * kStages + 6); }   // and have been trimmed in the pair's second CTA
  __device__ uint32_t sent() const { return small(2 * kStages + 7); }      // all partial sums are there
  __device__ uint32_t answered(int i) const { return small(2 * kStages + 8 + i); }
  __device__ uint32_t unread(int i) const { return small(2 * kStages + 10 + i); }  // of the cluster's first CTA
  __device__ uint32_t answer(int i) const { return small(2 * kStages + 12 + 2 * i); }
};

// Where the CTA is in its cluster.
__device__ inline int cluster_x() { return static_cast<int>(blockIdx.x) % kClusterM; }
__device__ inline int cluster_y() { return static_cast<int>(blockIdx.y) % kClusterN; }
__device__ inline int cluster_part() { return static_cast<int>(blockIdx.z) % kSplit; }
__device__ constexpr int rank_of(int x, int y, int part) { return x + kClusterM * (y + kClusterN * part); }
// The CTA of its pair that multiplies; the CTA itself where a tile has one.
__device__ inline int leader() { return rank_of(cluster_x() / kCtas * kCtas, cluster_y(), cluster_part()); }

// What the kernel was given.
struct Problem {
  const CUtensorMap &a, &b, &sfa, &sfb, &out;
  void* d;
  const __half* c;
  const float *alpha, *beta;
  int m, n, k, l;

  __device__ int steps() const { return up(k, kStep); }
};

// The stages of k that this CTA multiplies, and steps of them.
struct Part {
  int first, stages, steps;
  __device__ explicit Part(const Problem& p) : first(0), stages(up(p.steps(), kStepsAStage)), steps(p.steps()) {
    if constexpr (kSplit > 1) {
      const int each = up(stages, kSplit);
      first = min(stages, cluster_part() * each);
      stages = min(stages - first, each);
      steps = max(0, min(steps - first * kStepsAStage, stages * kStepsAStage));
    }
  }
};

}  // namespace dense
