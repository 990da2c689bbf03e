// Block-scaled dot products of tcgen05.mma (PTX ISA 9.0, 9.7.16.10): one K step of an MMA.
#pragma once
#include "model/number/dot.h"

namespace bitwell::number {

// kind::mxf8f6f4 with scale_vec::1X: 32 products of `input` (e4m3, e5m2, e2m3, e3m2, e2m1), one UE8M0 scale
// of each operand. The scales' exponents join every product's.
// Evidence: published (one B200 word, MMA-Sim).
uint32_t mxf8f6f4_dot(const Format& input, std::span<const uint32_t> a, std::span<const uint32_t> b,
                      uint32_t c, uint8_t scale_a, uint8_t scale_b, std::vector<DotChunk>* trace = nullptr);

// kind::mxf4 and kind::mxf4nvf4: 64 E2M1 products in groups of 16, each summed exactly, then scaled by its
// scales' exact product; the groups' and C's largest exponent counts scales alone. Scales: UE4M3 (4 of them)
// or UE8M0 (2 or 4), the same number in `scale_a` and `scale_b`.
// Evidence: published (B200 words, MMA-Sim); verify/test/number/dot_test.cpp lists the open corners.
uint32_t mxf4nvf4_dot(std::span<const uint32_t> a, std::span<const uint32_t> b, uint32_t c,
                      const Format& scale, std::span<const uint8_t> scale_a, std::span<const uint8_t> scale_b,
                      std::vector<DotChunk>* trace = nullptr);

// Fraction bits kept and exponent of zero, of mxf4nvf4 and of mxf8f6f4.
inline constexpr int kBlockFractionBits = 35;
inline constexpr int kBlockZeroExponent = -139;
inline constexpr int kMxFractionBits = 25;
inline constexpr int kMxZeroExponent = -133;

}  // namespace bitwell::number
