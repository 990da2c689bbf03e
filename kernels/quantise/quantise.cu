// bf16 [m][k] to NVFP4: E2M1 codes, two a byte, low nibble first, then E4M3 scales of 16 elements in the 128x4 tiling; with the
// tensor's largest magnitude, which another kernel finds before, or calibration gave. m any, k a multiple of 16, values finite; for
// vllm, tensorrt_llm and flashinfer any.
//
// Compiled with NAME a line of variants.inc, for sm_90a and sm_100a: every operation is one that IEEE 754 or the formats fix, so that
// both give the same bits; sm_90a, which has no E2M1, compares with the midpoints. What counts on the special-function unit
// (reciprocal.cuh) is for sm_90a alone.
#include <cstdint>

#include "codes.cuh"
#include "launch.h"
#include "reciprocal.cuh"

#define QUANTISE_STRING_OF(x) #x
#define QUANTISE_STRING(x) QUANTISE_STRING_OF(x)
#define QUANTISE_JOIN_OF(a, b) a##b
#define QUANTISE_JOIN(a, b) QUANTISE_JOIN_OF(a, b)

namespace quantise {

constexpr Recipe kRecipe = recipe_of(QUANTISE_STRING(NAME));

// The scale of a group, and its values as they are rounded to E2M1.
__device__ inline uint32_t scaled(float (&v)[nvfp4::kGroup], float largest, float g) {
  const float decode = ptx::div_rn_f32(g, 2688);
  const float encode = fminf(ptx::div_rn_f32(2688, g), 3.40282347e38f);
  if constexpr (kRecipe == Recipe::fbgemm) return scaled_by_largest(v, largest, encode);
  if constexpr (kRecipe == Recipe::vllm || kRecipe == Recipe::tensorrt_llm || kRecipe == Recipe::flashinfer)
    return scaled_by_reciprocals<kRecipe>(v, largest, encode);
  float wanted = 0;
  if constexpr (kRecipe == Recipe::transformer_engine) wanted = largest * (encode * (1.0f / 6));
  if constexpr (kRecipe == Recipe::torchao)
    wanted = fminf(fmaxf(ptx::div_rn_f32(ptx::div_rn_f32(largest, 6), decode), 0.015625f), 448.0f);
  if constexpr (kRecipe == Recipe::modelopt) {
    wanted = ptx::div_rn_f32(largest, 6 * decode);
    wanted = wanted == 0 ? 1.0f : fminf(fmaxf(wanted, 0.001953125f), 448.0f);
  }
  if constexpr (kRecipe == Recipe::compressed_tensors) wanted = encode * ptx::div_rn_f32(largest, 6);
  if constexpr (kRecipe == Recipe::vllm_emulation) wanted = encode * (largest * (1.0f / 6));
  if constexpr (kRecipe == Recipe::mslk) wanted = ptx::div_rn_f32(largest, 6) * encode;
  uint32_t code = ptx::cvt_rn_satfinite_e4m3_f32(wanted);
  if (kRecipe == Recipe::compressed_tensors && code == 0) code = 0x20;  // 0.125
  const float s = e4m3(code);
  float factor = 0, divisor = 1;
  if constexpr (kRecipe == Recipe::transformer_engine)
    factor = fminf(ptx::div_rn_f32(1, s * ptx::div_rn_f32(1, encode)), 3.40282347e38f);
  if constexpr (kRecipe == Recipe::torchao) factor = ptx::div_rn_f32(ptx::div_rn_f32(1, decode), s);
  if constexpr (kRecipe == Recipe::vllm_emulation) factor = s == 0 ? 0 : ptx::div_rn_f32(encode, s);
  if constexpr (kRecipe == Recipe::mslk) factor = ptx::div_rn_f32(encode, s);
  if constexpr (kRecipe == Recipe::modelopt) divisor = s * decode;
  if constexpr (kRecipe == Recipe::compressed_tensors) divisor = ptx::div_rn_f32(s, encode);
#pragma unroll
  for (float& x : v) {
    if constexpr (kRecipe == Recipe::modelopt || kRecipe == Recipe::compressed_tensors)
      x = ptx::div_rn_f32(x, divisor);
    else
      x = x * factor;
    if (kRecipe == Recipe::modelopt && x == 0) x = 0;
  }
  return code;
}

}  // namespace quantise

// The bits of the largest magnitude, which are in its order; `largest` is 0 before.
extern "C" __global__ void __launch_bounds__(quantise::kThreads)
    QUANTISE_JOIN(NAME, _largest)(const uint16_t* x, int count, uint32_t* largest) {
  uint32_t mine = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
    mine = max(mine, (x[i] & 0x7FFFu) << 16);
  atomicMax(largest, mine);
}

// x: from a multiple of 16 bytes on. A block makes 128 rows of a group of 16 columns; scales of padding are 0.
extern "C" __global__ void __launch_bounds__(quantise::kThreads)
    NAME(const uint16_t* x, const uint32_t* largest_of_all, int m, int k, uint8_t* out) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), group = static_cast<int>(blockIdx.y);
  const int groups = k / nvfp4::kGroup;
  uint32_t scale = 0;
  if (row < m && group < groups) {
    const size_t first = static_cast<size_t>(row) * k + group * nvfp4::kGroup;
    const uint4* const from = reinterpret_cast<const uint4*>(x + first);
    float v[nvfp4::kGroup];
    for (int half = 0; half < 2; ++half) {
      const uint4 words = from[half];
      const uint32_t four[4] = {words.x, words.y, words.z, words.w};
      for (int i = 0; i < 8; ++i) v[half * 8 + i] = quantise::bf16(four[i / 2] >> i % 2 * 16 & 0xFFFF);
    }
    float largest = fabsf(v[0]);  // without the NaNs, if there are others
    for (const float value : v) largest = fmaxf(largest, fabsf(value));
    const float g = __uint_as_float(*largest_of_all);
    scale = quantise::scaled(v, largest, g == 0 ? 1 : g);
    *reinterpret_cast<uint2*>(out + first / 2) = {quantise::e2m1(v), quantise::e2m1(v + 8)};
  }
  uint8_t* const scales = out + static_cast<size_t>(m) * k / 2;
  scales[(static_cast<size_t>(row / 128) * nvfp4::up(groups, 4) + group / 4) * nvfp4::kAtom + row % 32 * 16 + row % 128 / 32 * 4 +
         group % 4] = static_cast<uint8_t>(scale);
}
