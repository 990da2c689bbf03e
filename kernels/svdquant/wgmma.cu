// SVDQuant W4A4 for Hopper: the problem of svdquant.cu, by wgmma on operands decoded to fp16 as in kernels/gemm. A scale's sign
// counts; k is a multiple of 64, the rank one of 16 up to 256.
//
// LoRA comes after the main sum: stages of 64 of the rank follow those of k in the same ring, `down` in A's place, while each thread
// takes its registers' worth of `up` from global memory. Where both share an accumulator, the main sum is first made as large as LoRA's.
// A CTA makes every (number of CTAs)th tile of y.
//
// Compiled with NAME a line of wgmma.inc.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gemm/ring.cuh"
#include "ptx/arithmetic.cuh"
#include "wgmma.h"

#define SVDQUANT_STRING_OF(x) #x
#define SVDQUANT_STRING(x) SVDQUANT_STRING_OF(x)

namespace svdquant {

constexpr HopperVariant kV = nvfp4::named(kHopperVariants, SVDQUANT_STRING(NAME));
constexpr bool kApart = kV.definition == Definition::apart;
using Ring = gemm::Ring<kV.tile_m, 1>;
using Consumer = gemm::MainLoop<Ring, kV.tile_m>;

// What the kernel was given.
struct Problem {
  const CUtensorMap &a, &b, &down;
  const uint8_t* sfb;
  const uint16_t *up, *wcscale, *bias;
  uint16_t* y;
  int m, n, k, rank;
  __device__ int steps() const { return k / gemm::kStep; }
  __device__ int lora_steps() const { return nvfp4::up(rank, kRankTile); }

  // work(first row of A, tile along n) for each of this CTA's tiles.
  template <class Work>
  __device__ void each_tile(Work work) const {
    const int down = nvfp4::up(m, kV.tile_m), tiles = down * nvfp4::up(n, gemm::kTileN);
    for (int t = static_cast<int>(blockIdx.x); t < tiles; t += static_cast<int>(gridDim.x)) work(t % down * kV.tile_m, t / down);
  }
};

__device__ void fetch(const Problem& p, const Ring& ring) {
  gemm::Slot slot;
  p.each_tile([&](int row, int y) {
    const uint8_t* const atoms = p.sfb + static_cast<size_t>(y) * p.steps() * gemm::kScaleAtom;
#pragma unroll 1
    for (int step = 0; step < p.steps(); ++step) {
      ring.acquire(slot, ring.kStage);
      ring.fetch_a(slot, p.a, step, row, 0);
      ring.fetch_b(slot, 0, p.b, atoms, step, y * gemm::kTileN, 0);
      slot.advance<Ring::kStages>();
    }
#pragma unroll 1
    for (int step = 0; step < p.lora_steps(); ++step) {
      ring.acquire(slot, ring.kA);
      ring.fetch_a(slot, p.down, step, row, 0);
      slot.advance<Ring::kStages>();
    }
  });
}

// Step `step` of the rank of the rows of `up` from `first` on, in the order of k itself; zero beyond n and the rank.
__device__ void load_up(const Problem& p, const Consumer& c, int first, int step, Consumer::Pairs& pairs) {
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int n = first + c.row() + i % 2 * 8, r = step * kRankTile + i / 4 * kRankStep + i / 2 % 2 * 8 + c.lane % 4 * 2;
    pairs[0][i] = n < p.n && r < p.rank ? *reinterpret_cast<const uint32_t*>(p.up + static_cast<size_t>(n) * p.rank + r) : 0;
  }
}

__device__ float value(uint16_t code) {
  if constexpr (kV.bf16) return __bfloat162float(__ushort_as_bfloat16(code));
  return __half2float(__ushort_as_half(code));
}
__device__ uint16_t code(float v) {
  if constexpr (kV.bf16) return __bfloat16_as_ushort(__float2bfloat16_rn(v));
  return __half_as_ushort(__float2half_rn(v));
}

__device__ void multiply(const Problem& p, Consumer& c) {
  p.each_tile([&](int row, int y) {
    const int first = y * gemm::kTileN;
    float scale[2], bias[2];  // of this thread's columns of y
    for (int h = 0; h < 2; ++h) {
      const int n = first + c.row() + 8 * h;
      scale[h] = n < p.n ? value(p.wcscale[n]) : 0;
      bias[h] = n < p.n ? value(p.bias[n]) : 0;
    }
    c.multiply(0, p.steps(), p.k);
    float main[kV.tile_m / 2];  // where LoRA's sums stand apart
#pragma unroll
    for (int i = 0; i < kV.tile_m / 2; ++i) {
      c.sums[0][i] *= gemm::kUnscale;
      if constexpr (kApart) {
        main[i] = c.sums[0][i];
        c.sums[0][i] = 0;
      }
    }
    c.add<kV.bf16>(0, p.lora_steps(), [&](int step, Consumer::Pairs& pairs) {
      load_up(p, c, first, step, pairs);
      ptx::mbarrier_wait_parity(c.ring.full(c.slot.stage), c.slot.parity);
    });
    gemm::each_sum(c, [&](int of_b, int of_a, int i) {
      const int n = first + of_b;
      if (row + of_a >= p.m || n >= p.n) return;
      float v = ptx::fma_rn_f32(kApart ? main[i] : c.sums[0][i], scale[i % 4 / 2], bias[i % 4 / 2]);
      if constexpr (kApart) v += c.sums[0][i];
      p.y[static_cast<size_t>(row + of_a) * p.n + n] = code(v);
    });
  });
}

}  // namespace svdquant

// a: decoded, fp16 [m][k], and down, [m][rank]: boxes of 64 x kV.tile_m, swizzled by 128 bytes; b: codes as bytes [n][k / 2], boxes of
// 32 x 128; sfb in the 128x4 tiling; up [n][rank].
extern "C" __global__ void __launch_bounds__(gemm::kThreads, 1)
    NAME(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap down,
         const uint8_t* sfb, const uint16_t* up, const uint16_t* wcscale, const uint16_t* bias, uint16_t* y, int m, int n, int k,
         int rank) {
  using namespace svdquant;
  const Problem p{a, b, down, sfb, up, wcscale, bias, y, m, n, k, rank};
  gemm::divide<kV.tile_m, 1>([&](const Ring& ring) { fetch(p, ring); }, [&](Consumer& consumer) { multiply(p, consumer); });
}
