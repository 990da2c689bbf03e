// Operand A as fp16 in the order of operand.cuh, made before the kernels that multiply run.
#pragma once
#include "operand.cuh"

namespace gemm {

// out[m][steps * 64]: a[m][k / 2] times its scales; zero from k on; of batch `z`, where batches lie one after another. A thread
// makes 16 bytes of each of four rows 32 apart, whose scales lie side by side: two neighbouring places of each of a step's four
// blocks, in wgmma s, half h. Blocks of 128, `blocks` of them along x for `blocks` / 32 atoms of 128 rows, steps * 8 / 128 along y.
__device__ inline void decode(const uint8_t* a, const uint8_t* sfa, uint4* out, int m, int k, uint32_t z, uint32_t blocks) {
  const int steps = (k + kStep - 1) / kStep;
  const int at = static_cast<int>(blockIdx.y * 128 + threadIdx.x);  // of a row's pieces
  const int s = at % 8 / 2;
  const int h = at % 2;
  const int step = at / 8;
  if (step >= steps) return;
  const int first = static_cast<int>(blockIdx.x) / 32 * 128 + static_cast<int>(blockIdx.x) % 32;
  const size_t atom = (static_cast<size_t>(z) * (blocks / 32) + blockIdx.x / 32) * steps + step;
  ptx::griddepcontrol_wait();
  const uint4 scales = *reinterpret_cast<const uint4*>(sfa + atom * kScaleAtom + scale_offset(first));
  const uint32_t of_rows[4] = {scales.x, scales.y, scales.z, scales.w};
  uint32_t words[4][kBlocks] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int c = 0; c < kBlocks; ++c)
      if (first + 32 * i < m && step * kBlocks + c < k / 16) {
        const uint8_t* row = a + (static_cast<size_t>(z) * m + first + 32 * i) * (k / 2);
        words[i][c] = reinterpret_cast<const uint32_t*>(row + step * (kStep / 2))[2 * c + s / 2];
      }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + 32 * i >= m) break;
    uint32_t pairs[kBlocks];
#pragma unroll
    for (int c = 0; c < kBlocks; ++c) {
      const uint32_t placed = s % 2 == 0 ? place_even(words[i][c]) : place_odd(words[i][c]);
      const uint32_t scale = step * kBlocks + c < k / 16 ? of_rows[i] >> (8 * c) & 0xFF : 0;
      uint32_t low;
      uint32_t high;
      decode4(placed, decode_scale(scale), low, high);
      pairs[c] = h == 0 ? low : high;
    }
    out[(static_cast<size_t>(z) * m + first + 32 * i) * steps * 8 + at] =
        make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

}  // namespace gemm
