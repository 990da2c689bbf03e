// What kernels that know NVFP4 are measured against: dequantisation to fp16, for cuBLAS to go on with.
#include "../ptx.cuh"

// out[l][rows][k] fp16, in order of k: codes[l][rows][k / 2] times scales in the 128x4 tiling. k a multiple of 64.
// A thread takes eight elements of four rows 32 apart, whose scales lie side by side. Grid: (k / 8 / 128,
// 32 * ceil(rows / 128), l), blocks of 128.
extern "C" __global__ void __launch_bounds__(128)
    dequantise(const uint32_t* codes, const uint4* scales, uint4* out, int rows, int k) {
  const int column = static_cast<int>(blockIdx.x * 128 + threadIdx.x);  // of eight elements
  const int columns = k / 8;
  if (column >= columns) return;
  const int atom_row = static_cast<int>(blockIdx.y) / 32;
  const int first = atom_row * 128 + static_cast<int>(blockIdx.y) % 32;
  const size_t atom = (static_cast<size_t>(blockIdx.z) * (gridDim.y / 32) + atom_row) * (k / 64) + column / 8;
  const uint4 four = __ldg(scales + atom * 32 + blockIdx.y % 32);
  const uint32_t row_scales[4] = {four.x, four.y, four.z, four.w};
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = first + 32 * i;
    const size_t at = (static_cast<size_t>(blockIdx.z) * rows + row) * columns + column;
    words[i] = row < rows ? __ldcs(codes + at) : 0;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = first + 32 * i;
    if (row >= rows) continue;
    const uint32_t scale = row_scales[i] >> (8 * (column % 8 / 2)) & 0xFF;
    const uint32_t both = ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(scale * 0x0101u));
    uint32_t pairs[4];
    ptx::cvt_rn_f16x2_e2m1x2_x4(words[i], pairs);
    const size_t at = (static_cast<size_t>(blockIdx.z) * rows + row) * columns + column;
    out[at] = make_uint4(ptx::mul_rn_f16x2(pairs[0], both), ptx::mul_rn_f16x2(pairs[1], both),
                         ptx::mul_rn_f16x2(pairs[2], both), ptx::mul_rn_f16x2(pairs[3], both));
  }
}
