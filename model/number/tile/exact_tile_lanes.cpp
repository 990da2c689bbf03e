// The loops behind exact_tile_lanes.h, written so that the compiler makes vectors of them.
#include "model/number/tile/exact_tile_lanes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/number/tile/blocks.h"
#include "model/number/tile/dot_tile.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

void values(const Format& format, const uint32_t* codes, size_t count, float* value) {
  const int low = format.ignored_low;
  if (format.exponent_bits == 8) {  // the upper bits of fp32
    const int up = 23 - format.fraction_bits;
    for (size_t i = 0; i < count; ++i) value[i] = std::bit_cast<float>(codes[i] >> low << up);
    return;
  }
  const auto fraction_mask = static_cast<int32_t>(format.fraction_mask());
  const auto magnitude = static_cast<uint32_t>(format.magnitude_mask());
  const auto sign_mask = static_cast<uint32_t>(format.sign_mask());
  const int fraction_bits = format.fraction_bits;
  const int to_unit = 127 - format.bias - fraction_bits;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t code = codes[i] >> low;
    const auto field = static_cast<int32_t>((code & magnitude) >> fraction_bits);
    const int32_t hidden = field == 0 ? 0 : 1 << fraction_bits;
    const int32_t significand = (static_cast<int32_t>(code) & fraction_mask) | hidden;
    const float unit = std::bit_cast<float>(static_cast<uint32_t>(std::max(field, 1) + to_unit) << 23);
    const uint32_t sign = (code & sign_mask) != 0 ? 0x80000000u : 0;
    value[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(significand) * unit) | sign);
  }
}

#if defined(__AVX512BW__)
constexpr size_t kRows = 8;
#elif defined(__AVX2__)
constexpr size_t kRows = 2;
#else
constexpr size_t kRows = 1;
#endif
constexpr size_t kBlocks = kTileLanes / kBlock;

// Zeros change nothing; of those whose own exponent is below fp32's nothing is promised.
inline void bound(Int bits, Int& highest, Int& lowest) {
  const ExactBounds none;
  bits &= 0x7FFFFFFF;
  const Int field = bits >> 23;
  const Int significand = (bits & 0x7FFFFF) | 0x800000;
  const auto last = std::bit_cast<Int>(__builtin_convertvector(significand & -significand, Float));
  const Int normal = field - 150 + ((last >> 23) - 127);
  const Int low = bits == 0 ? Int{} + none.lowest : field == 0 ? Int{} - none.lowest : normal;
  const Int high = bits == 0 ? Int{} + none.highest : field - 127;
  lowest = lowest < low ? lowest : low;
  highest = highest > high ? highest : high;
}

ExactBounds bounds(const float* value, size_t count) {
  ExactBounds out;
  Int highest = Int{} + out.highest;
  Int lowest = Int{} + out.lowest;
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) bound(load<Int>(value + i), highest, lowest);
  float rest[kBlock] = {};
  std::copy_n(value + i, count - i, rest);
  bound(load<Int>(rest), highest, lowest);
  for (size_t c = 0; c < kBlock; ++c) {
    out.highest = std::max(out.highest, highest[c]);
    out.lowest = std::min(out.lowest, lowest[c]);
  }
  return out;
}

// a * b and the sum are exact: one rounding or two are the same.
inline Float fused(float a, Float b, Float c) {
#if defined(__AVX512BW__)
  return std::bit_cast<Float>(
      _mm512_fmadd_ps(_mm512_set1_ps(a), std::bit_cast<__m512>(b), std::bit_cast<__m512>(c)));
#elif defined(__AVX2__)
  return std::bit_cast<Float>(
      _mm256_fmadd_ps(_mm256_set1_ps(a), std::bit_cast<__m256>(b), std::bit_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}

// With |c| below 2^(e + 1), everything that is added stays below 2^top, top = max(sum, e + 1) + 1. Multiples
// of 2^(top - precision) are then held whole: products are where e is at most `most`, c is where it has no
// bits below.
inline bool refuses(const ExactStep& step, Int c) {
  const int32_t most = std::min(step.lowest + step.precision - 2 + 127, 253);
  const Int bits = c & 0x7FFFFFFF;
  const Int field = bits >> 23;
  const Int significand = (bits & 0x7FFFFF) | (field != 0 ? Int{} + 0x800000 : Int{});
  const Int above = field + 1;
  const Int sum = Int{} + (step.sum + 127);
  const Int top = (above > sum ? above : sum) + 1;
  // c's last bit is 2^(field - 150).
  const Int short_of = top - step.precision - field + 23;
  const Int inside = short_of < 0 ? Int{} : short_of < 31 ? short_of : Int{} + 31;
  const Unsigned ones = ((Unsigned{} + 1) << std::bit_cast<Unsigned>(inside)) - 1;
  const Int below = significand & std::bit_cast<Int>(ones);
  return any((field > most) | below);
}

// The same, quickly, of what most often is so: c below 2^(lowest + 22) in magnitude and, as fp32 finds by
// rounding, a multiple of 2^lowest. Where it answers no, nothing is refused.
struct Quick {
  explicit Quick(const ExactStep& step) {
    const int place = step.lowest + 23 + 127;  // of a number whose last bit is 2^lowest
    if (step.precision < 24 || step.sum >= step.lowest + 22 || place < 24 || place > 253) return;
    round = std::bit_cast<float>(static_cast<uint32_t>(place) << 23 | 0x400000);
    limit = (place - 1) << 23;
  }
  inline Int refuses(Int c) const {
    const auto value = std::bit_cast<Float>(c);
    const Float rounded = (value + round) - round;
    return (rounded != value) | ((c & 0x7FFFFFFF) >= limit);
  }

  float round = 0;
  int32_t limit = 0;  // of its bits: none is below
};

template <size_t rows>
uint32_t add_rows(const ExactStep& step, uint32_t* d, size_t pitch) {
  Float sums[rows][kBlocks];
  const Quick quick(step);
  Int doubtful = {};
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (size_t i = 0; i < kBlocks; ++i) {
      const auto c = load<Int>(d + r * pitch + i * kBlock);
      doubtful |= quick.refuses(c);
      sums[r][i] = std::bit_cast<Float>(c);
    }
  uint32_t refused = 0;
  if (any(doubtful))
    for (size_t r = 0; r < rows; ++r) {
      bool no = false;
      for (size_t i = 0; i < kBlocks; ++i) no = no || refuses(step, load<Int>(d + r * pitch + i * kBlock));
      refused |= static_cast<uint32_t>(no) << r;
    }
  if (refused == (1u << rows) - 1) return refused;
  for (size_t k = 0; k < step.k; ++k) {
    Float b[kBlocks];
#pragma GCC unroll 8
    for (size_t i = 0; i < kBlocks; ++i) b[i] = load<Float>(step.b + k * step.stride + i * kBlock);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (size_t i = 0; i < kBlocks; ++i) sums[r][i] = fused(step.a[r * step.k + k], b[i], sums[r][i]);
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; ++r) {
    if ((refused >> r & 1) != 0) continue;
#pragma GCC unroll 8
    for (size_t i = 0; i < kBlocks; ++i) {
      const Float sum = sums[r][i] + 0.0f;  // no -0
      std::memcpy(d + r * pitch + i * kBlock, &sum, sizeof sum);
    }
  }
  return refused;
}

uint32_t add(const ExactStep& step, size_t rows, uint32_t* d, size_t pitch) {
  uint32_t refused = 0;
  ExactStep rest = step;
  size_t r = 0;
  for (; r + kRows <= rows; r += kRows) {
    rest.a = step.a + r * step.k;
    refused |= add_rows<kRows>(rest, d + r * pitch, pitch) << r;
  }
  for (; r < rows; ++r) {
    rest.a = step.a + r * step.k;
    refused |= add_rows<1>(rest, d + r * pitch, pitch) << r;
  }
  return refused;
}

}  // namespace

ExactLanes make_exact_lanes() { return {values, bounds, add}; }

}  // namespace bitwell::number::BITWELL_LEVEL
