// What runs before gemm: operand A as fp16 in the order of operand.cuh, and rows of B whose pitch TMA can take.
#include "operand.cuh"

// out[l][m][steps * 64]: a[l][m][k / 2] times its scales; zero from k on. A thread makes 16 bytes: two neighbouring places of
// each of a step's four blocks, in wgmma s, half h. Grid: (l * m, steps * 8 / 128), blocks of 128.
extern "C" __global__ void __launch_bounds__(128)
    gemm_decode(const uint8_t* a, const uint8_t* sfa, uint4* out, int m, int k) {
  ptx::griddepcontrol_launch_dependents();
  const int steps = (k + gemm::kStep - 1) / gemm::kStep;
  const int at = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);  // of a row's pieces
  const int s = at % 8 / 2;
  const int h = at % 2;
  const int step = at / 8;
  if (step >= steps) return;
  const size_t row = blockIdx.x;  // of all batches
  const int batch = static_cast<int>(blockIdx.x) / m;
  const int r = static_cast<int>(blockIdx.x) % m;
  const uint32_t* codes = reinterpret_cast<const uint32_t*>(a + row * (k / 2) + step * (gemm::kStep / 2)) + s / 2;
  const size_t atom = (static_cast<size_t>(batch) * ((m + 127) / 128) + r / 128) * steps + step;
  ptx::griddepcontrol_wait();
  const uint32_t scales =
      *reinterpret_cast<const uint32_t*>(sfa + atom * gemm::kScaleAtom + gemm::scale_offset(r));
  uint32_t pairs[gemm::kBlocks] = {};
#pragma unroll
  for (int c = 0; c < gemm::kBlocks; ++c)
    if (step * gemm::kBlocks + c < k / 16) {
      const uint32_t placed = s % 2 == 0 ? gemm::place_even(codes[2 * c]) : gemm::place_odd(codes[2 * c]);
      uint32_t low;
      uint32_t high;
      gemm::decode4(placed, gemm::decode_scale(scales >> (8 * c) & 0xFF), low, high);
      pairs[c] = h == 0 ? low : high;
    }
  out[row * steps * 8 + at] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
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
