// fp16 arithmetic on host floats: fast scalar twins of arithmetic.h for round-to-nearest-even, used where
// sums are evaluated directly. NaN results are 0x7FFF.
#pragma once
#include <bit>
#include <cstdint>

namespace bitwell::number {

inline float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  const uint32_t magnitude = h & 0x7FFF;
  uint32_t bits = (magnitude << 13) + (112u << 23);
  if (magnitude < 0x400)
    bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24f);
  if (magnitude >= 0x7C00) bits = 0x7F800000 | (magnitude & 0x3FF) << 13;
  return std::bit_cast<float>(sign | bits);
}

inline uint16_t float_to_half(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7FFF;
  if (magnitude >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude >= 0x38800000)
    return static_cast<uint16_t>(sign | (magnitude - (112u << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13);
  // Subnormal: adding 0.5 puts the unit of 2^-24 at the bottom of the significand.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
}

// The fp16 nearest to v, as a float.
inline float round_to_half(float v) { return half_to_float(float_to_half(v)); }

// Operands are fp16 values. fp32 holds every product, and enough of every sum (24 >= 2 * 11 + 2), for one
// rounding.
inline float half_add(float a, float b) { return round_to_half(a + b); }
inline float half_mul(float a, float b) { return round_to_half(a * b); }

// One rounding of a * b + c: the sum is made odd where fp32 cannot hold it.
inline float half_fma(float a, float b, float c) {
  const float p = a * b;
  const float s = p + c;
  const float back = s - p;
  const float error = (p - (s - back)) + (c - back);
  uint32_t bits = std::bit_cast<uint32_t>(s);
  if ((error > 0.0f || error < 0.0f) && (bits & 1) == 0) bits += (error > 0.0f) == (s > 0.0f) ? 1u : ~0u;
  return round_to_half(std::bit_cast<float>(bits));
}

}  // namespace bitwell::number
