// What runs before gemm: operand A as fp16 in the order of operand.cuh, and rows of B whose pitch TMA can take.
#include "decode.cuh"

// out[l][m][steps * 64], grid (32 * ceil(m / 128), steps * 8 / 128, l).
extern "C" __global__ void __launch_bounds__(128)
    gemm_decode(const uint8_t* a, const uint8_t* sfa, uint4* out, int m, int k) {
  ptx::griddepcontrol_launch_dependents();
  gemm::decode(a, sfa, out, m, k, blockIdx.z, gridDim.x);
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
