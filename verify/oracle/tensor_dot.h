// Tensor-core dot products as in unbounded integers (of 128 bits, and a sum that outgrew them would throw),
// written again from the published rule (T-FDPA and its block-scaled forms: Xie et al., arXiv 2511.10909):
// nothing of model/.
#pragma once
#include <cstdint>
#include <span>

namespace bitwell::oracle {

// An operand's format by its fields. `specials`: 0 none, 1 IEEE (all-ones exponent), 2 all-ones magnitude is
// NaN. `dropped`: low bits of the word that are cut off first.
struct FieldFormat {
  int exponent_bits, fraction_bits, bias, specials, dropped;
};

// The parameters of one row. `result`: 0 fp32 towards zero, 1 the same with 13 fraction bits, 2 fp16 to
// nearest even.
struct FusedDot {
  int length, fraction_bits, result, zero_exponent;
};

// `scale`: a power of two that multiplies every product and its exponent (UE8M0 scales of mxf8f6f4).
uint32_t fused_dot(const FusedDot& rule, const FieldFormat& of_a, std::span<const uint32_t> a,
                   const FieldFormat& of_b, std::span<const uint32_t> b, uint32_t c, int scale = 0);

// kind::mxf4nvf4: 64 E2M1 codes each, UE4M3 (4) or UE8M0 (2 or 4) scales.
uint32_t scaled_fp4_dot(std::span<const uint32_t> a, std::span<const uint32_t> b, uint32_t c, bool ue8m0,
                        std::span<const uint8_t> scale_a, std::span<const uint8_t> scale_b);

// kind::i8: bytes, each operand's with signs or without; C and the result are words of 32 bits with a sign.
// `saturate`: a sum beyond them is the nearest of them, else its low 32 bits.
uint32_t integer_dot(bool signed_a, std::span<const uint32_t> a, bool signed_b, std::span<const uint32_t> b,
                     uint32_t c, bool saturate);

}  // namespace bitwell::oracle
