// NVFP4 GEMM for RTX Blackwell cards: D[l, m, n] = sum over k of (A * SFA)[l, m, k] * (B * SFB)[l, n, k], by mma.sync with block
// scales.
//
// A CTA makes a tile of 128 rows and kN columns of D. One thread fetches A, B and their scales by TMA into a ring of stages of
// 256 elements of k, as much as 99 KiB of shared memory hold; four warps multiply them, 64 elements of k at a time, 32 rows each,
// and store their sums. Scales stand in the 128x4 tiling. m and n: any, what lies past them is zero or multiplied in vain and not
// stored; k: a multiple of 64.
//
// Compiled with NAME a line of variants.inc.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../ptx/copy.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/mma.cuh"
#include "../ptx/shared.cuh"
#include "launch.h"

namespace rtx {

#define RTX_WORD(name) #name
#define RTX_NAME(name) RTX_WORD(name)
constexpr Variant kV = variant(RTX_NAME(NAME));
#undef RTX_NAME
#undef RTX_WORD
constexpr int kStages = kV.stages();
constexpr int kBlocks = 2;           // of 16 rows a warp
constexpr int kColumns = kV.n / 8;   // blocks of 8 columns
constexpr int kSteps = kTileK / kStep;

// Shared memory, from a multiple of 1024 on: stages, each A, B, A's scales, B's; barriers.
struct Shared {
  uint32_t base;
  __device__ uint32_t a(int stage) const { return base + stage * kV.stage_bytes(); }
  __device__ uint32_t b(int stage) const { return a(stage) + kV.a_bytes(); }
  __device__ uint32_t sfa(int stage) const { return b(stage) + kV.b_bytes(); }
  __device__ uint32_t sfb(int stage) const { return sfa(stage) + kV.scale_bytes(); }
  __device__ uint32_t full(int stage) const { return base + kStages * kV.stage_bytes() + 8 * stage; }
  __device__ uint32_t empty(int stage) const { return full(stage) + 8 * kStages; }
};

struct Problem {
  const CUtensorMap &a, &b, &sfa, &sfb;
  void* d;
  int m, n, k;
  __device__ int stages() const { return (k + kTileK - 1) / kTileK; }
};

// The tile at column blockIdx.x, row blockIdx.y, batch blockIdx.z. A tile of 64 columns has half an atom of scales.
__device__ int first_column() { return static_cast<int>(blockIdx.x) * kV.n; }
__device__ int first_row() { return static_cast<int>(blockIdx.y) * kRows; }

__device__ void fetch(const Problem& p, const Shared& shared) {
  const int batch = static_cast<int>(blockIdx.z);
  for (int i = 0; i < p.stages(); ++i) {
    const int stage = i % kStages;
    if (i >= kStages) ptx::mbarrier_wait_parity(shared.empty(stage), (i / kStages - 1) & 1);
    const uint32_t full = shared.full(stage);
    ptx::mbarrier_arrive_expect_tx(full, kV.stage_bytes());
    ptx::cp_async_bulk_tensor_3d(shared.a(stage), p.a, i * kTileK, first_row(), batch, full);
    ptx::cp_async_bulk_tensor_3d(shared.b(stage), p.b, i * kTileK, first_column(), batch, full);
    ptx::cp_async_bulk_tensor_4d(shared.sfa(stage), p.sfa, 0, i * kSteps, static_cast<int>(blockIdx.y), batch, full);
    ptx::cp_async_bulk_tensor_4d(shared.sfb(stage), p.sfb, 0, i * kSteps, first_column() / kRows, batch, full);
  }
}

// The 16 bytes at piece `piece` of a row of 128, which the copy has exchanged within eight rows.
__device__ uint32_t place(uint32_t tile, int row, int piece) { return tile + row * 128 + ((piece ^ (row & 7)) << 4); }
// The four scales of row `row` of a step.
__device__ uint32_t scales(uint32_t atoms, int step, int row) {
  return ptx::ld_shared_u32(atoms + step * kAtom + row % 32 * 16 + row / 32 * 4);
}

using Sums = float[kBlocks][kColumns][4];

// Rows 32 warp on of the tile. A word of A's scales serves both blocks of rows, lanes 4 g and 4 g + 1 the first, those behind them
// the second; one of B's four blocks of columns, a lane of four each.
__device__ void multiply_step(const Shared& shared, int stage, int step, int warp, int lane, Sums& sums) {
  uint32_t a[kBlocks][4];
#pragma unroll
  for (int block = 0; block < kBlocks; ++block)
    ptx::ldmatrix_x4(place(shared.a(stage), warp * 32 + block * 16 + lane % 16, 2 * step + lane / 16), a[block]);
  const uint32_t scale_a =
      scales(shared.sfa(stage), step, warp * 32 + lane % 4 / 2 * 16 + lane % 2 * 8 + lane / 4);
#pragma unroll
  for (int four = 0; four < kColumns / 4; ++four) {
    const int atom_row = first_column() % kRows + four * 32 + lane % 4 * 8 + lane / 4;
    const uint32_t scale_b = scales(shared.sfb(stage), step, atom_row);
    uint32_t b[2][4];  // of two blocks of columns each, both words of the first, then of the second
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int row = four * 32 + pair * 16 + lane / 16 * 8 + lane % 8;
      ptx::ldmatrix_x4(place(shared.b(stage), row, 2 * step + lane / 8 % 2), b[pair]);
    }
    float (*const first)[4] = &sums[0][4 * four];
    float (*const second)[4] = &sums[1][4 * four];
    ptx::mma_m16n8k64_nvfp4<0, 0>(first[0], a[0], b[0][0], b[0][1], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<0, 1>(first[1], a[0], b[0][2], b[0][3], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<0, 2>(first[2], a[0], b[1][0], b[1][1], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<0, 3>(first[3], a[0], b[1][2], b[1][3], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<1, 0>(second[0], a[1], b[0][0], b[0][1], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<1, 1>(second[1], a[1], b[0][2], b[0][3], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<1, 2>(second[2], a[1], b[1][0], b[1][1], scale_a, scale_b);
    ptx::mma_m16n8k64_nvfp4<1, 3>(second[3], a[1], b[1][2], b[1][3], scale_a, scale_b);
  }
}

__device__ void multiply(const Problem& p, const Shared& shared, int warp, int lane, Sums& sums) {
  for (int i = 0; i < p.stages(); ++i) {
    const int stage = i % kStages;
    ptx::mbarrier_wait_parity(shared.full(stage), i / kStages & 1);
    const int steps = min(kSteps, p.k / kStep - i * kSteps);
    for (int step = 0; step < steps; ++step) multiply_step(shared, stage, step, warp, lane, sums);
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(shared.empty(stage));
  }
}

__device__ void put(void* d, size_t at, float value) {
  if constexpr (kV.output == Output::f16)
    static_cast<__half*>(d)[at] = __float2half_rn(value);
  else if constexpr (kV.output == Output::bf16)
    static_cast<__nv_bfloat16*>(d)[at] = __float2bfloat16_rn(value);
  else
    static_cast<float*>(d)[at] = value;
}

__device__ void store(const Problem& p, int warp, int lane, const Sums& sums) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row() + warp * 32 + block * 16 + half * 8 + lane / 4;
      if (row >= p.m) continue;
      const size_t start = (static_cast<size_t>(blockIdx.z) * p.m + row) * p.n;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int column = first_column() + c * 8 + lane % 4 * 2;
        if (column < p.n) put(p.d, start + column, sums[block][c][2 * half]);
        if (column + 1 < p.n) put(p.d, start + column + 1, sums[block][c][2 * half + 1]);
      }
    }
}

__device__ void run(const Problem& p) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const Shared shared{(ptx::shared_address(bytes) + 1023) & ~1023u};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(shared.full(i), 1);
      ptx::mbarrier_init(shared.empty(i), kMultipliers);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (warp == kMultipliers) {
    if (lane == 0) fetch(p, shared);
    return;
  }
  Sums sums = {};
  multiply(p, shared, warp, lane, sums);
  store(p, warp, lane, sums);
}

}  // namespace rtx

// a, b: boxes of 256 elements by 128 and by Variant::n rows, swizzled by 128 bytes; sfa, sfb: of four atoms. The grid: tiles of
// columns, of rows, batches.
extern "C" __global__ void __launch_bounds__(rtx::kGemmThreads)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap sfa,
         const __grid_constant__ CUtensorMap sfb, void* d, int m, int n, int k) {
#if __CUDA_ARCH__ >= 1200
  rtx::run({a, b, sfa, sfb, d, m, n, k});
#endif
}
