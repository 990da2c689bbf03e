// E2M1 elements with their E4M3 scales as fp16 operands of wgmma.
//
// A code's bits placed in a byte (sign on top, exponent and fraction at bits 4..2) are an E4M3 number, 2^-6 times as large,
// subnormal where E2M1's is; the hardware converts two such bytes to fp16. Times its scale that is exact: six significant
// bits, at most 42, and a multiple of 2^-16.
//
// Order of k. A step is 64 elements, four scale blocks, four wgmma of k = 16. Thread t of a warp owns block t % 4 of its
// rows, so that one 8-byte load and one scale serve all four wgmma, and a word of eight elements falls into pairs of
// neighbours among its even and its odd elements. Both operands must then hold k in the same order:
//   place 16 s + 2 c + 8 h + o of a step holds element 16 c + 8 (s / 2) + s % 2 + 4 h + 2 o
//   (s: wgmma, c: block, h: upper half of the wgmma's k, o: odd).
#pragma once
#include <cstdint>

#include "../ptx.cuh"
#include "launch.h"

namespace gemm {

constexpr int kBlocks = kStep / 16;  // scale blocks
constexpr float kUnscale = 4096.0f;  // of the product of two operands

// The placed bytes of a word's even elements and of its odd ones.
__device__ inline uint32_t place_even(uint32_t word) { return (word << 4 & 0x80808080u) | (word << 2 & 0x1C1C1C1Cu); }
__device__ inline uint32_t place_odd(uint32_t word) { return (word & 0x80808080u) | (word >> 2 & 0x1C1C1C1Cu); }
// Four of them as two pairs of fp16, times the scale.
__device__ inline void decode4(uint32_t placed, uint32_t scale, uint32_t& low, uint32_t& high) {
  ptx::cvt_rn_f16x2_e4m3x2_x2(placed, low, high);
  low = ptx::mul_rn_f16x2(low, scale);
  high = ptx::mul_rn_f16x2(high, scale);
}
// A scale as a pair of fp16.
__device__ inline uint32_t decode_scale(uint32_t scale) {
  return ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(__byte_perm(scale, 0, 0)));
}

// A scale block: pairs[2 s + h] is what wgmma s takes at places 2 c + 8 h and the next.
__device__ inline void decode16(uint2 codes, uint32_t scale, uint32_t* pairs) {
  const uint32_t both = decode_scale(scale);
  const uint32_t placed[4] = {place_even(codes.x), place_odd(codes.x), place_even(codes.y), place_odd(codes.y)};
#pragma unroll
  for (int s = 0; s < 4; ++s) decode4(placed[s], both, pairs[2 * s], pairs[2 * s + 1]);
}

// Scales in the 128x4 tiling: [batch][row / 128][group / 4][row % 32][row % 128 / 32][group % 4].
constexpr int kScaleAtom = 512;  // bytes: 128 rows, a step of k
__device__ inline int scale_offset(int row) { return row % 32 * 16 + row % 128 / 32 * 4; }

}  // namespace gemm
