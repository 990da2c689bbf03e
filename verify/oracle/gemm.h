// The NVFP4 GEMM of kernels/gemm in plain integers, written from the formats' definitions and the
// kernel's description.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace bitwell::oracle {

enum class Output { f16, bf16, f32 };

// A row of an operand decoded: code * scale * 2^-6 as fp16 fields, in the kernel's order of k, padded with
// zeros to whole steps of 64.
struct HalfWord {
  int16_t digits;   // value = digits * 2^(exponent - 10); |digits| < 2^11
  int8_t exponent;  // of the encoding; -14 for subnormals
  bool nan;
};
std::vector<HalfWord> decoded_row(std::span<const uint8_t> codes, std::span<const uint8_t> scales);

// One element of D. wgmma k16 after k16 on Hopper: 25 fraction bits below the largest exponent, towards zero
// (Khattak and Mikaitis, arXiv 2512.07004; the same bits as an H200 in device_test); `split` parts of whole
// steps, their fp32 sums added in order, times 2^12, rounded to nearest even.
uint32_t gemm_element(std::span<const HalfWord> a, std::span<const HalfWord> b, int split, Output output);

}  // namespace bitwell::oracle
