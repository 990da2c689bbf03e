// A Hopper tensor-core GEMM of NVFP4 operands in plain integers, written from the formats' definitions and
// published findings on wgmma.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bitwell::oracle {

enum class Output { f16, bf16, f32 };

// A sum as it is stored, to nearest even; NaN is 0x7FFF or 0x7FFFFFFF.
uint32_t stored(float value, Output output);

// code * scale * 2^-6 as fp16 fields, the scale of 16 elements.
struct HalfWord {
  int16_t digits = 0;     // value = digits * 2^(exponent - 10); |digits| < 2^11
  int8_t exponent = -14;  // of the encoding; -14 for subnormals
  bool nan = false;
};
std::vector<HalfWord> decoded(std::span<const uint8_t> codes, std::span<const uint8_t> scales);

// One element of D, of operands in the order in which wgmma takes them, as many of each and a multiple of 16.
// wgmma k16 after k16 on Hopper: 25 fraction bits below the largest exponent, towards zero (Khattak and
// Mikaitis, arXiv 2512.07004; the same bits as an H200 in device_test). The fp32 sums of parts of `part`
// elements, a multiple of 16, `parts` of them of which the last may be short or empty, are added in order,
// times 2^12, and rounded to nearest even.
uint32_t gemm_element(std::span<const HalfWord> a, std::span<const HalfWord> b, size_t part, size_t parts,
                      Output output);

}  // namespace bitwell::oracle
