// The loops behind aligned_tile_lanes.h.
#include "model/number/tile/aligned_tile_lanes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/number/format.h"
#include "model/number/tile/blocks.h"
#include "model/number/tile/dot_tile.h"
#include "model/number/tile/dot_tile_lanes.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

template <class Exponent>
void exponents_of(const Format& format, const uint32_t* codes, size_t count, Exponent none,
                  Exponent* exponent) {
  const auto magnitude_mask = static_cast<uint32_t>(format.magnitude_mask());
  const int fraction_bits = format.fraction_bits;
  const int bias = format.bias;
  const int low = format.ignored_low;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t magnitude = codes[i] >> low & magnitude_mask;
    const auto field = static_cast<int32_t>(magnitude >> fraction_bits);
    exponent[i] = static_cast<Exponent>(magnitude == 0 ? none : std::max(field, 1) - bias);
  }
}
void exponents(const Format& format, const uint32_t* codes, size_t count, int16_t* exponent) {
  exponents_of(format, codes, count, kNoExponent, exponent);
}
void byte_exponents(const Format& format, const uint32_t* codes, size_t count, int8_t* exponent) {
  exponents_of(format, codes, count, kNoByteExponent, exponent);
}

// Between these a largest exponent's units and their inverses are normal numbers of fp32, and so is every
// result.
constexpr int32_t kLowest = -100, kHighest = 120;
constexpr int32_t kNone = 2 * kNoExponent;  // the largest exponent of nothing but zeros
constexpr int32_t kSome = kNoExponent / 2;  // those of numbers are above

inline Float power(Int exponent) { return std::bit_cast<Float>((exponent + 127) << 23); }
inline Int larger(Int one, Int other) { return one > other ? one : other; }
inline Int smaller(Int one, Int other) { return one < other ? one : other; }

inline Int towards_zero(Float v) {
#if defined(__AVX512BW__)
  return std::bit_cast<Int>(_mm512_cvttps_epi32(std::bit_cast<__m512>(v)));
#elif defined(__AVX2__)
  return std::bit_cast<Int>(_mm256_cvttps_epi32(std::bit_cast<__m256>(v)));
#else
  return __builtin_convertvector(v, Int);
#endif
}

// kBlock exponents, widened.
inline Int widened(const int8_t* from) {
#if defined(__AVX512BW__)
  return std::bit_cast<Int>(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(__AVX2__)
  return std::bit_cast<Int>(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  using Narrow = int8_t __attribute__((vector_size(kBlock)));
  return __builtin_convertvector(load<Narrow>(from), Int);
#endif
}
inline Int widened(const int16_t* from) {
#if defined(__AVX512BW__)
  return std::bit_cast<Int>(
      _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#elif defined(__AVX2__)
  return std::bit_cast<Int>(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  using Narrow = int16_t __attribute__((vector_size(2 * kBlock)));
  return __builtin_convertvector(load<Narrow>(from), Int);
#endif
}

// The largest exponents of the products of `length` elements, kNone where all are zero. Of two bytes the sum
// is at most kNoByteExponent + 16 where one is of a zero, and above where none is.
template <size_t blocks, class Exponent>
inline void peaks_of(const Exponent* a, const Exponent* b, size_t stride, size_t length, Int* peak) {
  constexpr bool bytes = sizeof(Exponent) == 1;
  constexpr size_t kBytes =
      std::min<size_t>(blocks * kBlock * sizeof(Exponent), sizeof(Int) < 32 ? 16 : sizeof(Int));
  typedef Exponent Vector __attribute__((vector_size(kBytes)));  // `using` takes no attribute of such a type
  constexpr size_t kParts = blocks * kBlock * sizeof(Exponent) / kBytes;
  Vector most[kParts];
  for (Vector& m : most) m = Vector{} + static_cast<Exponent>(bytes ? 2 * kNoByteExponent : kNone);
#pragma GCC unroll 4
  for (size_t i = 0; i < length; ++i)
#pragma GCC unroll 4
    for (size_t p = 0; p < kParts; ++p) {
      const Vector e = load<Vector>(b + i * stride + p * kBytes / sizeof(Exponent)) + a[i];
      most[p] = most[p] > e ? most[p] : e;
    }
  alignas(64) Exponent each[blocks * kBlock];
  std::memcpy(each, most, sizeof each);
#pragma GCC unroll 8
  for (size_t i = 0; i < blocks; ++i) {
    const Int e = widened(each + i * kBlock);
    peak[i] = e > (bytes ? kNoByteExponent + 16 : kSome) ? e : Int{} + kNone;
  }
}

// Whole numbers below 2^31 in magnitude to fp32, towards zero, of which fp32's conversion knows nothing:
// where it has rounded up, the number before is the result.
inline Int to_f32(Int sum, int32_t result_bits) {
  const Int sign = sum & INT32_MIN;
  const Int absolute = sum < 0 ? added(~sum, Int{} + 1) : sum;
#if defined(__AVX512BW__)
  const auto rounded = std::bit_cast<Float>(
      _mm512_cvt_roundepi32_ps(std::bit_cast<__m512i>(absolute), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
  return (std::bit_cast<Int>(rounded) & result_bits) | sign;
#else
  const Float rounded = __builtin_convertvector(absolute, Float);
  const Int code = std::bit_cast<Int>(rounded) + (towards_zero(rounded) > absolute);
  return (code & result_bits) | sign;
#endif
}

// One row, `blocks` blocks of columns. A chunk's terms are in units of 2^(largest - fraction_bits): a
// product, exact in fp32, is below 2^27 of them and cut off by its conversion, an addend below 2^26, and the
// sum of 16 products below 2^31. Where one is near that, somebody else does it.
template <size_t blocks, class Exponent>
[[gnu::always_inline]] inline bool add_row(const AlignedStep& step, const float* a,
                                           const Exponent* a_exponent, const Exponent* b_exponent,
                                           uint32_t* d) {
  constexpr size_t kPart = 16;
  const int32_t limit = step.length > kPart ? (1 << 30) - (1 << 26) : INT32_MAX - (1 << 27);
  Int sums[blocks];
  Int doubt = {};
#pragma GCC unroll 8
  for (size_t i = 0; i < blocks; ++i) sums[i] = load<Int>(d + i * kBlock);
  for (size_t first = 0; first < step.k; first += step.length) {
    const size_t length = std::min(step.length, step.k - first);
    Int largest[blocks];
    peaks_of<blocks>(a_exponent + first, b_exponent + first * step.stride, step.stride, length, largest);
    Float factor[blocks];
    Int total[blocks];
#pragma GCC unroll 8
    for (size_t i = 0; i < blocks; ++i) {
      const Int magnitude = sums[i] & INT32_MAX;
      const Int field = magnitude >> 23;
      const Int exponent = magnitude == 0 ? Int{} + kNone : larger(field, Int{} + 1) - 127;
      const Int reached = larger(largest[i], exponent);
      largest[i] = smaller(larger(reached, Int{} + kLowest), Int{} + kHighest);
      doubt |= (largest[i] != reached) & (reached > kSome);
      factor[i] = power(step.fraction_bits - largest[i]);
      total[i] = towards_zero(std::bit_cast<Float>(field == 255 ? Int{} : sums[i]) * factor[i]);
    }
    for (size_t some = 0; some < length; some += kPart) {
      const size_t end = std::min(some + kPart, length);
      Int part[blocks] = {};
      for (size_t n = first + some; n < first + end; ++n)
#pragma GCC unroll 8
        for (size_t i = 0; i < blocks; ++i)
          part[i] = added(
              part[i], towards_zero(load<Float>(step.b + n * step.stride + i * kBlock) * a[n] * factor[i]));
#pragma GCC unroll 8
      for (size_t i = 0; i < blocks; ++i) {
        doubt |= (part[i] > limit) | (part[i] < -limit);
        total[i] = added(total[i], part[i]);
      }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < blocks; ++i)
      sums[i] = std::bit_cast<Int>(std::bit_cast<Float>(to_f32(total[i], step.result_bits)) *
                                   power(largest[i] - step.fraction_bits));
    if (any(doubt)) return false;
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < blocks; ++i) std::memcpy(d + i * kBlock, &sums[i], sizeof sums[i]);
  return true;
}

template <size_t blocks, class Exponent>
uint32_t add_rows(const AlignedStep& step, const Exponent* a_exponent, const Exponent* b_exponent,
                  uint32_t rows, uint32_t* d, size_t pitch) {
  uint32_t left = 0;
  for (; rows != 0; rows &= rows - 1) {
    const auto r = static_cast<size_t>(std::countr_zero(rows));
    if (!add_row<blocks>(step, step.a + r * step.k, a_exponent + r * step.k, b_exponent, d + r * pitch))
      left |= 1u << r;
  }
  return left;
}

template <size_t blocks>
uint32_t add_columns(const AlignedStep& step, uint32_t rows, uint32_t* d, size_t pitch) {
  return step.a_byte_exponent != nullptr
             ? add_rows<blocks>(step, step.a_byte_exponent, step.b_byte_exponent, rows, d, pitch)
             : add_rows<blocks>(step, step.a_exponent, step.b_exponent, rows, d, pitch);
}

uint32_t add(const AlignedStep& step, uint32_t rows, uint32_t* d, size_t pitch) {
  constexpr size_t kHalf = kTileLanes / 2;
  return step.columns > kHalf ? add_columns<kTileLanes / kBlock>(step, rows, d, pitch)
                              : add_columns<kHalf / kBlock>(step, rows, d, pitch);
}

}  // namespace

AlignedLanes make_aligned_lanes() { return {exponents, byte_exponents, add}; }

}  // namespace bitwell::number::BITWELL_LEVEL
