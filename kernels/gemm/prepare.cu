// What runs before gemm: operand A as fp16 in the order of operand.cuh, and rows of B whose pitch TMA can take.
#include "operand.cuh"

// out[l][m][steps * 64]: a[l][m][k / 2] times its scales; zero from k on. A thread makes 16 bytes of each of four rows 32
// apart, whose scales lie side by side: two neighbouring places of each of a step's four blocks, in wgmma s, half h.
// Grid: (32 * ceil(m / 128), steps * 8 / 128, l), blocks of 128.
extern "C" __global__ void __launch_bounds__(128)
    gemm_decode(const uint8_t* a, const uint8_t* sfa, uint4* out, int m, int k) {
  ptx::griddepcontrol_launch_dependents();
  const int steps = (k + gemm::kStep - 1) / gemm::kStep;
  const int at = static_cast<int>(blockIdx.y * 128 + threadIdx.x);  // of a row's pieces
  const int s = at % 8 / 2;
  const int h = at % 2;
  const int step = at / 8;
  if (step >= steps) return;
  const int first = static_cast<int>(blockIdx.x) / 32 * 128 + static_cast<int>(blockIdx.x) % 32;
  const size_t atom = (static_cast<size_t>(blockIdx.z) * (gridDim.x / 32) + blockIdx.x / 32) * steps + step;
  ptx::griddepcontrol_wait();
  const uint4 scales = *reinterpret_cast<const uint4*>(sfa + atom * gemm::kScaleAtom + gemm::scale_offset(first));
  const uint32_t of_rows[4] = {scales.x, scales.y, scales.z, scales.w};
  uint32_t words[4][gemm::kBlocks] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int c = 0; c < gemm::kBlocks; ++c)
      if (first + 32 * i < m && step * gemm::kBlocks + c < k / 16) {
        const uint8_t* row = a + (static_cast<size_t>(blockIdx.z) * m + first + 32 * i) * (k / 2);
        words[i][c] = reinterpret_cast<const uint32_t*>(row + step * (gemm::kStep / 2))[2 * c + s / 2];
      }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + 32 * i >= m) break;
    uint32_t pairs[gemm::kBlocks];
#pragma unroll
    for (int c = 0; c < gemm::kBlocks; ++c) {
      const uint32_t placed = s % 2 == 0 ? gemm::place_even(words[i][c]) : gemm::place_odd(words[i][c]);
      const uint32_t scale = step * gemm::kBlocks + c < k / 16 ? of_rows[i] >> (8 * c) & 0xFF : 0;
      uint32_t low;
      uint32_t high;
      gemm::decode4(placed, gemm::decode_scale(scale), low, high);
      pairs[c] = h == 0 ? low : high;
    }
    out[(static_cast<size_t>(blockIdx.z) * m + first + 32 * i) * steps * 8 + at] =
        make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

// Rows of `bytes`, a multiple of 8, to rows of `pitch`, the rest zero. A thread moves eight bytes.
extern "C" __global__ void __launch_bounds__(128)
    gemm_pad_rows(const uint2* from, uint2* to, long long rows, int bytes, int pitch) {
  ptx::griddepcontrol_launch_dependents();
  const int words = pitch / 8;
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = at / words;
  const int word = static_cast<int>(at % words);
  if (row < rows) to[at] = word < bytes / 8 ? from[row * (bytes / 8) + word] : make_uint2(0, 0);
}
