// The vectors that loops over a tile's columns work on, as wide as the level that is compiled has registers.
// For files that are compiled once for every level (BITWELL_LEVEL).
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bitwell::number::BITWELL_LEVEL {

#if defined(__AVX512BW__)
constexpr size_t kBlock = 16;
#elif defined(__AVX2__)
constexpr size_t kBlock = 8;
#else
constexpr size_t kBlock = 4;
#endif
using Int = int32_t __attribute__((vector_size(4 * kBlock)));
using Unsigned = uint32_t __attribute__((vector_size(4 * kBlock)));
using Float = float __attribute__((vector_size(4 * kBlock)));

template <class Vector>
inline Vector load(const void* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Element i of the result is values[places[i]]. The places are below the number of elements.
template <class Vector, class Places>
inline Vector shuffled(Vector values, Places places) {
#if defined(__clang__)  // which has such an instruction by constant places alone
  Vector out{};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) out[i] = values[places[i]];
  return out;
#else
  return __builtin_shuffle(values, places);
#endif
}

// Modulo 2^32: what overflows is no result, but somebody says so only later.
inline Int added(Int a, Int b) {
  return std::bit_cast<Int>(std::bit_cast<Unsigned>(a) + std::bit_cast<Unsigned>(b));
}

// Whether any bit is set.
inline bool any(Int v) {
#if defined(__AVX512BW__)
  const auto x = std::bit_cast<__m512i>(v);
  return _mm512_test_epi32_mask(x, x) != 0;
#elif defined(__AVX2__)
  const auto x = std::bit_cast<__m256i>(v);
  return _mm256_testz_si256(x, x) == 0;
#else
  int32_t all = 0;
  for (size_t c = 0; c < kBlock; ++c) all |= v[c];
  return all != 0;
#endif
}

}  // namespace bitwell::number::BITWELL_LEVEL
