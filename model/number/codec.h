// Arrays of small formats, fast: AVX-512, AVX2 or plain, chosen at run time. Bit-equal to decode.h, round.h
// and encode.h (verify/test/number/codec_test.cpp shows it over whole domains). Semantics are those of PTX's
// cvt with .satfinite: round to nearest even, beyond the largest to the largest, NaN to 0x7 (E2M1) and 0x7F
// (E4M3).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace bitwell::number {

// One code a byte. NaN gives 0x7FFF. out.size() == codes.size().
void decode_e4m3_to_f16(std::span<const uint8_t> codes, std::span<uint16_t> out);
// values.size() == codes.size().
void encode_e4m3(std::span<const float> values, std::span<uint8_t> codes);

// The loops of one instruction set, for tests and benchmarks; all nullptr where the host lacks it. E2M1
// stands two codes a byte, low nibble first.
struct Codec {
  void (*decode_e2m1)(const uint8_t* packed, uint16_t* out, size_t bytes) = nullptr;
  void (*decode_e4m3)(const uint8_t* codes, uint16_t* out, size_t count) = nullptr;
  void (*encode_e2m1)(const float* values, uint8_t* packed, size_t bytes) = nullptr;
  void (*encode_e4m3)(const float* values, uint8_t* codes, size_t count) = nullptr;
};
Codec codec(std::string_view level);  // "avx512", "avx2", "scalar"

}  // namespace bitwell::number
