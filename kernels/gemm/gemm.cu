// NVFP4 GEMM for Hopper: d[l, m, n] = sum over k of (a * sfa)[l, m, k] * (b * sfb)[l, n, k].
//
// A comes decoded (gemm_decode), B as E2M1: its rows are wgmma's M, decoded by the consumers into wgmma's registers, and
// D comes out transposed. One producer thread, two consumer warpgroups of 64 rows of B. Clusters are (x, y): x CTAs with
// neighbouring tiles of n share A's tile, each fetching a part for all; y CTAs share k and add their sums in order of y.
// Persistent: a cluster takes every (number of clusters)th tile; with as many clusters as tiles it is a single wave.
//
// Compiled for TILE_M 128 or 256, SPLIT 1, 2, 3 or 4, OUT 0 (fp16), 1 (bf16) or 2 (fp32).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "mainloop.cuh"

namespace gemm {

using P = Plan<TILE_M, SPLIT>;
constexpr int min_of(int a, int b) { return a < b ? a : b; }
constexpr int kOutBytes = OUT == 2 ? 4 : 2;
// Rows of D, 64 columns each, in one store: a whole number of stores makes a slice.
constexpr int kPieceRows = SPLIT == 3 ? 16 : min_of(kPieceBytes / (64 * kOutBytes), P::kSlice);

struct Tile {
  int m, n, batch;  // first row of A, first row of B
};

// What a CTA has to do, worked out once.
struct Problem {
  int m, n, k;
  int peers, peer;            // CTAs that share A's tile, 1 or 2, and which of them this is
  int part;                   // of k
  int first_step, end_step;   // of the part
  int steps;                  // of k
  int tiles_m, tiles_n, groups_n;
  int tile, tiles, clusters;  // the first, all of them, and how far apart this cluster's are

  __device__ Problem(int m_, int n_, int k_, int l)
      : m(m_), n(n_), k(k_), peers(static_cast<int>(ptx::cluster_nctaid_x())),
        peer(static_cast<int>(ptx::cluster_ctaid_x())), part(static_cast<int>(ptx::cluster_ctaid_y())),
        steps((k + kStep - 1) / kStep), tiles_m((m + TILE_M - 1) / TILE_M), tiles_n((n + kTileN - 1) / kTileN) {
    const int each = (steps + SPLIT - 1) / SPLIT;
    first_step = part * each;
    end_step = min(steps, first_step + each);
    groups_n = (tiles_n + peers - 1) >> (peers - 1);
    tiles = tiles_m * groups_n * l;
    tile = static_cast<int>(blockIdx.x) >> (peers - 1);
    clusters = static_cast<int>(gridDim.x) >> (peers - 1);
  }
  __device__ Tile at(int i) const {
    const int group = i / tiles_m % groups_n;
    return {i % tiles_m * TILE_M, (group * peers + peer) * kTileN, i / tiles_m / groups_n};
  }
};

// Addresses in shared memory.
struct Shared {
  static constexpr int kStages = P::kStages;
  uint32_t base;
  __device__ uint32_t a(int stage) const { return base + P::kAt_A + stage * P::kA; }
  __device__ uint32_t b(int stage) const { return base + P::kAt_B + stage * P::kB; }
  __device__ uint32_t scales(int stage) const { return base + P::kAt_Scales + stage * kScaleAtom; }
  __device__ uint32_t full(int stage) const { return base + P::kAt_Barriers + stage * 8; }
  __device__ uint32_t empty(int stage) const { return full(kMaxStages + stage); }
  __device__ uint32_t partials_full() const { return full(2 * kMaxStages); }
  __device__ uint32_t partials_empty() const { return full(2 * kMaxStages + 1); }
};

// What the producer thread fetches of a tile.
struct Source {
  const CUtensorMap& map;
  const uint8_t* scales;
  Tile tile;

  __device__ Source(const Problem& p, const CUtensorMap& b, const uint8_t* sfb, const Tile& t) : map(b), tile(t) {
    // A tile past the end has no scales; its rows of B are zero and its sums are not stored.
    const size_t row = static_cast<size_t>(t.batch) * p.tiles_n + min(t.n / kTileN, p.tiles_n - 1);
    scales = sfb + row * p.steps * kScaleAtom;
  }
  // Says what the stage will hold, and fetches B and its scales.
  __device__ void fetch(const Shared& shared, int stage, int step) const {
    const uint32_t full = shared.full(stage);
    ptx::mbarrier_arrive_expect_tx(full, P::kStage);
    ptx::cp_async_bulk_tensor_3d(shared.b(stage), map, step * (kStep / 2), tile.n, tile.batch, full);
    ptx::cp_async_bulk(shared.scales(stage), scales + step * kScaleAtom, kScaleAtom, full);
  }
};

// One thread: fills the ring, tile after tile.
__device__ void produce(const Problem& p, const Shared& shared, const CUtensorMap& a, const CUtensorMap& b,
                        const uint8_t* sfb) {
  // A is what the grid before this one makes, and B too where its rows were padded; otherwise the first round of the
  // ring need not wait for it.
  int early = 0;
  if (p.k % 32 == 0 && p.tile < p.tiles) {
    const Source source(p, b, sfb, p.at(p.tile));
    for (; early < min(P::kStages, p.end_step - p.first_step); ++early)
      source.fetch(shared, early, p.first_step + early);
  }
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  // This CTA fetches its part of A's tile for all that share it.
  const int rows = TILE_M >> (p.peers - 1);
  const int offset = p.peer * rows;
  const auto ctas = static_cast<uint16_t>(((1 << p.peers) - 1) << (p.part * p.peers));
  Slot slot;
  for (int i = p.tile; i < p.tiles; i += p.clusters) {
    const Source source(p, b, sfb, p.at(i));
    const Tile& tile = source.tile;
    for (int step = p.first_step; step < p.end_step; ++step) {
      ptx::mbarrier_wait_parity(shared.empty(slot.stage), slot.parity ^ 1);
      if (--early < 0) source.fetch(shared, slot.stage, step);
      const uint32_t full = shared.full(slot.stage);
      const uint32_t to = shared.a(slot.stage) + offset * (kStep * 2);
      if (p.peers == 1)
        ptx::cp_async_bulk_tensor_3d(to, a, step * kStep, tile.m, tile.batch, full);
      else
        ptx::cp_async_bulk_tensor_3d_multicast(to, a, step * kStep, tile.m + offset, tile.batch, full, ctas);
      slot.advance<P::kStages>();
    }
  }
}

__device__ inline uint32_t pack(float low, float high) {
#if OUT == 0
  const __half2 v = __floats2half2_rn(low, high);
#else
  const __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
#endif
  return *reinterpret_cast<const uint32_t*>(&v);
}

struct Consumer : MainLoop<Shared, TILE_M> {
  const Problem& p;
  uint32_t round = 0;  // parity of the partial sums
  int pieces = 0;      // staged so far

  __device__ Consumer(const Problem& problem, const Shared& shared, int thread)
      : MainLoop(shared, thread, problem.peers, problem.part * problem.peers), p(problem) {}

#if SPLIT > 1
  static constexpr int kWords = P::kSlice / 2;       // of a thread's sums, for one CTA; the last may have fewer
  static constexpr int kVector = kConsumers * 128 * 16;  // bytes: four words of every thread

  // Sends every CTA of the split its rows of D, and adds what comes for this one in order of k.
  __device__ void combine() {
    const int thread = group * 128 + warp * 32 + lane;
    ptx::mbarrier_wait_parity(ring.partials_empty(), round ^ 1);
    if (thread == 0)
      ptx::mbarrier_arrive_expect_tx(ring.partials_full(),
                                     SPLIT * min(P::kSlice, TILE_M - p.part * P::kSlice) * kTileN * 4);
    const uint32_t mine = ring.base + P::kAt_Partials + thread * 16;
#pragma unroll
    for (int to = 0; to < SPLIT; ++to) {
      const uint32_t there = ptx::mapa(mine, to * p.peers + p.peer) + p.part * (kWords / 4) * kVector;
      const uint32_t barrier = ptx::mapa(ring.partials_full(), to * p.peers + p.peer);
#pragma unroll
      for (int w = 0; w < kWords && to * kWords + w < TILE_M / 2; w += 4) {
        const float* s = sums[0] + to * kWords + w;
        ptx::st_async_v4(there + w / 4 * kVector, s[0], s[1], s[2], s[3], barrier);
      }
    }
    ptx::mbarrier_wait_parity(ring.partials_full(), round);
#pragma unroll
    for (int w = 0; w < kWords; w += 4) {
      if (p.part * kWords + w >= TILE_M / 2) break;
      float4 sum = ptx::ld_shared_v4_f32(mine + w / 4 * kVector);
#pragma unroll
      for (int from = 1; from < SPLIT; ++from) {
        const float4 v = ptx::ld_shared_v4_f32(mine + (from * kWords + w) / 4 * kVector);
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
      }
      sums[0][w] = sum.x;
      sums[0][w + 1] = sum.y;
      sums[0][w + 2] = sum.z;
      sums[0][w + 3] = sum.w;
    }
    __syncwarp();
    if (lane < SPLIT) ptx::mbarrier_arrive_remote(ptx::mapa(ring.partials_empty(), lane * p.peers + p.peer));
    round ^= 1;
  }
#else
  __device__ void combine() {}
#endif

  __device__ uint32_t next_piece() {
    return ring.base + P::kAt_Staging + (group * kPieces + pieces++ % kPieces) * kPieceBytes;
  }

  // Rows `piece_row`.. of the slice, 64 columns, into staging: rows of 128 bytes, 128-byte swizzle.
  __device__ void stage_piece(uint32_t to, int i) const {
#pragma unroll
    for (int b = 0; b < kPieceRows / 8; b += 2) {
      const float* s = sums[0] + (i * kPieceRows / 8 + b) * 4;
#if OUT == 2
#pragma unroll
      for (int v = 0; v < 8; ++v) {
        const int r = 8 * (b + v / 4) + lane % 4 * 2 + v % 2;
        const int column = warp * 16 + lane / 4 + v % 4 / 2 * 8;
        const int box = column / 32 * (kPieceRows * 128);
        ptx::st_shared_f32(to + box + r * 128 + ((column % 32 / 4) ^ (r % 8)) * 16 + column % 4 * 4, s[v] * kUnscale);
      }
#else
      const int r = 8 * (b + lane / 16) + lane % 8;
      const int chunk = warp * 2 + lane / 8 % 2;
      uint32_t packed[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) packed[q] = pack(s[2 * q] * kUnscale, s[2 * q + 1] * kUnscale);
      ptx::stmatrix_x4_trans(to + r * 128 + (chunk ^ (r % 8)) * 16, packed[0], packed[1], packed[2],
                             packed[3]);
#endif
    }
  }

  // Staged rows to global memory one element at a time, where rows of D are no multiple of 16 bytes.
  __device__ void store_plain(uint32_t from, uint8_t* d, int row0, int column0, int batch) const {
    const int column = threadIdx.x % 64;
    for (int r = threadIdx.x % 128 / 64; r < kPieceRows; r += 2) {
      if (row0 + r >= p.m || column0 + column >= p.n) continue;
      const int per_row = 128 / kOutBytes;
      const int in = column % per_row * kOutBytes;
      const uint32_t v = from + column / per_row * (kPieceRows * 128) + r * 128 + ((in / 16) ^ (r % 8)) * 16 + in % 16;
      uint8_t* to = d + ((static_cast<size_t>(batch) * p.m + row0 + r) * p.n + column0 + column) * kOutBytes;
      if (kOutBytes == 4)
        *reinterpret_cast<uint32_t*>(to) = ptx::ld_shared_u32(v);
      else
        *reinterpret_cast<uint16_t*>(to) = ptx::ld_shared_u16(v);
    }
  }

  __device__ void store(const Tile& tile, const CUtensorMap& map, uint8_t* d) {
    const bool by_tma = static_cast<long long>(p.n) * kOutBytes % 16 == 0;
    const int column0 = tile.n + group * 64;
    const bool issuer = threadIdx.x % 128 == 0;
#pragma unroll
    for (int i = 0; i < P::kSlice / kPieceRows; ++i) {
      if (p.part * P::kSlice + i * kPieceRows >= TILE_M) break;
      const int row0 = tile.m + p.part * P::kSlice + i * kPieceRows;
      const uint32_t staging = next_piece();
      if (issuer) ptx::cp_async_bulk_wait_group_read<kPieces - 1>();
      ptx::barrier_sync(1 + group, 128);
      stage_piece(staging, i);
      ptx::fence_proxy_async_shared();
      ptx::barrier_sync(1 + group, 128);
      if (!by_tma)
        store_plain(staging, d, row0, column0, tile.batch);
      else if (issuer && row0 < p.m && column0 < p.n) {
#pragma unroll
        for (int box = 0; box < kOutBytes / 2; ++box)
          ptx::cp_async_bulk_tensor_3d_store(map, column0 + box * 32, row0, tile.batch,
                                             staging + box * (kPieceRows * 128));
      }
      if (issuer) ptx::cp_async_bulk_commit_group();
    }
  }
};

}  // namespace gemm

#define NAME3(m, s, o) gemm_m##m##_split##s##_##o
#define NAME2(m, s, o) NAME3(m, s, o)
#if OUT == 0
#define NAME NAME2(TILE_M, SPLIT, f16)
#elif OUT == 1
#define NAME NAME2(TILE_M, SPLIT, bf16)
#else
#define NAME NAME2(TILE_M, SPLIT, f32)
#endif

// a: fp16 [l][m][steps * 64], boxes of 64 x TILE_M / peers. b: bytes [l][n][pitch], boxes of 32 x 128. d: boxes of
// 128 bytes x kPieceRows; out: the same memory.
extern "C" __global__ void __launch_bounds__(384, 1)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap d, const uint8_t* sfb, uint8_t* out, int m, int n, int k, int l) {
  using namespace gemm;
  extern __shared__ uint8_t dynamic[];
  const Problem problem(m, n, k, l);
  const Shared shared{(ptx::shared_address(dynamic) + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) {
    for (int s = 0; s < P::kStages; ++s) {
      ptx::mbarrier_init(shared.full(s), 1);
      ptx::mbarrier_init(shared.empty(s), kConsumers * 4 * problem.peers);
    }
    ptx::mbarrier_init(shared.partials_full(), 1);
    ptx::mbarrier_init(shared.partials_empty(), kConsumers * 4 * SPLIT);
    ptx::fence_mbarrier_init();
    ptx::prefetch_tensormap(a);
    ptx::prefetch_tensormap(b);
    ptx::prefetch_tensormap(d);
  }
  ptx::barrier_cluster_arrive_relaxed();
  ptx::barrier_cluster_wait();
  if (threadIdx.x < 128) {
    ptx::setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(problem, shared, a, b, sfb);
    __syncwarp();
  } else {
    ptx::setmaxnreg_inc<232>();
    Consumer consumer(problem, shared, static_cast<int>(threadIdx.x) - 128);
    for (int i = problem.tile; i < problem.tiles; i += problem.clusters) {
      consumer.multiply(problem.first_step, problem.end_step, k);
      consumer.combine();
      consumer.store(problem.at(i), d, out);
    }
    if (threadIdx.x % 128 == 0) ptx::cp_async_bulk_wait_group_read<0>();
    __syncwarp();
  }
  // No CTA leaves while another may still write into it or signal it.
  ptx::barrier_cluster_arrive_relaxed();
  ptx::barrier_cluster_wait();
}
