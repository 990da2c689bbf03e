// NVFP4 GEMV for RTX Blackwell cards: c[l, m] = sum over k of (A * SFA)[l, m, k] * (b * SFB)[l, k], by mma.sync with block scales.
//
// A CTA makes 16 elements of c. Its four warps share k: warp w multiplies steps w, w + 4, ... of 64 elements, each by one MMA whose
// B has b as its first column and zeros beside it; their fp32 sums are added in the order of the warps. Scales stand in the 128x4
// tiling. m: any; k: a multiple of 64.
#include <cuda_fp16.h>

#include "../ptx/mma.cuh"
#include "launch.h"

namespace rtx {

// The four scales of a row at a step, of an operand of `rows` rows: in atoms of 128 rows.
__device__ uint32_t scales(const uint32_t* all, int rows, int steps, int batch, int row, int step) {
  const size_t atom = (static_cast<size_t>(batch) * ((rows + kRows - 1) / kRows) + row / kRows) * steps + step;
  return __ldg(&all[atom * (kAtom / 4) + row % 32 * 4 + row % kRows / 32]);
}

}  // namespace rtx

extern "C" __global__ void __launch_bounds__(rtx::kGemvWarps * 32)
    rtx_gemv(const uint32_t* a, const uint32_t* b, const uint32_t* sfa, const uint32_t* sfb, __half* c, int m, int k) {
#if __CUDA_ARCH__ >= 1200
  using namespace rtx;
  __shared__ float sums[kGemvWarps][kGemvRows];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int group = lane / 4, thread = lane % 4;
  const int batch = static_cast<int>(blockIdx.y);
  const int first = static_cast<int>(blockIdx.x) * kGemvRows;
  const int steps = k / kStep;
  constexpr int kWords = kStep / 8;  // of a row at a step
  // Rows past the last are the last again.
  const auto row_of = [&](int i) { return min(first + i, m - 1); };
  const auto words_of = [&](int i) { return a + (static_cast<size_t>(batch) * m + row_of(i)) * steps * kWords; };
  const uint32_t* const upper = words_of(group);
  const uint32_t* const lower = words_of(group + 8);
  const uint32_t* const vector = b + static_cast<size_t>(batch) * steps * kWords;
  const int scaled = row_of(lane % 2 * 8 + group);
  float d[4] = {};
  for (int step = warp; step < steps; step += kGemvWarps) {
    const int at = step * kWords + thread;
    const uint32_t rows[4] = {__ldg(upper + at), __ldg(lower + at), __ldg(upper + at + 4), __ldg(lower + at + 4)};
    const uint32_t b0 = group == 0 ? __ldg(vector + at) : 0;
    const uint32_t b1 = group == 0 ? __ldg(vector + at + 4) : 0;
    ptx::mma_m16n8k64_nvfp4<0, 0>(d, rows, b0, b1, scales(sfa, m, steps, batch, scaled, step),
                                  scales(sfb, 1, steps, batch, 0, step));
  }
  // The first column is that of the first thread of four.
  if (thread == 0) {
    sums[warp][group] = d[0];
    sums[warp][group + 8] = d[2];
  }
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x);
  if (i >= kGemvRows || first + i >= m) return;
  float sum = sums[0][i];
  for (int w = 1; w < kGemvWarps; ++w) sum += sums[w][i];
  c[static_cast<size_t>(batch) * m + first + i] = __float2half_rn(sum);
#endif
}
