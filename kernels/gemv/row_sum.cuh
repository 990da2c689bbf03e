// The sum of a row's 32 elements that a lane of `streamed` multiplies by b, and sums over a warp.
//
// Twice an E2M1 number is a small integer: prmt looks four codes of A up at once, the positive ones in one word and the
// negative ones in another, and dp4a adds their products with b and -b, exactly. The sums are added onto the bits of
// 1.5 * 2^23, which makes them fp32 numbers; fp32 from there on.
#pragma once
#include <cstdint>

#include "../ptx.cuh"

namespace gemv {

// The lane's value, in a register: ptxas would rather compute a cheap one again at every use.
__device__ inline uint32_t held(uint32_t v) { return __shfl_sync(0xFFFFFFFFu, v, threadIdx.x); }

constexpr uint32_t kSigns = 0x88888888u;
constexpr uint32_t kOne = 0x4B400000u;  // 1.5 * 2^23, whose bits count integers

// Twice the magnitudes that E2M1 codes 0 to 7 stand for, a byte each.
struct Magnitudes {
  uint32_t low, high;

  __device__ Magnitudes() : low(held(0x03020100u)), high(held(0x0C080604u)) {}
  // Of the four codes in the low half of a word: those of positive codes, others 0.
  __device__ uint32_t positive(uint32_t codes) const { return ptx::prmt(low, high, codes); }
};

// A lane's 32 elements of b, doubled, and negated; and their two scales as fp16, 2^-6 times as large, so that a product of two
// scales is a multiple of 2^-24 and below 2^12: exact.
struct Kept {
  uint32_t plus[8], minus[8];
  uint32_t scales;

  __device__ Kept(const uint4& codes, uint16_t scale_codes, const Magnitudes& of) {
    const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uint32_t half = words[i / 2] >> (16 * (i % 2));
      const uint32_t positive = of.positive(half);
      const uint32_t negative = of.positive(half ^ kSigns);
      plus[i] = __vsub4(positive, negative);
      minus[i] = __vsub4(negative, positive);
    }
    scales = ptx::mul_rn_f16x2(ptx::cvt_rn_f16x2_e4m3x2(scale_codes), 0x24002400u);
  }
};

// A lane's sum of one row, 2^-4 times as large: two groups of 16, each exact before its scale.
__device__ inline float row_sum(const uint4& codes, uint16_t scale_codes, const Kept& b, const Magnitudes& of,
                                uint32_t one) {
  const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
  const uint32_t scales = ptx::mul_rn_f16x2(ptx::cvt_rn_f16x2_e4m3x2(scale_codes), b.scales);
  float total = 0.0f;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    int sum = static_cast<int>(one);
#pragma unroll
    for (int i = 2 * g; i < 2 * g + 2; ++i) {
      const uint32_t upper = words[i] >> 16;
      sum = ptx::dp4a_s32(of.positive(words[i]), b.plus[2 * i], sum);
      sum = ptx::dp4a_s32(of.positive(upper), b.plus[2 * i + 1], sum);
      sum = ptx::dp4a_s32(of.positive(words[i] ^ kSigns), b.minus[2 * i], sum);
      sum = ptx::dp4a_s32(of.positive(upper ^ kSigns), b.minus[2 * i + 1], sum);
    }
    const float scale = ptx::cvt_f32_f16(static_cast<uint16_t>(scales >> (16 * g)));
    total = ptx::fma_rn_f32(__int_as_float(sum) - __int_as_float(kOne), scale, total);
  }
  return total;
}

// Four values' sums over the warp, by lane ^ 16, 8, 4, 2, 1; lane 8 * i holds value i's.
__device__ inline float warp_sums(const float (&v)[4], uint32_t lane) {
  const bool upper = (lane & 16) != 0;
  float two[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float give = upper ? v[i] : v[i + 2];
    const float keep = upper ? v[i + 2] : v[i];
    two[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, 16);
  }
  const bool second = (lane & 8) != 0;
  const float give = second ? two[0] : two[1];
  float one = (second ? two[1] : two[0]) + __shfl_xor_sync(0xFFFFFFFFu, give, 8);
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2) one = one + __shfl_xor_sync(0xFFFFFFFFu, one, offset);
  return one;
}

}  // namespace gemv
