// A warp's matrix product of registers (PTX ISA 9.0, 9.7.14.5.8 "mma.sync.m16n8k16").
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

}  // namespace ptx
