// Which tiles of D a CTA makes, and in which order: all roles of a CTA walk the same way.
#pragma once
#include "shared.cuh"

namespace dense {

// Of the CTA: the 128 rows of D, the tile of columns, the batch.
struct Place {
  int x, y, z;
};

// Asks the hardware for another cluster's tiles, once a tile, in the thread that fetches of the cluster's first CTA. The
// answer goes to every CTA; each role reads it when it is done with tile `i`.
__device__ inline void ask(const Shared& shared, int i) {
  if (rank_of(cluster_x(), cluster_y(), 0) != 0) return;
  const int slot = i % kAnswers;
  ptx::mbarrier_wait_parity_cluster(shared.unread(slot), (i / kAnswers + 1) & 1);
  for (int rank = 0; rank < kCluster; ++rank)
    ptx::mbarrier_arrive_expect_tx_remote(ptx::mapa(shared.answered(slot), rank), 16);
  ptx::clusterlaunchcontrol_try_cancel<(kCluster > 1)>(shared.answer(slot), shared.answered(slot));
}
// Threads of a CTA that read an answer: one of each of the four warps that store, the one that fetches, the one that
// multiplies.
constexpr int kReaders = 5 * kCluster + kCluster / kCtas;

// The answer after tile `i`; false if there is no other tile. By a whole warp, or by its first thread alone.
__device__ inline bool answered(const Shared& shared, int i, Place& place) {
  const int slot = i % kAnswers;
  ptx::mbarrier_wait_parity_cluster(shared.answered(slot), i / kAnswers & 1);
  const ptx::Canceled next = ptx::clusterlaunchcontrol_query_cancel(shared.answer(slot));
  ptx::fence_proxy_async_shared();  // the next answer is written by the asynchronous proxy
  if (threadIdx.x < 4 * 32) __syncwarp();
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive_release_cluster(ptx::mapa(shared.unread(slot), 0));
  place = {static_cast<int>(next.x) + cluster_x(), static_cast<int>(next.y) + cluster_y(), static_cast<int>(next.z)};
  return next.any;
}

// The tiles of all clusters where each takes every (number of clusters)th: down m, then along n, then the batches.
struct Fixed {
  int down, across, all;
  __device__ explicit Fixed(const Problem& p)
      : down(up(p.m, kRows * kClusterM)), across(up(p.n, kTileN * kClusterN)), all(down * across * p.l) {}
  __device__ bool any() const { return first() < all; }
  __device__ static int first() { return static_cast<int>(blockIdx.x) / kClusterM; }
  __device__ static int clusters() { return static_cast<int>(gridDim.x) / kClusterM; }
  __device__ Place at(int t) const {
    return {t % down * kClusterM + cluster_x(), t / down % across * kClusterN + cluster_y(), t / down / across};
  }
};

// Of this CTA.
__device__ inline Place first_tile(const Problem& p) {
  if constexpr (kV.tiles == Tiles::fixed) return Fixed(p).at(Fixed::first());
  return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z) / kSplit};
}

// work(place, i) for this CTA's i-th tile, one after the other.
template <class Work>
__device__ void each_tile(const Problem& p, const Shared& shared, Work work) {
  Place place = first_tile(p);
  if constexpr (kV.tiles == Tiles::single) {
    work(place, 0);
  } else if constexpr (kV.tiles == Tiles::fixed) {
    const Fixed tiles(p);
    int i = 0;
    for (int t = Fixed::first(); t < tiles.all; t += Fixed::clusters()) work(tiles.at(t), i++);
  } else {
    int i = 0;
    do work(place, i);
    while (answered(shared, i++, place));
  }
}

}  // namespace dense
