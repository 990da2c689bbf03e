// E2M1 elements with their E4M3 scales as fp16 operands of wgmma.
//
// The sixteen elements of a scale block are decoded to a * scale * 2^-7, exact in fp16 (six significant bits, at most 21,
// and a multiple of 2^-17). Bit placement gives a * 2^-14 and scale * 2^7 still fits, so that one product does both.
//
// Order of k. A step is 64 elements, four scale blocks, four wgmma of k = 16. Thread t of a warp owns block t % 4 of its
// rows, so that one 8-byte load and one scale serve all four wgmma, and a word of eight elements is decoded in pairs
// (j, j + 4), which lie 16 bits apart. Both operands must then hold k in the same order:
//   place 16 s + 2 c + 8 h + o of a step holds element 16 c + 8 (s / 2) + 2 (s % 2) + h + 4 o
//   (s: wgmma, c: block, h: upper half of the wgmma's k, o: odd).
#pragma once
#include <cstdint>

#include "../ptx.cuh"

namespace gemm {

constexpr int kStep = 64;            // elements of k
constexpr int kBlocks = kStep / 16;  // scale blocks
constexpr float kUnscale = 16384.0f;  // of the product of two operands

// Eight E2M1 codes as pairs (j, j + 4) for j = 0..3, times `scale` (fp16 pair, already times 2^7).
__device__ inline void decode8(uint32_t word, uint32_t scale, uint32_t* pairs) {
  const uint32_t sign[4] = {word << 12, word << 8, word << 4, word};
  const uint32_t magnitude[4] = {word << 9, word << 5, word << 1, word >> 3};
#pragma unroll
  for (int j = 0; j < 4; ++j)
    pairs[j] = ptx::mul_rn_f16x2((sign[j] & 0x80008000u) | (magnitude[j] & 0x0E000E00u), scale);
}

// A scale block: pairs[2 s + h] is what wgmma s takes at places 2 c + 8 h and the next.
__device__ inline void decode16(uint2 codes, uint8_t scale, uint32_t* pairs) {
  const uint32_t both = ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(scale * 0x0101u));
  const uint32_t scaled = ptx::mul_rn_f16x2(both, 0x58005800u);  // 2^7
  decode8(codes.x, scaled, pairs);
  decode8(codes.y, scaled, pairs + 4);
}

// Scales in the 128x4 tiling: [batch][row / 128][group / 4][row % 32][row % 128 / 32][group % 4].
constexpr int kScaleAtom = 512;  // bytes: 128 rows, a step of k
__device__ inline int scale_offset(int row) { return row % 32 * 16 + row % 128 / 32 * 4; }

}  // namespace gemm
