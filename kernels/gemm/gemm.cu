// NVFP4 GEMM for Hopper: d[l, m, n] = sum over k of (a * sfa)[l, m, k] * (b * sfb)[l, n, k].
//
// A comes decoded (gemm_decode), B as E2M1: its rows are wgmma's M, decoded by the consumers into wgmma's registers, and
// D comes out transposed. One producer thread, two consumer warpgroups of 64 rows of B. Clusters are (x, y): x CTAs with
// neighbouring tiles of n share A's tile, each fetching a part for all; y CTAs share k and add their sums in order of y.
// Persistent: a cluster takes every (number of clusters)th tile; with as many clusters as tiles it is a single wave.
//
// Compiled for TILE_M 128 or 256, SPLIT 1, 2 or 4, OUT 0 (fp16), 1 (bf16) or 2 (fp32).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "pipeline.cuh"

namespace gemm {

using P = Plan<TILE_M, SPLIT>;
constexpr int kOutBytes = OUT == 2 ? 4 : 2;
constexpr int kSlice = TILE_M / SPLIT;  // rows of D's tile that a CTA of a split finishes
// Of D, 64 columns each, in one store.
constexpr int kPieceRows = kPieceBytes / (64 * kOutBytes) < kSlice ? kPieceBytes / (64 * kOutBytes) : kSlice;

struct Tile {
  int m, n, batch;  // first row of A, first row of B
};

struct Problem {
  int m, n, k, l;
  int peers, peer;  // CTAs that share A's tile, and which of them this is
  int part;         // of k

  __device__ Problem(int m_, int n_, int k_, int l_)
      : m(m_), n(n_), k(k_), l(l_), peers(static_cast<int>(ptx::cluster_nctaid_x())),
        peer(static_cast<int>(ptx::cluster_ctaid_x())), part(static_cast<int>(ptx::cluster_ctaid_y())) {}
  __device__ int steps() const { return (k + kStep - 1) / kStep; }
  __device__ int first_step() const { return part * ((steps() + SPLIT - 1) / SPLIT); }
  __device__ int end_step() const { return min(steps(), first_step() + (steps() + SPLIT - 1) / SPLIT); }
  __device__ int tiles_m() const { return (m + TILE_M - 1) / TILE_M; }
  __device__ int tiles_n() const { return (n + kTileN - 1) / kTileN; }
  __device__ int groups_n() const { return (tiles_n() + peers - 1) / peers; }
  __device__ int tiles() const { return tiles_m() * groups_n() * l; }
  __device__ int clusters() const { return static_cast<int>(gridDim.x) / peers; }
  __device__ int first_tile() const { return static_cast<int>(blockIdx.x) / peers; }
  __device__ Tile tile(int i) const {
    const int n_group = i / tiles_m() % groups_n();
    return {i % tiles_m() * TILE_M, (n_group * peers + peer) * kTileN, i / tiles_m() / groups_n()};
  }
};

struct Shared {
  uint8_t* base;
  __device__ uint8_t* a(int stage) const { return base + P::kAt_A + stage * P::kA; }
  __device__ uint8_t* b(int stage) const { return base + P::kAt_B + stage * P::kB; }
  __device__ uint8_t* scales(int stage) const { return base + P::kAt_Scales + stage * kScaleAtom; }
  __device__ uint64_t* full(int stage) const { return reinterpret_cast<uint64_t*>(base + P::kAt_Barriers) + stage; }
  __device__ uint64_t* empty(int stage) const { return full(stage) + kMaxStages; }
  __device__ uint64_t* partials_full() const { return full(2 * kMaxStages); }
  __device__ uint64_t* partials_empty() const { return full(2 * kMaxStages + 1); }
};

// One thread: fills the ring, tile after tile.
__device__ void produce(const Problem& p, const Shared& shared, const CUtensorMap& a, const CUtensorMap& b,
                        const uint8_t* sfb) {
  const int part_rows = TILE_M / p.peers;
  uint16_t ctas = 0;
  for (int i = 0; i < p.peers; ++i) ctas |= static_cast<uint16_t>(1 << (p.part * p.peers + i));
  Slot slot;
  bool waited = false;
  for (int i = p.first_tile(); i < p.tiles(); i += p.clusters()) {
    const Tile tile = p.tile(i);
    // A tile past the end has no scales; its rows of B are zero and its sums are not stored.
    const size_t atom_row = static_cast<size_t>(tile.batch) * p.tiles_n() + min(tile.n / kTileN, p.tiles_n() - 1);
    for (int step = p.first_step(); step < p.end_step(); ++step) {
      ptx::mbarrier_wait_parity_cluster(shared.empty(slot.stage), slot.parity ^ 1);
      uint64_t* full = shared.full(slot.stage);
      ptx::mbarrier_arrive_expect_tx(full, P::kStage);
      ptx::cp_async_bulk_tensor_3d(shared.b(slot.stage), b, step * (kStep / 2), tile.n, tile.batch, full);
      ptx::cp_async_bulk(shared.scales(slot.stage), sfb + (atom_row * p.steps() + step) * kScaleAtom, kScaleAtom, full);
      if (!waited) ptx::griddepcontrol_wait();  // A is what the grid before this one made
      waited = true;
      uint8_t* to = shared.a(slot.stage) + p.peer * part_rows * (kStep * 2);
      if (p.peers == 1)
        ptx::cp_async_bulk_tensor_3d(to, a, step * kStep, tile.m, tile.batch, full);
      else
        ptx::cp_async_bulk_tensor_3d_multicast(to, a, step * kStep, tile.m + p.peer * part_rows, tile.batch, full, ctas);
      slot.advance<P::kStages>();
    }
  }
}

// The consumer's part of a stage, decoded: pairs[4 s + i] is register i of wgmma s.
__device__ inline void decode_stage(const Shared& shared, int stage, int row, int block, bool in_k, uint32_t* pairs) {
  uint32_t rows[2][8];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int r = row + 8 * half;
    const uint2 codes = *reinterpret_cast<const uint2*>(shared.b(stage) + r * (kStep / 2) + block * 8);
    const uint8_t scale = shared.scales(stage)[scale_offset(r) + block];
    decode16(codes, in_k ? scale : uint8_t{0}, rows[half]);  // beyond k a scale is padding, perhaps NaN
  }
#pragma unroll
  for (int s = 0; s < 4; ++s)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      pairs[4 * s + 2 * h] = rows[0][2 * s + h];
      pairs[4 * s + 2 * h + 1] = rows[1][2 * s + h];
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

struct Consumer {
  const Problem& p;
  const Shared& shared;
  int group, warp, lane;
  float sums[TILE_M / 2];
  Slot slot;  // the next stage to read
  uint32_t round = 0;  // parity of the partial sums
  int pieces = 0;      // staged so far

  __device__ int row() const { return group * 64 + warp * 16 + lane / 4; }

  // This warp is done with the stage, in every CTA that filled it.
  __device__ void release(int stage) const {
    __syncwarp();
    if (lane < p.peers) ptx::mbarrier_arrive_cluster(shared.empty(stage), p.part * p.peers + lane);
  }

  __device__ void load(int step, uint32_t* pairs) {
    ptx::mbarrier_wait_parity_cluster(shared.full(slot.stage), slot.parity);
    decode_stage(shared, slot.stage, row(), lane % 4, step * kBlocks + lane % 4 < p.k / 16, pairs);
  }

  // Multiplies by the stage that `now` was decoded from; meanwhile decodes the next one.
  __device__ void step(int i, const uint32_t* now, uint32_t* next) {
    const int stage = slot.stage;
    const uint64_t a = ptx::wgmma_descriptor_128b(ptx::shared_address(shared.a(stage)));
    ptx::wgmma_fence();
#pragma unroll
    for (int s = 0; s < 4; ++s) ptx::wgmma_f32_f16<TILE_M>(sums, now + 4 * s, a + 2 * s);
    ptx::wgmma_commit_group();
    slot.advance<P::kStages>();
    ptx::wgmma_wait_group<1>();
    if (i > p.first_step()) release((stage == 0 ? P::kStages : stage) - 1);
    if (i + 1 < p.end_step()) load(i + 1, next);
  }

  __device__ void multiply() {
#pragma unroll
    for (float& s : sums) s = 0;
    uint32_t even[16];
    uint32_t odd[16];
    int i = p.first_step();
    if (i >= p.end_step()) return;
    load(i, even);
    while (true) {
      step(i, even, odd);
      if (++i == p.end_step()) break;
      step(i, odd, even);
      if (++i == p.end_step()) break;
    }
    ptx::wgmma_wait_group<0>();
    release((slot.stage == 0 ? P::kStages : slot.stage) - 1);
  }

#if SPLIT > 1
  static constexpr int kWords = TILE_M / 2 / SPLIT;        // of a thread's sums, for one CTA
  static constexpr int kVectors = kConsumers * 128;        // threads, one float4 each

  // One thread a CTA of the split, once this warpgroup has done its part.
  __device__ void signal_parts(uint64_t* barrier) const {
    ptx::barrier_sync(1 + group, 128);
    if (threadIdx.x % 128 < SPLIT) ptx::mbarrier_arrive_cluster(barrier, threadIdx.x % 128 * p.peers + p.peer);
  }

  // Sends every CTA of the split its rows of D, and adds what comes for this one in order of k.
  __device__ void combine() {
    const int thread = static_cast<int>(threadIdx.x) - 128;
    ptx::mbarrier_wait_parity_cluster(shared.partials_empty(), round ^ 1);
    const uint32_t mine = ptx::shared_address(shared.base + P::kAt_Partials) + thread * 16;
#pragma unroll
    for (int to = 0; to < SPLIT; ++to) {
      const uint32_t there = ptx::mapa(mine, to * p.peers + p.peer) + p.part * (kWords / 4) * kVectors * 16;
#pragma unroll
      for (int w = 0; w < kWords; w += 4) {
        const float* s = sums + to * kWords + w;
        ptx::st_shared_cluster_v4(there + w / 4 * kVectors * 16, s[0], s[1], s[2], s[3]);
      }
    }
    signal_parts(shared.partials_full());
    ptx::mbarrier_wait_parity_cluster(shared.partials_full(), round);
    const float4* parts = reinterpret_cast<const float4*>(shared.base + P::kAt_Partials) + thread;
#pragma unroll
    for (int w = 0; w < kWords; w += 4) {
      float4 sum = parts[w / 4 * kVectors];
#pragma unroll
      for (int from = 1; from < SPLIT; ++from) {
        const float4 v = parts[(from * kWords + w) / 4 * kVectors];
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
      }
      sums[w] = sum.x;
      sums[w + 1] = sum.y;
      sums[w + 2] = sum.z;
      sums[w + 3] = sum.w;
    }
    signal_parts(shared.partials_empty());
    round ^= 1;
  }
#else
  __device__ void combine() {}
#endif

  __device__ uint8_t* next_piece() {
    return shared.base + P::kAt_Staging + (group * kPieces + pieces++ % kPieces) * kPieceBytes;
  }

  // Rows `piece_row`.. of the slice, 64 columns, into staging: rows of 128 bytes, 128-byte swizzle.
  __device__ void stage_piece(uint8_t* to, int i) const {
#pragma unroll
    for (int b = 0; b < kPieceRows / 8; b += 2) {
      const float* s = sums + (i * kPieceRows / 8 + b) * 4;
#if OUT == 2
#pragma unroll
      for (int v = 0; v < 8; ++v) {
        const int r = 8 * (b + v / 4) + lane % 4 * 2 + v % 2;
        const int column = warp * 16 + lane / 4 + v % 4 / 2 * 8;
        const int box = column / 32 * (kPieceRows * 128);
        *reinterpret_cast<float*>(to + box + r * 128 + ((column % 32 / 4) ^ (r % 8)) * 16 + column % 4 * 4) =
            s[v] * kUnscale;
      }
#else
      const int r = 8 * (b + lane / 16) + lane % 8;
      const int chunk = warp * 2 + lane / 8 % 2;
      uint32_t packed[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) packed[q] = pack(s[2 * q] * kUnscale, s[2 * q + 1] * kUnscale);
      ptx::stmatrix_x4_trans(ptx::shared_address(to + r * 128 + (chunk ^ (r % 8)) * 16), packed[0], packed[1], packed[2],
                             packed[3]);
#endif
    }
  }

  // Staged rows to global memory one element at a time, where rows of D are no multiple of 16 bytes.
  __device__ void store_plain(const uint8_t* from, uint8_t* d, int row0, int column0, int batch) const {
    const int column = threadIdx.x % 64;
    for (int r = threadIdx.x % 128 / 64; r < kPieceRows; r += 2) {
      if (row0 + r >= p.m || column0 + column >= p.n) continue;
      const int per_row = 128 / kOutBytes;
      const int in = column % per_row * kOutBytes;
      const uint8_t* v = from + column / per_row * (kPieceRows * 128) + r * 128 + ((in / 16) ^ (r % 8)) * 16 + in % 16;
      uint8_t* to = d + ((static_cast<size_t>(batch) * p.m + row0 + r) * p.n + column0 + column) * kOutBytes;
      if (kOutBytes == 4)
        *reinterpret_cast<uint32_t*>(to) = *reinterpret_cast<const uint32_t*>(v);
      else
        *reinterpret_cast<uint16_t*>(to) = *reinterpret_cast<const uint16_t*>(v);
    }
  }

  __device__ void store(const Tile& tile, const CUtensorMap& map, uint8_t* d) {
    const bool by_tma = static_cast<long long>(p.n) * kOutBytes % 16 == 0;
    const int column0 = tile.n + group * 64;
    const bool issuer = threadIdx.x % 128 == 0;
#pragma unroll
    for (int i = 0; i < kSlice / kPieceRows; ++i) {
      const int row0 = tile.m + p.part * kSlice + i * kPieceRows;
      uint8_t* staging = next_piece();
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
  const Shared shared{dynamic + (1024 - ptx::shared_address(dynamic) % 1024) % 1024};
  if (threadIdx.x == 0) {
    for (int s = 0; s < P::kStages; ++s) {
      ptx::mbarrier_init(shared.full(s), 1);
      ptx::mbarrier_init(shared.empty(s), kConsumers * 4 * problem.peers);
    }
    ptx::mbarrier_init(shared.partials_full(), kConsumers * SPLIT);
    ptx::mbarrier_init(shared.partials_empty(), kConsumers * SPLIT);
    ptx::fence_mbarrier_init();
    ptx::prefetch_tensormap(a);
    ptx::prefetch_tensormap(b);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x < 128) {
    ptx::setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce(problem, shared, a, b, sfb);
    __syncwarp();
  } else {
    ptx::setmaxnreg_inc<232>();
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    Consumer consumer{problem, shared, group, static_cast<int>(threadIdx.x) % 128 / 32, static_cast<int>(threadIdx.x) % 32};
    for (int i = problem.first_tile(); i < problem.tiles(); i += problem.clusters()) {
      consumer.multiply();
      consumer.combine();
      consumer.store(problem.tile(i), d, out);
    }
    if (threadIdx.x % 128 == 0) ptx::cp_async_bulk_wait_group<0>();
    __syncwarp();
  }
  // No CTA leaves while another may still write into it or signal it.
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}
