// Codes of the formats that the quantisers read and write. sm_90a, which has no E2M1, compares with the midpoints.
#pragma once
#include <cstdint>

#include "ptx/arithmetic.cuh"

namespace quantise {

// The values of a bf16 code and of an E4M3 one.
__device__ inline float bf16(uint32_t code) { return __uint_as_float(code << 16); }
__device__ inline float e4m3(uint32_t code) {
  return ptx::cvt_f32_f16(static_cast<uint16_t>(ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(code))));
}

// Eight values to E2M1, to nearest even, beyond 6 and NaN to 6.
__device__ inline uint32_t e2m1(const float* v) {
#if __CUDA_ARCH__ >= 1000
  return ptx::cvt_rn_satfinite_e2m1x2_f32_x4(v);
#else
  uint32_t out = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float size = fabsf(v[i]);
    const uint32_t code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) + (size >= 3.5f) +
                          (size > 5.0f);
    out |= (v[i] != v[i] ? 7 : code | __float_as_uint(v[i]) >> 31 << 3) << 4 * i;
  }
  return out;
#endif
}

}  // namespace quantise
