// The activation side of SVDQuant W4A4: x / smooth as NVFP4, and down = x * L1 for LoRA. x [m][k], smooth [k] and L1 [rank][k] of
// fp16 or bf16 (BF16), finite, smooth not 0; down [m][rank] in their format; m any, k a multiple of 16, the rank a multiple of 16 up
// to 256. One level of scales: that of 16 elements is a sixth of their largest magnitude as E4M3, and they are divided by it.
//
// A CTA has 16 rows. Of 256 columns at a time its threads quantise a group of 16 each, and its warps multiply them by 32 columns of
// L1 each, 16 elements of k an MMA in order, sums in fp32.
//
// Compiled with NAME and BF16, for sm_90a and sm_100a: the same bits on both.
#include <cuda_bf16.h>

#include "activation.h"
#include "codes.cuh"
#include "ptx/mma.cuh"

namespace quantise {

constexpr bool kBf16 = BF16;
constexpr int kWarpColumns = 32;

struct Activation {
  const uint16_t *x, *smooth, *lora;
  uint8_t *codes, *scales;
  uint16_t* down;
  int m, k, rank;
};

__device__ float value(uint32_t code) { return kBf16 ? bf16(code) : ptx::cvt_f32_f16(static_cast<uint16_t>(code)); }
__device__ uint32_t code(float v) {
  return kBf16 ? __bfloat16_as_ushort(__float2bfloat16_rn(v)) : ptx::cvt_rn_f16_f32(v);
}

// 16 values from a multiple of 32 bytes on.
__device__ void load(float (&v)[nvfp4::kGroup], const uint16_t* from) {
  const uint4* const halves = reinterpret_cast<const uint4*>(from);
  for (int half = 0; half < 2; ++half) {
    const uint4 words = halves[half];
    const uint32_t four[4] = {words.x, words.y, words.z, words.w};
    for (int i = 0; i < 8; ++i) v[half * 8 + i] = value(four[i / 2] >> i % 2 * 16 & 0xFFFF);
  }
}

// The codes of a group of x / smooth. Returns their scale.
__device__ uint32_t quantise_group(const Activation& p, int row, int group) {
  const size_t first = static_cast<size_t>(row) * p.k + group * nvfp4::kGroup;
  float v[nvfp4::kGroup], smooth[nvfp4::kGroup], largest = 0;
  load(v, p.x + first);
  load(smooth, p.smooth + group * nvfp4::kGroup);
#pragma unroll
  for (int i = 0; i < nvfp4::kGroup; ++i) {
    v[i] = ptx::div_rn_f32(v[i], smooth[i]);
    largest = fmaxf(largest, fabsf(v[i]));
  }
  const uint32_t scale = ptx::cvt_rn_satfinite_e4m3_f32(ptx::div_rn_f32(largest, 6));
#pragma unroll
  for (float& x : v) x = scale == 0 ? 0 : ptx::div_rn_f32(x, e4m3(scale));
  *reinterpret_cast<uint2*>(p.codes + first / 2) = {e2m1(v), e2m1(v + 8)};
  return scale;
}

// Of the group, which may be of the scales' padding.
__device__ void quantise(const Activation& p, int row, int group) {
  const int groups = p.k / nvfp4::kGroup, atoms = nvfp4::up(groups, 4);
  if (group >= atoms * 4) return;
  const uint32_t scale = row < p.m && group < groups ? quantise_group(p, row, group) : 0;
  p.scales[(static_cast<size_t>(row / 128) * atoms + group / 4) * nvfp4::kAtom + row % 32 * 16 + row % 128 / 32 * 4 + group % 4] =
      static_cast<uint8_t>(scale);
}

// A warp's part of down: 16 rows from `row` on, columns of the rank from `column` on; of the thread rows g and g + 8, elements
// 2 * t on of each 8.
struct Product {
  const Activation& p;
  int row, column, g, t;
  float sums[kWarpColumns / 8][4] = {};

  __device__ Product(const Activation& problem, int first)
      : p(problem),
        row(first),
        column(static_cast<int>(threadIdx.x) / 32 * kWarpColumns),
        g(static_cast<int>(threadIdx.x) % 32 / 4),
        t(static_cast<int>(threadIdx.x) % 4) {}

  __device__ static uint32_t word(const uint16_t* from) { return *reinterpret_cast<const uint32_t*>(from); }
  // 16 elements from `at` on.
  __device__ void step(int at) {
    uint32_t a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int of = row + g + i % 2 * 8;
      a[i] = of < p.m ? word(p.x + static_cast<size_t>(of) * p.k + at + 2 * t + i / 2 * 8) : 0;
    }
#pragma unroll
    for (int tile = 0; tile < kWarpColumns / 8; ++tile) {
      if (column + tile * 8 >= p.rank) continue;
      const uint16_t* const from = p.lora + static_cast<size_t>(column + tile * 8 + g) * p.k + at + 2 * t;
      const uint32_t b[2] = {word(from), word(from + 8)};
      ptx::mma_m16n8k16<kBf16>(sums[tile], a, b);
    }
  }
  __device__ void store() const {
#pragma unroll
    for (int tile = 0; tile < kWarpColumns / 8; ++tile)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int of = row + g + half * 8, first = column + tile * 8 + 2 * t;
        if (of >= p.m || first >= p.rank) continue;
        *reinterpret_cast<uint32_t*>(p.down + static_cast<size_t>(of) * p.rank + first) =
            code(sums[tile][2 * half]) | code(sums[tile][2 * half + 1]) << 16;
      }
  }
};

}  // namespace quantise

// x, smooth and lora: from a multiple of 16 bytes on; codes of 8, down of 4.
extern "C" __global__ void __launch_bounds__(quantise::kActivationThreads)
    NAME(const uint16_t* x, const uint16_t* smooth, const uint16_t* lora, uint8_t* codes, uint8_t* scales, uint16_t* down, int m,
         int k, int rank) {
  using namespace quantise;
  const Activation p{x, smooth, lora, codes, scales, down, m, k, rank};
  const int row = static_cast<int>(blockIdx.x) * kActivationRows;
  Product product(p, row);
#pragma unroll 1
  for (int from = 0; from < k; from += kActivationStage) {
    quantise::quantise(p, row + static_cast<int>(threadIdx.x) % kActivationRows,
                       from / nvfp4::kGroup + static_cast<int>(threadIdx.x) / kActivationRows);
    if (row >= m || product.column >= rank) continue;
#pragma unroll 1
    for (int at = from; at < min(from + kActivationStage, k); at += 16) product.step(at);
  }
  product.store();
}
