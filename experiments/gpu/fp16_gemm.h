// A product of fp16 matrices, by its extents.
#pragma once

namespace bitwell::gpu {

// d[l][m][n] fp16 = a[l][m][k] fp16 times b[l][n][k] fp16 transposed, fp32 sums.
struct Fp16Gemm {
  int m, n, k, l;
};

}  // namespace bitwell::gpu
