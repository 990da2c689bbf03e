// What runs before gemm: operand A as fp16 in the order of operand.cuh, and rows of B whose pitch TMA can take.
#include "operand.cuh"

// out[l][m][steps * 64]: a[l][m][k / 2] times its scales; zero from k on. A thread decodes one step of one row.
extern "C" __global__ void __launch_bounds__(128)
    gemm_decode(const uint8_t* a, const uint8_t* sfa, uint4* out, int m, int k, int l) {
  ptx::griddepcontrol_launch_dependents();
  const int steps = (k + gemm::kStep - 1) / gemm::kStep;
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = at / steps;  // of all batches
  const int step = static_cast<int>(at % steps);
  if (row >= static_cast<long long>(l) * m) return;
  const int batch = static_cast<int>(row / m);
  const int r = static_cast<int>(row % m);
  const uint2* codes = reinterpret_cast<const uint2*>(a + row * (k / 2) + step * (gemm::kStep / 2));
  const size_t atom = (static_cast<size_t>(batch) * ((m + 127) / 128) + r / 128) * steps + step;
  const uint32_t scales =
      *reinterpret_cast<const uint32_t*>(sfa + atom * gemm::kScaleAtom + gemm::scale_offset(r));
  uint32_t pairs[gemm::kBlocks][8] = {};
#pragma unroll
  for (int c = 0; c < gemm::kBlocks; ++c)
    if (step * gemm::kBlocks + c < k / 16) gemm::decode16(codes[c], static_cast<uint8_t>(scales >> (8 * c)), pairs[c]);
#pragma unroll
  for (int i = 0; i < 8; ++i) out[at * 8 + i] = make_uint4(pairs[0][i], pairs[1][i], pairs[2][i], pairs[3][i]);
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
