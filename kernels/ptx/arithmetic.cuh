// Arithmetic and conversions. A packed pair of fp16 is a uint32_t, element 0 in the low half.
#pragma once
#include <cstdint>

namespace ptx {

// PTX ISA 9.7.4.3 "Half Precision Floating Point Instructions: mul"
__device__ inline uint32_t mul_rn_f16x2(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

// 9.7.4.1 "add"
__device__ inline uint32_t add_rn_f16x2(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

// 9.7.4.4 "fma"
__device__ inline uint32_t fma_rn_f16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// 9.7.9.21 "cvt": two E4M3 codes, low byte first, to two fp16; exact, NaN to 0x7FFF
__device__ inline uint32_t cvt_rn_f16x2_e4m3x2(uint16_t pair) {
  uint32_t d;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(d) : "h"(pair));
  return d;
}

// The same of a word of four codes.
__device__ inline void cvt_rn_f16x2_e4m3x2_x2(uint32_t word, uint32_t& low, uint32_t& high) {
  asm("{\n\t.reg .b16 low, high;\n\t"
      "mov.b32 {low, high}, %2;\n\t"
      "cvt.rn.f16x2.e4m3x2 %0, low;\n\t"
      "cvt.rn.f16x2.e4m3x2 %1, high;\n\t}"
      : "=r"(low), "=r"(high)
      : "r"(word));
}

// The four byte pairs of a word of eight E2M1 codes, each as two fp16; exact, -0 kept.
// sm_100a has the instruction (cvt, PTX ISA 8.6). sm_90a places the bits: sign to bit 15, exponent and fraction to bits
// 11..9, which is the value times 2^-14 (an fp16 subnormal where E2M1's is one), and multiplies by 2^14.
__device__ inline void cvt_rn_f16x2_e2m1x2_x4(uint32_t word, uint32_t (&d)[4]) {
#if __CUDA_ARCH__ >= 1000
  asm("{\n\t.reg .b8 b0, b1, b2, b3;\n\t"
      "mov.b32 {b0, b1, b2, b3}, %4;\n\t"
      "cvt.rn.f16x2.e2m1x2 %0, b0;\n\t"
      "cvt.rn.f16x2.e2m1x2 %1, b1;\n\t"
      "cvt.rn.f16x2.e2m1x2 %2, b2;\n\t"
      "cvt.rn.f16x2.e2m1x2 %3, b3;\n\t}"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(word));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t byte = word >> (8 * i);
    const uint32_t spread = (byte & 0xFu) | ((byte & 0xF0u) << 12);
    const uint32_t placed = ((spread & 0x00080008u) << 12) | ((spread & 0x00070007u) << 9);
    d[i] = mul_rn_f16x2(placed, 0x74007400u);
  }
#endif
}

// 9.7.9.21 "cvt"
__device__ inline float cvt_f32_f16(uint16_t h) {
  float d;
  asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(h));
  return d;
}
__device__ inline uint16_t cvt_rn_f16_f32(float f) {
  uint16_t d;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(d) : "f"(f));
  return d;
}

// 9.7.3 "fma", 9.7.4.1 "add", 9.7.4.3 "mul", 9.7.4.4 "fma"
__device__ inline float fma_rn_f32(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}
__device__ inline uint16_t add_rn_f16(uint16_t a, uint16_t b) {
  uint16_t d;
  asm("add.rn.f16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));
  return d;
}
__device__ inline uint16_t mul_rn_f16(uint16_t a, uint16_t b) {
  uint16_t d;
  asm("mul.rn.f16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));
  return d;
}
__device__ inline uint16_t fma_rn_f16(uint16_t a, uint16_t b, uint16_t c) {
  uint16_t d;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(b), "h"(c));
  return d;
}

// 9.7.3 "max", "div": NaN if either is; to nearest even
__device__ inline float max_nan_f32(float a, float b) {
  float d;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ inline float div_rn_f32(float a, float b) {
  float d;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}

// 9.7.3 "mul", a subnormal operand or product as zero; "rcp.approx.ftz" and "div.full", within 1 and 2 units in the last place of
// the quotient: which, only a GPU can say
__device__ inline float mul_rn_ftz_f32(float a, float b) {
  float d;
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
__device__ inline float rcp_approx_ftz_f32(float a) {
  float d;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}
__device__ inline float div_full_f32(float a, float b) {
  float d;
  asm("div.full.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}

#if __CUDA_ARCH__ >= 890
// 9.7.9.21 "cvt": to an E4M3 code; beyond 448 to 448, NaN to 0x7F
__device__ inline uint32_t cvt_rn_satfinite_e4m3_f32(float f) {
  uint16_t d;
  asm("{\n\t.reg .f32 zero;\n\tmov.f32 zero, 0f00000000;\n\tcvt.rn.satfinite.e4m3x2.f32 %0, zero, %1;\n\t}" : "=h"(d) : "f"(f));
  return d;
}
#endif
#if __CUDA_ARCH__ >= 1000
// To eight E2M1 codes, v[0] in the lowest bits; beyond 6 and NaN to 6
__device__ inline uint32_t cvt_rn_satfinite_e2m1x2_f32_x4(const float* v) {
  uint32_t d;
  asm("{\n\t.reg .b8 b0, b1, b2, b3;\n\t"
      "cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1;\n\t"
      "cvt.rn.satfinite.e2m1x2.f32 b1, %4, %3;\n\t"
      "cvt.rn.satfinite.e2m1x2.f32 b2, %6, %5;\n\t"
      "cvt.rn.satfinite.e2m1x2.f32 b3, %8, %7;\n\t"
      "mov.b32 %0, {b0, b1, b2, b3};\n\t}"
      : "=r"(d)
      : "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]), "f"(v[4]), "f"(v[5]), "f"(v[6]), "f"(v[7]));
  return d;
}
#endif

// 9.7.9.7 "prmt": byte i of the result is the byte of (high, low) that nibble i of `selector` numbers; a nibble's top bit asks for
// eight copies of that byte's sign instead
__device__ inline uint32_t prmt(uint32_t low, uint32_t high, uint32_t selector) {
  uint32_t d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(low), "r"(high), "r"(selector));
  return d;
}

// 9.7.1.23 "dp4a": c plus the sum of four products of signed bytes
__device__ inline int dp4a_s32(uint32_t a, uint32_t b, int c) {
  int d;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

}  // namespace ptx
