// The loops behind codec.h, compiled once for every instruction set. They are written so that the compiler
// makes vectors of them; only the table look-ups are spelled with intrinsics.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "model/number/codec.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

inline uint32_t e2m1_half(uint32_t code) {
  const uint32_t magnitude = code & 7;
  return (code & 8) << 12 | (magnitude < 2 ? magnitude * 0x3800u : (magnitude << 9) + 0x3800u);
}

void decode_e2m1(const uint8_t* packed, uint16_t* out, size_t bytes) {
  size_t i = 0;
#if defined(__AVX512BW__)
  alignas(64) uint16_t table[32];
  for (uint32_t code = 0; code < 32; ++code) table[code] = static_cast<uint16_t>(e2m1_half(code & 15));
  const __m512i lut = _mm512_load_si512(table);
  for (; i + 16 <= bytes; i += 16) {  // a byte becomes a 32-bit lane: low nibble below, high nibble above
    const __m512i b = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + i)));
    const __m512i index = _mm512_or_si512(b, _mm512_slli_epi32(b, 12));
    _mm512_storeu_si512(
        out + 2 * i, _mm512_permutexvar_epi16(_mm512_and_si512(index, _mm512_set1_epi32(0x000F000F)), lut));
  }
#elif defined(__AVX2__)
  // The low byte of every E2M1 value in fp16 is zero: look up the high byte.
  alignas(16) uint8_t table[16];
  for (uint32_t code = 0; code < 16; ++code) table[code] = static_cast<uint8_t>(e2m1_half(code) >> 8);
  const __m256i lut = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
  for (; i + 16 <= bytes; i += 16) {
    const __m256i w = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + i)));
    const __m256i nibbles =
        _mm256_and_si256(_mm256_or_si256(w, _mm256_slli_epi16(w, 4)), _mm256_set1_epi16(0x0F0F));
    const __m256i high = _mm256_shuffle_epi8(lut, nibbles);  // bytes: low nibble's, high nibble's, ...
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a = _mm256_unpacklo_epi8(zero, high);
    const __m256i b = _mm256_unpackhi_epi8(zero, high);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * i), _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * i + 16), _mm256_permute2x128_si256(a, b, 0x31));
  }
#endif
  for (; i < bytes; ++i) {
    const uint32_t pair = e2m1_half(packed[i]) | e2m1_half(packed[i] >> 4u) << 16;
    std::memcpy(out + 2 * i, &pair, 4);
  }
}

// Normals move by bits; subnormals are integers times 2^-9, normal in fp16.
inline uint16_t e4m3_half(uint32_t code) {
  const uint32_t magnitude = code & 0x7F;
  const uint32_t normal = (magnitude << 7) + 0x2000u;
  // 2^-9 * m for m < 8: exponent of the top bit.
  const uint32_t subnormal = magnitude == 0   ? 0
                             : magnitude == 1 ? 0x1800u
                             : magnitude < 4  ? 0x1800u + (magnitude << 9)
                                              : 0x1C00u + (magnitude << 8);
  const uint32_t h = magnitude == 0x7F ? 0x7FFFu : (magnitude < 8 ? subnormal : normal) | (code & 0x80) << 8;
  return static_cast<uint16_t>(h);
}

void decode_e4m3(const uint8_t* codes, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = e4m3_half(codes[i]);
}

// Rounds |v|, clamped to `largest`, to the grid of a format: by integer rounding of the float's bits where it
// is normal, by adding a power of two whose unit is the format's least step where it is not. Signed integers
// throughout: AVX2 compares no others.
template <int Fraction, int Bias>
inline int32_t round_magnitude(int32_t magnitude, int32_t largest) {
  const int32_t clamped = magnitude < largest ? magnitude : largest;
  constexpr int drop = 23 - Fraction;
  const int32_t normal =
      ((clamped + (1 << (drop - 1)) - 1 + (clamped >> drop & 1)) >> drop) - ((127 - Bias) << Fraction);
  constexpr int32_t magic = (127 + 23 - Fraction + 1 - Bias) << 23;
  const int32_t subnormal =
      std::bit_cast<int32_t>(std::bit_cast<float>(clamped) + std::bit_cast<float>(magic)) - magic;
  return clamped < (127 + 1 - Bias) << 23 ? subnormal : normal;
}

inline int32_t e2m1_code(float v) {
  const int32_t bits = std::bit_cast<int32_t>(v);
  const int32_t magnitude = bits & 0x7FFFFFFF;
  const int32_t code = round_magnitude<1, 1>(magnitude, 0x40C00000) | (bits >> 28 & 8);
  return magnitude > 0x7F800000 ? 7 : code;
}

inline int32_t e4m3_code(float v) {
  const int32_t bits = std::bit_cast<int32_t>(v);
  const int32_t magnitude = bits & 0x7FFFFFFF;
  const int32_t code = round_magnitude<3, 7>(magnitude, 0x43E00000) | (bits >> 24 & 0x80);
  return magnitude > 0x7F800000 ? 0x7F : code;
}

constexpr size_t kBlock = 64;

void encode_e2m1(const float* values, uint8_t* packed, size_t bytes) {
  size_t i = 0;
  for (; i + kBlock <= bytes; i += kBlock) {
    alignas(64) int32_t codes[2 * kBlock];
    for (size_t j = 0; j < 2 * kBlock; ++j) codes[j] = e2m1_code(values[2 * i + j]);
    // Two 32-bit lanes as one of 64: the second code lies 28 bits above its nibble.
    alignas(64) uint64_t pairs[kBlock];
    std::memcpy(pairs, codes, sizeof pairs);
    for (size_t j = 0; j < kBlock; ++j) packed[i + j] = static_cast<uint8_t>(pairs[j] | pairs[j] >> 28);
  }
  for (; i < bytes; ++i)
    packed[i] = static_cast<uint8_t>(e2m1_code(values[2 * i]) | e2m1_code(values[2 * i + 1]) << 4);
}

void encode_e4m3(const float* values, uint8_t* codes, size_t count) {
  for (size_t i = 0; i < count; ++i) codes[i] = static_cast<uint8_t>(e4m3_code(values[i]));
}

}  // namespace

Codec make_codec();
Codec make_codec() { return {decode_e2m1, decode_e4m3, encode_e2m1, encode_e4m3}; }

}  // namespace bitwell::number::BITWELL_LEVEL
