// A warp's matrix product of registers (PTX ISA 9.0, 9.7.14.5 "mma.sync"), and the load that brings its operands.
#pragma once
#include <cstdint>

namespace ptx {

// d += a * b, sums in fp32, elements in fp16 or bf16, two a word, the first in its low half. With g = lane / 4, t = lane % 4: a[i]
// holds row g + 8 * (i % 2), columns 2 * t + 8 * (i / 2) on; b[i] rows 2 * t + 8 * i on of column g; d[i] row g + 8 * (i / 2),
// column 2 * t + i % 2.
#define MMA_M16N8K16(type)                                                                                              \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
               "{%0, %1, %2, %3};"                                                                                      \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                          \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
template <bool bf16>
__device__ inline void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  if constexpr (bf16)
    MMA_M16N8K16("bf16");
  else
    MMA_M16N8K16("f16");
}
#undef MMA_M16N8K16

// 9.7.14.5.15 "ldmatrix": four matrices of 8 rows of 16 bytes; lanes 8 i to 8 i + 7 give the rows of the i-th. Of each, lane
// 4 g + t gets the t-th word of row g.
__device__ inline void ldmatrix_x4(uint32_t row, uint32_t (&d)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(row)
               : "memory");
}

#if __CUDA_ARCH__ >= 1200
// 9.7.14.3 "block scaling": d += (a * scales) * (b * scales) of E2M1, 64 of k, eight a word, with a UE4M3 scale for each 16. a[i]
// holds row g + 8 * (i % 2), columns 8 * t + 32 * (i / 2) on; b[i] rows 8 * t + 32 * i on of column g; d as above. The four
// scales of row g are scale_a of lane 4 g + 2 thread_a, those of row g + 8 of the lane behind it; of column g, scale_b of lane
// 4 g + thread_b.
template <int thread_a, int thread_b>
__device__ inline void mma_m16n8k64_nvfp4(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t scale_a,
                                          uint32_t scale_b) {
  asm volatile(
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, %11}, %12, {0, %13};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(scale_a), "n"(thread_a), "r"(scale_b), "n"(thread_b));
}
#endif

}  // namespace ptx
