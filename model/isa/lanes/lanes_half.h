// fp16 in rows: a packed row of 32 registers is a row of 64 halves.
#pragma once
#include <bit>

#include "model/isa/lanes/lanes.h"
#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;

inline uint32_t bits(float v) { return std::bit_cast<uint32_t>(v); }

// Widening is exact. N is a multiple of 16.
template <int N>
inline void widen(const u16* in, float* out) {
#if defined(__AVX512F__)
  for (int i = 0; i < N; i += 16)
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
#elif defined(__F16C__)
  for (int i = 0; i < N; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#else
  for (int i = 0; i < N; ++i) {
    const u32 sign = static_cast<u32>(in[i] & 0x8000) << 16;
    const u32 magnitude = in[i] & 0x7FFF;
    u32 v = (magnitude << 13) + (112u << 23);
    if (magnitude < 0x400) v = bits(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24f);
    if (magnitude >= 0x7C00) v = 0x7F800000 | (magnitude & 0x3FF) << 13;
    out[i] = std::bit_cast<float>(sign | v);
  }
#endif
}

// One rounding to nearest even; NaN becomes 0x7FFF.
template <int N>
inline void narrow(const float* in, u16* out) {
#if defined(__AVX512F__)
  for (int i = 0; i < N; i += 16) {
    const __m512 v = _mm512_loadu_ps(in + i);
    const __m256i h = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_mask_mov_epi16(h, nan, _mm256_set1_epi16(0x7FFF)));
  }
#elif defined(__F16C__)
  for (int i = 0; i < N; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  for (int i = 0; i < N; ++i) out[i] = (out[i] & 0x7FFF) > 0x7C00 ? u16{0x7FFF} : out[i];
#else
  for (int i = 0; i < N; ++i) {
    const u32 b = bits(in[i]);
    const u32 sign = b >> 16 & 0x8000;
    const u32 magnitude = b & 0x7FFFFFFF;
    u32 h = 0;
    if (magnitude > 0x7F800000) {
      out[i] = 0x7FFF;
      continue;
    }
    if (magnitude >= 0x477FF000) {
      h = 0x7C00;
    } else if (magnitude >= 0x38800000) {
      h = (magnitude - (112u << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    } else {  // subnormal: adding 0.5 puts the unit of 2^-24 at the bottom of the significand
      h = bits(std::bit_cast<float>(magnitude) + 0.5f) - bits(0.5f);
    }
    out[i] = static_cast<u16>(sign | h);
  }
#endif
}

inline u16 flush(u16 h) { return (h & 0x7C00) == 0 ? h & 0x8000 : h; }

struct Keep {
  static constexpr bool kFlush = false;
  static u16 out(u16 h) { return h; }
};
struct Ftz {
  static constexpr bool kFlush = true;
  static u16 out(u16 h) { return flush(h); }
};

// Writes 32 lanes of N / 32 halves each.
template <int N>
inline void store(std::byte* rows, uint32_t offset, const u16* r, uint32_t mask) {
  u16* d = row<u16>(rows, offset);
  if (mask == ~0u) {
    for (int i = 0; i < N; ++i) d[i] = r[i];
  } else {
    for (int i = 0; i < N; ++i)
      if ((mask >> (i / (N / 32)) & 1) != 0) d[i] = r[i];
  }
}

}  // namespace
}  // namespace bitwell::isa::BITWELL_LEVEL
