// The exact NVFP4 dot product, written from the definitions of E2M1 (OCP Microscaling Formats 1.0) and E4M3
// (OCP 8-bit Floating Point 1.0) alone: typed-out values, integers, nothing of model/.
#pragma once
#include <cstdint>
#include <span>

namespace bitwell::oracle {

// An exact sum in units of 2^-20 (E2M1 products are multiples of 2^-2, E4M3 products of 2^-18), or not a
// number. int64 holds 2^20 terms of at most 36 * 448^2 < 2^23.
struct ExactDot {
  bool is_nan = false;
  int64_t units = 0;
};

// a, b: E2M1 codes, one a byte; sfa, sfb: E4M3 codes, one for 16 elements. a.size() at most 2^20.
ExactDot dot(std::span<const uint8_t> a, std::span<const uint8_t> b, std::span<const uint8_t> sfa,
             std::span<const uint8_t> sfb);

// |got - exact| in units in the last place at the exact value of a format by its fields, fp16 if not said
// otherwise (subnormal spacing below the least normal number, that of the top binade beyond the greatest).
// NaN against NaN, and infinity against a value that rounds to it, are 0; NaN or infinity against anything
// else is infinite.
double error_ulp(uint32_t got, const ExactDot& exact, int exponent_bits = 5, int fraction_bits = 10);
// The same against any value, NaN where it is no number.
double error_ulp(uint32_t got, long double exact, int exponent_bits = 5, int fraction_bits = 10);

}  // namespace bitwell::oracle
