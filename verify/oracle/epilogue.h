// What a GEMM does with a sum before it stores it, and NVFP4 as a result, written from the formats'
// definitions (IEEE 754; OCP 8-bit Floating Point 1.0; OCP Microscaling Formats 1.0): nothing of model/.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace bitwell::oracle {

// The value of an fp16 code.
float half(uint16_t code);

// alpha * sum, or fma(alpha, sum, beta * c) where beta is not zero, each to nearest even in fp32. A NaN has
// no fixed bits.
float scaled(float alpha, float sum, float beta, float c);

// To nearest, ties to the even code; beyond the largest to it. NaN: 0x7F, and for E2M1, which has none, 6.
uint8_t to_e4m3(float value);
uint8_t to_e2m1(float value);

// 16 values as E2M1 codes under one E4M3 scale: a sixth of their largest magnitude, rounded to fp32, then to
// E4M3; the codes are those of the values divided by it in fp32, and 0 where it is 0. A NaN among the values
// makes the scale NaN and every code 6.
struct Nvfp4Group {
  uint8_t scale = 0;
  std::array<uint8_t, 16> codes{};
};
Nvfp4Group quantised(std::span<const float, 16> values);

}  // namespace bitwell::oracle
