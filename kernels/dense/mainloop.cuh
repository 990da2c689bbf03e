// From global memory to sums in tensor memory: one thread fetches A, B and their scales by TMA into a ring of stages, one
// multiplies.
#pragma once
#include "tiles.cuh"

namespace dense {

constexpr uint32_t kInstruction = ptx::instruction_mxf4nvf4(kCtas * kRows, kTileN);

// Who writes into this CTA's ring, or its pair's: the CTAs of its row and column of the cluster. And whose MMAs read what
// this CTA writes.
constexpr int kRing = kClusterM / kCtas + kClusterN - 1;
__device__ inline uint16_t writers() {
  uint32_t mask = 0;
  for (int x = 0; x < kClusterM; ++x) mask |= 1u << rank_of(x, cluster_y(), cluster_part());
  for (int y = 0; y < kClusterN; ++y) mask |= ((1u << kCtas) - 1) << rank_of(cluster_x() / kCtas * kCtas, y, cluster_part());
  return static_cast<uint16_t>(mask);
}

// This CTA's part of every stage; all bytes of a pair count on its first CTA's barrier.
struct Fetch {
  const Problem& p;
  const Shared& shared;
  Part part;
  __device__ Fetch(const Problem& problem, const Shared& s) : p(problem), shared(s), part(problem) {}

  __device__ uint32_t barrier(int stage) const {
    return kPair ? ptx::mapa(shared.full(stage), kCluster == 2 ? 0 : leader()) : shared.full(stage);
  }
  // A box of codes of stage `i` of k, its first row `row` of batch `z`.
  __device__ void codes(uint32_t to, const CUtensorMap& map, int stage, int i, int row, int z) const {
    if constexpr (kPair)
      ptx::cp_async_bulk_tensor_3d_pair(to, map, i * kTileK, row, z, barrier(stage));
    else
      ptx::cp_async_bulk_tensor_3d(to, map, i * kTileK, row, z, shared.full(stage));
  }
  // The same into every CTA whose bit is set in `mask`.
  static_assert(!kShares || kSplit == 1, "masks are of clusters that share no k");
  __device__ void shared_codes(uint32_t to, const CUtensorMap& map, int stage, int i, int row, int z, uint32_t mask) const {
    if constexpr (kPair)
      ptx::cp_async_bulk_tensor_3d_multicast_pair(to, map, i * kTileK, row, z, barrier(stage), static_cast<uint16_t>(mask));
    else
      ptx::cp_async_bulk_tensor_3d_multicast(to, map, i * kTileK, row, z, shared.full(stage), static_cast<uint16_t>(mask));
  }
  __device__ void a(const Place& at, int stage, int i) const {
    if constexpr (kClusterN == 1) {
      codes(shared.a(stage), p.a, stage, i, at.x * kRows, at.z);
    } else {
      const int first = cluster_y() * kV.box_a();
      uint32_t mask = 0;
      for (int y = 0; y < kClusterN; ++y) mask |= 1u << rank_of(cluster_x(), y, 0);
      shared_codes(shared.a(stage) + first * (kTileK / 2), p.a, stage, i, at.x * kRows + first, at.z, mask);
    }
  }
  __device__ void b(const Place& at, int stage, int i) const {
    const int column = at.y * kTileN + at.x % kCtas * (kTileN / kCtas);
    if constexpr (kV.sharers_b() == 1) {
      codes(shared.b(stage), p.b, stage, i, column, at.z);
    } else {
      const int first = cluster_x() / kCtas * kV.box_b();
      uint32_t mask = 0;
      for (int x = cluster_x() % kCtas; x < kClusterM; x += kCtas) mask |= 1u << rank_of(x, cluster_y(), 0);
      shared_codes(shared.b(stage) + first * (kTileK / 2), p.b, stage, i, column + first, at.z, mask);
    }
  }
  // All scales of the stage, counted by the barrier `counted`.
  __device__ void scales(const Place& at, int stage, int i, uint32_t counted) const {
    const auto box = [&](uint32_t to, const CUtensorMap& map, int step, int atom) {
      if constexpr (kPair)
        ptx::cp_async_bulk_tensor_4d_pair(to + step * kAtom, map, 0, i * kStepsAStage + step, atom, at.z, counted);
      else
        ptx::cp_async_bulk_tensor_4d(to + step * kAtom, map, 0, i * kStepsAStage + step, atom, at.z, counted);
    };
    const int first_atom = Tile{kTileN, kCtas}.first_atom(at.y);
    for (int step = 0; step < kStepsAStage; step += kV.steps_sfa()) box(shared.sfa(stage), p.sfa, step, at.x);
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      for (int step = 0; step < kStepsAStage; step += kV.steps_sfb())
        box(shared.sfb(stage) + atom * kTile.scale_bytes(), p.sfb, step, first_atom + atom);
  }
  static_assert(kV.multicast == Multicast::codes || (kShares && kV.steps_sfa() > 0 && kV.steps_sfb() > 0),
                "a step for each CTA, and stages are given back to all");
  // This CTA's steps of them into all that have the same rows of A, and the same columns of B.
  __device__ void shared_scales(const Place& at, int stage, int i) const {
    const auto box = [&](uint32_t to, const CUtensorMap& map, int step, int atom, uint32_t mask) {
      if constexpr (kPair)
        ptx::cp_async_bulk_tensor_4d_multicast_pair(to + step * kAtom, map, 0, i * kStepsAStage + step, atom, at.z,
                                                    barrier(stage), static_cast<uint16_t>(mask));
      else
        ptx::cp_async_bulk_tensor_4d_multicast(to + step * kAtom, map, 0, i * kStepsAStage + step, atom, at.z,
                                               shared.full(stage), static_cast<uint16_t>(mask));
    };
    uint32_t row = 0, column = 0;
    for (int y = 0; y < kClusterN; ++y) row |= 1u << rank_of(cluster_x(), y, 0);
    for (int x = 0; x < kClusterM; ++x) column |= 1u << rank_of(x, cluster_y(), 0);
    const int first_atom = Tile{kTileN, kCtas}.first_atom(at.y);
    box(shared.sfa(stage), p.sfa, cluster_y() * kV.steps_sfa(), at.x, row);
    for (int atom = 0; atom < kTile.atoms(); ++atom)
      box(shared.sfb(stage) + atom * kTile.scale_bytes(), p.sfb, cluster_x() * kV.steps_sfb(), first_atom + atom, column);
  }

  // The stage in which k ends in the middle of a step: every CTA fetches its scales itself. The upper half of its codes is zero, but its scales are padding, which
  // may be NaN: they become zero before anybody multiplies.
  __device__ void last(const Place& at, int stage, int i, int tile) const {
    constexpr uint32_t kBytes = (1 + kTile.atoms()) * kTile.scale_bytes();
    ptx::mbarrier_arrive_expect_tx(shared.tail(), kBytes);
    scales(at, stage, i, shared.tail());
    ptx::mbarrier_wait_parity(shared.tail(), tile & 1);
    const uint32_t step = (p.steps() - 1) % kStepsAStage * kAtom;
    for (int block = 0; block <= kTile.atoms(); ++block)
#pragma unroll 4
      for (int row = 0; row < 32; ++row) {
        const uint32_t place = shared.sfa(stage) + block * kTile.scale_bytes() + step + row * 16;
        const uint4 v = ptx::ld_shared_v4(place);
        ptx::st_shared_v4(place, {v.x & 0xFFFF, v.y & 0xFFFF, v.z & 0xFFFF, v.w & 0xFFFF});
      }
    ptx::fence_proxy_async_shared();
    if (at.x % kCtas != 0) {
      // One tile ahead of the first CTA, no more: a second arrival would be taken for that of the tile before.
      if (tile > 0) ptx::mbarrier_wait_parity_cluster(shared.trimmed(), (tile - 1) & 1);
      ptx::mbarrier_arrive_release_cluster(ptx::mapa(shared.trimmed(), leader()));
    } else {
      if constexpr (kPair) {
        ptx::mbarrier_wait_parity_cluster(shared.trimmed(), tile & 1);
        ptx::mbarrier_arrive_remote(ptx::mapa(shared.trimmed(), leader() + 1));
      }
      ptx::mbarrier_arrive_expect_tx(shared.full(stage), kCtas * (kTile.stage_bytes() - kBytes));
    }
  }

  // Stages from..to of this CTA's `tile`-th tile.
  __device__ void stages(const Place& at, int tile, int from, int to) const {
    for (int j = from; j < to; ++j) {
      const int i = tile * part.stages + j;  // of all that this CTA has fetched
      const int stage = i % kStages;
      ptx::mbarrier_wait_parity(shared.empty(stage), (i / kStages + 1) & 1);
      const bool trims = p.k % kStep != 0 && part.first + j == up(p.steps(), kStepsAStage) - 1;
      if (at.x % kCtas == 0 && !trims) ptx::mbarrier_arrive_expect_tx(shared.full(stage), kCtas * kTile.stage_bytes());
      a(at, stage, part.first + j);
      b(at, stage, part.first + j);
      if (trims)
        last(at, stage, part.first + j, tile);
      else if constexpr (kV.multicast == Multicast::scales)
        shared_scales(at, stage, part.first + j);
      else
        scales(at, stage, part.first + j, barrier(stage));
    }
  }

  // After `tiles` tiles: until every stage has been given back, so that no commit arrives at a CTA that has ended.
  __device__ void drain(int tiles) const {
    const int all = tiles * part.stages;
#pragma unroll 1
    for (int i = max(0, all - kStages); i < all; ++i) ptx::mbarrier_wait_parity(shared.empty(i % kStages), i / kStages & 1);
  }
};

// Of a pair the first CTA, for both.
__device__ inline void multiply(const Problem& p, const Shared& shared, uint32_t tensor) {
  const Part part(p);
  const uint32_t sfa = tensor + kV.sfa_column();
  const uint32_t sfb = tensor + kV.sfb_column();
  each_tile(p, shared, [&](const Place& place, int tile) {
    const uint32_t shift = kV.scales == Scales::shifted ? Tile{kTileN, kCtas}.shift(place.y) : 0;
    const int sums = tile % kAccumulators;
    const uint32_t d = tensor + sums * kNextSums;
    if constexpr (kPersistent) {
      ptx::mbarrier_wait_parity_cluster(shared.free(tile % kRooms), (tile / kRooms + 1) & 1);
      ptx::tcgen05_fence_after_thread_sync();
    }
    for (int step = 0; step < part.steps; ++step) {
      const int i = tile * part.stages + step / kStepsAStage, s = step % kStepsAStage, stage = i % kStages;
      if (s == 0) ptx::mbarrier_wait_parity(shared.full(stage), i / kStages & 1);
      ptx::tcgen05_cp_32x128b_warpx4<kCtas>(sfa + 4 * s, ptx::matrix_at(ptx::kMatrixScales, shared.sfa(stage) + s * kAtom));
      for (int atom = 0; atom < kTile.atoms(); ++atom)
        ptx::tcgen05_cp_32x128b_warpx4<kCtas>(sfb + 4 * (s * kTile.atoms() + atom),
                                              ptx::matrix_at(ptx::kMatrixScales, shared.sfb(stage) + atom * kTile.scale_bytes() + s * kAtom));
      ptx::tcgen05_mma_mxf4nvf4<kCtas>(d, ptx::matrix_at(ptx::kMatrix128b, shared.a(stage) + 32 * s), ptx::matrix_at(ptx::kMatrix128b, shared.b(stage) + 32 * s),
                                       kInstruction, sfa + 4 * s, sfb + 4 * s * kTile.atoms() + shift, step != 0);
      if (s == kStepsAStage - 1 || step == part.steps - 1) {
        if constexpr (kShares || kSplit > 1)
          ptx::tcgen05_commit_multicast<kCtas>(shared.empty(stage), writers());
        else
          ptx::tcgen05_commit<kCtas>(shared.empty(stage));
      }
    }
    if (kSplit > 1 && part.steps == 0) {  // there is nothing to commit
      for (int i = 0; i < kCtas; ++i) ptx::mbarrier_arrive_remote(ptx::mapa(shared.done(sums), leader() + i));
      return;
    }
    if constexpr (kPair && kCluster > 2)
      ptx::tcgen05_commit_multicast<kCtas>(shared.done(sums), static_cast<uint16_t>(3u << leader()));
    else
      ptx::tcgen05_commit<kCtas>(shared.done(sums));
  });
}

}  // namespace dense
