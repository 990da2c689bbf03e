// SVDQuant W4A4 for Blackwell: main[m, n] = sum over k of (A * SFA)[m, k] * (B * SFB)[n, k], NVFP4; lora[m, n] = sum over r of
// down[m, r] * up[n, r], fp16 or bf16; y = (main + lora) * wcscale[n] + bias[n], or main * wcscale[n] + bias[n] + lora. m and n any, k
// a multiple of 64, the rank a multiple of 16 up to 256.
//
// A CTA makes 128 x 128 of y, or a pair 256 x 128: each of them 128 rows, from its rows of A and down and half the rows of B and
// up. Two warps, or one, fetch by TMA into two rings; one thread, of a pair in the first CTA, multiplies, main steps of 64
// elements of k with LoRA steps of 16 of the rank among them; four warps make y of the sums.
//
// Compiled with NAME a line of variants.inc.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "launch.h"
#include "nvfp4/ring.cuh"
#include "ptx/arithmetic.cuh"
#include "ptx/cluster.cuh"
#include "ptx/shared.cuh"

#define SVDQUANT_STRING_OF(x) #x
#define SVDQUANT_STRING(x) SVDQUANT_STRING_OF(x)

namespace svdquant {
#if __CUDA_ARCH__ >= 1000

constexpr Variant kV = variant(SVDQUANT_STRING(NAME));
constexpr int kCtas = kV.ctas;
constexpr bool kPair = kCtas == 2;
constexpr bool kPersistent = kV.tiles != Tiles::single;
constexpr bool kOneFetches = kV.tiles == Tiles::alone;
constexpr int kAccumulators = kV.accumulators();
constexpr int kStages = kV.stages;
constexpr int kLoraStages = kV.lora_stages;
constexpr int kLoraBytes = kV.lora_bytes();
constexpr int kColumns = 16;  // that a thread takes at a time
constexpr int kSteps = nvfp4::kTileK / nvfp4::kStep;
constexpr int kRankSteps = kRankTile / kRankStep;
constexpr uint32_t kInstruction = ptx::instruction_f16(kCtas * nvfp4::kRows, kTileN, kV.bf16);
using Ring = nvfp4::Ring<kTileN, 1, kStages, kCtas>;

struct Problem {
  nvfp4::Maps a, b;
  const CUtensorMap &down, &up;
  const uint16_t *wcscale, *bias;
  uint16_t* y;
  int m, n, k, rank;
};

// Of a tile: which 128 rows of y are the CTA's, and which columns.
struct Place {
  int x, y;
};
// The tiles that the CTA, or its pair, makes one after the other: down m, then along n.
struct Walk {
  int down, all;
  __device__ explicit Walk(const Problem& p)
      : down(nvfp4::up(p.m, kCtas * nvfp4::kRows)), all(down * nvfp4::up(p.n, kTileN)) {}
  __device__ static int first() { return static_cast<int>(blockIdx.x) / kCtas; }
  __device__ static int step() { return static_cast<int>(gridDim.x) / kCtas; }
  __device__ int count() const { return kPersistent ? (all - first() + step() - 1) / step() : 1; }
  __device__ Place at(int i) const {
    if (!kPersistent) return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y)};
    const int tile = first() + i * step();
    return {tile % down * kCtas + (kV.mistake == Mistake::rank ? 0 : Ring::rank()), tile / down};
  }
};

struct Shared {
  Ring ring;
  uint32_t lora;
  __device__ explicit Shared(uint32_t base)
      : ring{base, base + kStages * Ring::kBytes + kLoraStages * kLoraBytes}, lora(base + kStages * Ring::kBytes) {}
  __device__ uint32_t down(int i) const { return lora + i % kLoraStages * kLoraBytes; }
  __device__ uint32_t up(int i) const { return down(i) + nvfp4::kRows * kRankTile * 2; }
  __device__ uint32_t small(int i) const { return ring.barriers + (2 * kStages + i) * 8; }
  __device__ uint32_t full(int i) const { return small(i % kLoraStages); }
  __device__ uint32_t empty(int i) const { return small(kLoraStages + i % kLoraStages); }
  __device__ uint32_t done(int i) const { return small(2 * kLoraStages + i % kAccumulators * 4); }  // all sums of a tile
  __device__ uint32_t changed() const { return small(2 * kLoraStages + 1); }                        // all MMAs of the kind before
  __device__ uint32_t room(int i) const { return small(2 * kLoraStages + 2 + i % kAccumulators * 3); }  // for a tile's sums
  __device__ uint32_t tensor() const { return small(2 * kLoraStages + 3); }                             // where alloc writes
  __device__ void init() const {
    ring.init();
    for (int i = 0; i < kLoraStages; ++i) {
      ptx::mbarrier_init(full(i), 1);
      ptx::mbarrier_init(empty(i), 1);
    }
    for (int i = 0; i < kAccumulators; ++i) ptx::mbarrier_init(done(i), 1);
    ptx::mbarrier_init(changed(), 1);
    for (int i = 0; i < kAccumulators; ++i) ptx::mbarrier_init(room(i), kPersistent ? 4 * kCtas : 1);
    ptx::fence_mbarrier_init();
  }
};

// Of down or up, 64 elements of the rank from `rank` on, rows from `row` on.
__device__ void fetch_lora_box(uint32_t to, const CUtensorMap& map, int rank, int row, uint32_t full) {
  if constexpr (kPair)
    ptx::cp_async_bulk_tensor_2d_pair(to, map, rank, row, ptx::mapa(full, 0));
  else
    ptx::cp_async_bulk_tensor_2d(to, map, rank, row, full);
}

// The LoRA stages of all tiles, one after the other.
struct LoraFetcher {
  const Problem& p;
  const Shared& shared;
  const Walk walk{p};
  const int stages = nvfp4::up(p.rank, kRankTile), all = walk.count() * stages;

  __device__ void wait_for_room(int i) const {
    if (i >= kLoraStages) ptx::mbarrier_wait_parity(shared.empty(i), (i / kLoraStages + 1) & 1);
  }
  __device__ void fetch(int i) const {
    constexpr int kExpected = kV.mistake == Mistake::whole_up ? (nvfp4::kRows + kTileN) * kRankTile * 2 : kLoraBytes;
    wait_for_room(i);
    const Place at = walk.at(i / stages);
    const int rank = (kPersistent ? i % stages : i) * kRankTile;
    if (!kPair || Ring::rank() == 0) ptx::mbarrier_arrive_expect_tx(shared.full(i), kCtas * kExpected);
    fetch_lora_box(shared.down(i), p.down, rank, at.x * nvfp4::kRows, shared.full(i));
    fetch_lora_box(shared.up(i), p.up, rank, at.y * kTileN + Ring::rank() * kV.up_rows(), shared.full(i));
  }
  // Until the last stages have been given back.
  __device__ void drain() const {
#pragma unroll 1
    for (int i = all; i < all + kLoraStages; ++i) wait_for_room(i);
  }
};

__device__ void fetch_lora(const Problem& p, const Shared& shared) {
  const LoraFetcher lora{p, shared};
#pragma unroll 1
  for (int i = 0; i < lora.all; ++i) lora.fetch(i);
  lora.drain();
}

__device__ void fetch(const Problem& p, const Shared& shared) {
  const Walk walk(p);
  const LoraFetcher lora{p, shared};
  const int stages = nvfp4::up(p.k, nvfp4::kTileK), tiles = walk.count();
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    const Place at = walk.at(tile);
    if constexpr (kOneFetches) {
#pragma unroll 1
      for (int i = 0; i < lora.stages; ++i) lora.fetch(tile * lora.stages + i);
    }
#pragma unroll 1
    for (int k = 0; k < stages; ++k) {
      const int i = tile * stages + k;
      shared.ring.acquire(i);
      shared.ring.fetch_a(i, p.a, k, at.x, 0);
      shared.ring.fetch_b(i, 0, p.b, k, at.y, 0);
    }
  }
  shared.ring.drain(tiles * stages);
  if constexpr (kOneFetches) lora.drain();
}

// The thread that multiplies, of a pair for both.
struct Multiplier {
  const Problem& p;
  const Shared& shared;
  uint32_t tensor;
  int tile = 0;            // of those that the CTA makes
  bool lora_last = false;  // the kind of the latest MMA on the tile's sums
  int changes = 0;

  // Sums of the tile.
  __device__ uint32_t sums() const { return tensor + tile % kAccumulators * kV.sum_columns(); }

  // Step `s` of a stage of the tile, that is stage `i` of the ring.
  __device__ void main_step(int i, int stage, int s) {
    change(false);
    const bool accumulate = kV.mistake == Mistake::frozen ? s != 0 : stage + s != 0;
    shared.ring.multiply(i, s, sums(), tensor + kV.scale_column(), 0, accumulate);
  }
  __device__ void lora_step(int step) {
    change(true);
    const int i = tile * nvfp4::up(p.rank, kRankTile) + step / kRankSteps, s = step % kRankSteps;
    if (s == 0) ptx::mbarrier_wait_parity(shared.full(i), i / kLoraStages & 1);
    ptx::tcgen05_mma_f16<kCtas>(sums() + kV.lora_column(), ptx::matrix_at(ptx::kMatrix128b, shared.down(i) + 32 * s),
                                ptx::matrix_at(ptx::kMatrix128b, shared.up(i) + 32 * s), kInstruction,
                                kV.definition == Definition::scaled_sum || step != 0);
    if (s == kRankSteps - 1 || (step + 1) * kRankStep == p.rank) ptx::tcgen05_commit<kCtas>(shared.empty(i));
  }
  // The manual orders MMAs on one accumulator where they are of one kind: between kinds, all before must be done.
  __device__ void change(bool lora) {
    if (lora == lora_last) return;
    lora_last = lora;
    if constexpr (unordered(kV.order) || kV.definition == Definition::apart) return;
    if constexpr (kPair)
      ptx::tcgen05_commit_multicast<kCtas>(shared.changed(), 1);  // nobody else waits
    else
      ptx::tcgen05_commit<1>(shared.changed());
    ptx::mbarrier_wait_parity(shared.changed(), changes++ & 1);
    ptx::tcgen05_fence_after_thread_sync();
  }

  // Until the sums of the tile before in their place have been read; before the first of all, the phase that is over.
  __device__ void wait_for_room() const {
    if constexpr (kPersistent) {
      ptx::mbarrier_wait_parity_cluster(shared.room(tile), (tile / kAccumulators + 1) & 1);
      ptx::tcgen05_fence_after_thread_sync();
    } else {
      ptx::mbarrier_wait_parity(shared.room(0), kV.mistake == Mistake::phase ? 0 : 1);
    }
  }
  __device__ void run() {
    const int tiles = Walk(p).count(), main = p.k / nvfp4::kStep, lora = p.rank / kRankStep;
    // lora_after() without its divisions, and few branches: the tensor core waits for this thread.
    const int every = lora_every(main, lora), stages = nvfp4::up(main, kSteps);
#pragma unroll 1
    for (; tile < tiles; ++tile) {
      wait_for_room();
      lora_last = false;
      int next = 0, left = kV.order == Order::early ? 1 : every;
#pragma unroll 1
      for (int stage = 0; stage < stages; ++stage) {
        const int i = tile * stages + stage, steps = main - stage * kSteps;
        shared.ring.wait(i);
const auto one = [&](int s) {
          main_step(i, stage, s);
          if (kV.order == Order::serial || --left != 0) return;
          left = every;
          if (next < lora) lora_step(next++);
        };
        if (steps >= kSteps) {
#pragma unroll
          for (int s = 0; s < kSteps; ++s) one(s);
        } else {
#pragma unroll 1
          for (int s = 0; s < steps; ++s) one(s);
        }
        shared.ring.release(i);
      }
#pragma unroll 1
      for (; next < lora; ++next) lora_step(next);
      ptx::tcgen05_commit<kCtas>(shared.done(tile));
    }
  }
};

__device__ float value(uint16_t code) {
  if constexpr (kV.bf16) return __bfloat162float(__ushort_as_bfloat16(code));
  return __half2float(__ushort_as_half(code));
}
__device__ uint16_t code(float v) {
  if constexpr (kV.bf16) return __bfloat16_as_ushort(__float2bfloat16_rn(v));
  return __half_as_ushort(__float2half_rn(v));
}

__device__ float made(float sum, float lora, uint16_t scale, uint16_t bias) {
  const float y = ptx::fma_rn_f32(sum, value(scale), value(bias));
  return kV.definition == Definition::apart ? y + lora : y;
}
// wcscale and bias of kColumns columns that lie side by side.
struct OfColumns {
  uint4 scales[kColumns / 8], biases[kColumns / 8];
};
__device__ OfColumns of_columns(const Problem& p, int n) {
  OfColumns out;
  for (int i = 0; i < kColumns / 8; ++i) {
    out.scales[i] = reinterpret_cast<const uint4*>(p.wcscale + n)[i];
    out.biases[i] = reinterpret_cast<const uint4*>(p.bias + n)[i];
  }
  return out;
}
__device__ void store_wide(const Problem& p, size_t row, int n, const OfColumns& of, const float (&sum)[kColumns],
                           const float (&lora)[kColumns]) {
  for (int i = 0; i < kColumns; i += 8) {
    const uint4 scales = of.scales[i / 8], biases = of.biases[i / 8];
    const uint32_t s[4] = {scales.x, scales.y, scales.z, scales.w}, b[4] = {biases.x, biases.y, biases.z, biases.w};
    uint32_t y[4];
    for (int j = 0; j < 4; ++j) {
      const auto half = [&](int h) {
        const auto of = [&](uint32_t pair) { return static_cast<uint16_t>(pair >> (16 * h)); };
        return static_cast<uint32_t>(code(made(sum[i + 2 * j + h], lora[i + 2 * j + h], of(s[j]), of(b[j]))));
      };
      y[j] = half(0) | half(1) << 16;
    }
    *reinterpret_cast<uint4*>(p.y + row * p.n + n + i) = make_uint4(y[0], y[1], y[2], y[3]);
  }
}
// Of a tile, by four warps, a thread a row. The MMAs of a tile may wait for them, so what belongs to the next columns is fetched
// before it is needed.
__device__ void store(const Problem& p, const Place& at, uint32_t sums) {
  const uint32_t lanes = sums + (threadIdx.x / 32 * 32 << 16);
  const int row = at.x * nvfp4::kRows + static_cast<int>(threadIdx.x), begin = at.y * kTileN;
  const auto whole = [](const void* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; };
  const bool wide = p.n % 8 == 0 && whole(p.wcscale) && whole(p.bias) && whole(p.y);
  const int wide_columns = wide ? min(kTileN, p.n - begin) : 0;
  OfColumns next{};
  if (kColumns <= wide_columns) next = of_columns(p, begin);
  for (int column = 0; column < kTileN; column += kColumns) {
    float sum[kColumns], lora[kColumns] = {};
    ptx::tcgen05_ld_32x32b_x16(sum, lanes + column);
    if constexpr (kV.definition == Definition::apart) ptx::tcgen05_ld_32x32b_x16(lora, lanes + kV.lora_column() + column);
    const OfColumns now = next;
    if (column + 2 * kColumns <= wide_columns) next = of_columns(p, begin + column + kColumns);
    ptx::tcgen05_wait_ld();
    const int first = begin + column;
    if (row >= p.m) continue;
    if (column + kColumns <= wide_columns) {
      store_wide(p, static_cast<size_t>(row), first, now, sum, lora);
      continue;
    }
    for (int i = 0; i < kColumns && first + i < p.n; ++i)
      p.y[static_cast<size_t>(row) * p.n + first + i] = code(made(sum[i], lora[i], p.wcscale[first + i], p.bias[first + i]));
  }
}

__device__ void store_tiles(const Problem& p, const Shared& shared, uint32_t tensor) {
  const Walk walk(p);
  const int tiles = walk.count();
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    ptx::mbarrier_wait_parity(shared.done(tile), tile / kAccumulators & 1);
    ptx::tcgen05_fence_after_thread_sync();
    store(p, walk.at(tile), tensor + tile % kAccumulators * kV.sum_columns());
    if constexpr (kPersistent) {  // others' sums may take the place
      ptx::tcgen05_fence_before_thread_sync();
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive_release_cluster(ptx::mapa(shared.room(tile), 0));
    }
  }
}

__device__ void run(const Problem& p) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const Shared shared((ptx::shared_address(bytes) + 1023) & ~1023u);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) shared.init();
  if (warp == 6) {
    ptx::tcgen05_alloc<kCtas>(shared.tensor(), kV.columns());
    ptx::tcgen05_relinquish_alloc_permit<kCtas>();
  }
  __syncwarp();
  nvfp4::meet<kCtas>();
  const uint32_t tensor = ptx::ld_shared_u32(shared.tensor());
  if (warp < 4)
    store_tiles(p, shared, tensor);
  else if (threadIdx.x == 4 * 32)
    fetch(p, shared);
  else if (threadIdx.x == 5 * 32 && !kOneFetches)
    fetch_lora(p, shared);
  else if (threadIdx.x == 6 * 32 && Ring::rank() == 0)
    Multiplier{p, shared, tensor}.run();
  __syncwarp();
  nvfp4::meet<kCtas>();
  if (warp == 6) ptx::tcgen05_dealloc<kCtas>(tensor, kV.columns());
}

#endif
}  // namespace svdquant

// a, b: boxes of 256 elements of k, down and up of 64 elements of the rank, swizzled by 128 bytes, by 128 rows, but b and up of a
// pair by 64; of scales: one atom, 4 steps.
extern "C" __global__ void __launch_bounds__(svdquant::kThreads)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap sfa,
         const __grid_constant__ CUtensorMap sfb, const __grid_constant__ CUtensorMap down,
         const __grid_constant__ CUtensorMap up, const uint16_t* wcscale, const uint16_t* bias, uint16_t* y, int m, int n, int k,
         int rank) {
#if __CUDA_ARCH__ >= 1000
  svdquant::run({{a, sfa}, {b, sfb}, down, up, wcscale, bias, y, m, n, k, rank});
#endif
}
