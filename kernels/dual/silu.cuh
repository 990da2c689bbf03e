// x / (1 + e^-x) in fp32 from operations that IEEE 754 fixes alone, so that every machine gives the same bits.
#pragma once
#include "../ptx/arithmetic.cuh"

namespace dual {

// e^y for |y| <= 130 or NaN: y = n ln 2 + r with ln 2 in two parts, e^r by its series up to r^7, times 2^n in two factors.
__device__ inline float exp_f32(float y) {
  const int n = __float2int_rn(y * 1.44269502f);
  const float whole = static_cast<float>(n);
  const float r = ptx::fma_rn_f32(whole, -1.42860677e-6f, ptx::fma_rn_f32(whole, -0.693145752f, y));
  float sum = 1.0f / 5040;
  for (const float next : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) sum = ptx::fma_rn_f32(sum, r, next);
  const int half = n >> 1;
  return sum * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}

// Of minus infinity NaN, as the quotient says; from -88.8 downwards -0.
__device__ inline float silu(float x) {
  // Beyond 130 e^-x is infinite, or nothing beside 1. A NaN passes both comparisons.
  float y = -x;
  y = y > 130 ? 130 : y;
  y = y < -130 ? -130 : y;
  return ptx::div_rn_f32(x, 1.0f + exp_f32(y));
}

}  // namespace dual
