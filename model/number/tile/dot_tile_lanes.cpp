// The loops behind dot_tile.h, compiled once for every instruction set and written so that the compiler makes
// vectors of them: columns side by side, no branches.
#include "model/number/tile/dot_tile_lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "model/number/tile/blocks.h"
#include "model/number/tile/dot_tile.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

constexpr size_t kLanes = kTileLanes;

// Sums of aligned units to fp16, to nearest even; zero is +0. No lane is beyond it.
void round_half_lanes(const int64_t* sum, const int32_t* unit_exponent, uint32_t* d) {
  for (size_t c = 0; c < kLanes; ++c) {
    // |sum| * 2^unit as a double: exact, and normal, for units lie above 2^-200.
    const int64_t sign = sum[c] >> 63;
    const double unit = std::bit_cast<double>(static_cast<uint64_t>(unit_exponent[c] + 1023) << 52);
    const double v = static_cast<double>((sum[c] ^ sign) - sign) * unit;
    // Normal results: half of the last kept bit is added, less one if that bit is even. Subnormal ones: the
    // sum with 2^28 has their unit, 2^-24, as its last bit.
    const auto bits = std::bit_cast<uint64_t>(v);
    const uint64_t up = bits + ((uint64_t{1} << 41) - 1) + (bits >> 42 & 1);
    const uint64_t normal = (up >> 42) - (uint64_t{1023 - 15} << 10);
    const uint64_t subnormal = std::bit_cast<uint64_t>(v + 0x1p28) & 0x7FFFFF;
    const uint64_t finite = v < 0x1p-14 ? subnormal : normal;
    const uint64_t code = finite > 0x7C00 ? 0x7C00 : finite;
    const uint64_t signed_code = code | (static_cast<uint64_t>(sign) & 0x8000);
    d[c] = static_cast<uint32_t>(code == 0 ? 0 : signed_code);
  }
}

// Which addends are NaN or infinity.
uint32_t special_halves(const uint32_t* d) {
  uint32_t mask = 0;
  for (uint32_t c = 0; c < kLanes; ++c) mask |= static_cast<uint32_t>((d[c] & 0x7FFF) >= 0x7C00) << c;
  return mask;
}

// C's exponent as the unit sees it, and its significand with its sign.
void open_halves(const uint32_t* d, int zero_exponent, int32_t* exponent, int32_t* significand) {
  for (size_t c = 0; c < kLanes; ++c) {
    const auto field = static_cast<int32_t>(d[c] >> 10 & 31);
    const auto fraction = static_cast<int32_t>(d[c] & 0x3FF);
    const int32_t magnitude = field == 0 ? fraction : fraction | 1 << 10;
    exponent[c] = magnitude == 0 ? zero_exponent : std::max(field, 1) - 15;
    significand[c] = (d[c] >> 15 & 1) != 0 ? -magnitude : magnitude;
  }
}

// significand * 2^shift towards zero, shift down to -63.
inline int64_t moved(int64_t significand, int32_t shift) {
  const int64_t sign = significand >> 63;
  const auto magnitude = static_cast<uint64_t>((significand ^ sign) - sign);
  const uint64_t up = magnitude << std::max(shift, 0);
  const uint64_t cut = up >> std::min(std::max(-shift, 0), 63);
  return (static_cast<int64_t>(cut) ^ sign) - sign;
}

// Blocks of columns for groups: one vector of 32-bit integers, two of doubles. No templates of the library
// with these vectors: the linker would keep one instruction set's code for all.
using Bytes = int8_t __attribute__((vector_size(kBlock < 8 ? 16 : kLanes)));
using Short = int16_t __attribute__((vector_size(2 * kBlock)));
using HalfInt = int32_t __attribute__((vector_size(2 * kBlock)));
using HalfFloat = float __attribute__((vector_size(2 * kBlock)));
using Double = double __attribute__((vector_size(4 * kBlock)));
using Long = int64_t __attribute__((vector_size(4 * kBlock)));
struct Halves {
  HalfInt half[2];
};

// Without a way through memory, which the compiler takes.
inline HalfInt lower(Int v) {
#if defined(__AVX512BW__)
  return std::bit_cast<HalfInt>(_mm512_castsi512_si256(std::bit_cast<__m512i>(v)));
#elif defined(__AVX2__)
  return std::bit_cast<HalfInt>(_mm256_castsi256_si128(std::bit_cast<__m256i>(v)));
#else
  return std::bit_cast<Halves>(v).half[0];
#endif
}
inline HalfInt upper(Int v) {
#if defined(__AVX512BW__)
  return std::bit_cast<HalfInt>(_mm512_extracti64x4_epi64(std::bit_cast<__m512i>(v), 1));
#elif defined(__AVX2__)
  return std::bit_cast<HalfInt>(_mm256_extracti128_si256(std::bit_cast<__m256i>(v), 1));
#else
  return std::bit_cast<Halves>(v).half[1];
#endif
}

inline Int joined(HalfInt low, HalfInt high) {
#if defined(__AVX512BW__)
  return std::bit_cast<Int>(_mm512_inserti64x4(_mm512_castsi256_si512(std::bit_cast<__m256i>(low)),
                                               std::bit_cast<__m256i>(high), 1));
#elif defined(__AVX2__)
  return std::bit_cast<Int>(_mm256_inserti128_si256(_mm256_castsi128_si256(std::bit_cast<__m128i>(low)),
                                                    std::bit_cast<__m128i>(high), 1));
#else
  return std::bit_cast<Int>(Halves{{low, high}});
#endif
}

inline Double cut_off(Double v) {
#if defined(__AVX512BW__)
  return std::bit_cast<Double>(
      _mm512_roundscale_pd(std::bit_cast<__m512d>(v), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#elif defined(__AVX2__)
  return std::bit_cast<Double>(
      _mm256_round_pd(std::bit_cast<__m256d>(v), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  for (size_t c = 0; c < kBlock / 2; ++c) v[c] = std::trunc(v[c]);
  return v;
#endif
}

// start + sum of 16 products: rows' signed bytes with columns' bytes, which are at most 2 * kRaise.
inline Int group_sum(const int8_t* row, const uint8_t* columns, size_t stride, int32_t start) {
#if defined(__AVX512BW__) || defined(__AVX2__)
  const auto* const four = reinterpret_cast<const int32_t*>(row);
#endif
#if defined(__AVX512BW__)
  __m512i sum = _mm512_set1_epi32(start);
  for (size_t i = 0; i < 4; ++i)
    sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(columns + 4 * i * stride), _mm512_set1_epi32(four[i]));
  return std::bit_cast<Int>(sum);
#elif defined(__AVX2__)
  // Two products at most 2 * 24 * 12, four pairs of them 2304: 16 bits hold that.
  __m256i sum = _mm256_setzero_si256();
  for (size_t i = 0; i < 4; ++i)
    sum = _mm256_add_epi16(
        sum,
        _mm256_maddubs_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns + 4 * i * stride)),
                             _mm256_set1_epi32(four[i])));
  return std::bit_cast<Int>(
      _mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)), _mm256_set1_epi32(start)));
#else
  Int sum = Int{} + start;
  for (size_t i = 0; i < 4; ++i)
    for (size_t c = 0; c < kBlock; ++c)
      for (size_t k = 0; k < 4; ++k) sum[c] += row[4 * i + k] * columns[4 * i * stride + 4 * c + k];
  return sum;
#endif
}

// The compiler splits these conversions in two.
inline Double doubles(HalfInt v) {
#if defined(__AVX512BW__)
  return std::bit_cast<Double>(_mm512_cvtepi32_pd(std::bit_cast<__m256i>(v)));
#elif defined(__AVX2__)
  return std::bit_cast<Double>(_mm256_cvtepi32_pd(std::bit_cast<__m128i>(v)));
#else
  return __builtin_convertvector(v, Double);
#endif
}
inline Double doubles(HalfFloat v) {
#if defined(__AVX512BW__)
  return std::bit_cast<Double>(_mm512_cvtps_pd(std::bit_cast<__m256>(v)));
#elif defined(__AVX2__)
  return std::bit_cast<Double>(_mm256_cvtps_pd(std::bit_cast<__m128>(v)));
#else
  return __builtin_convertvector(v, Double);
#endif
}

// a * b + c, of which the caller knows that a * b and the sum are exact.
inline Double multiplied(Double a, double b, Double c) {
#if defined(__AVX512BW__)
  return std::bit_cast<Double>(
      _mm512_fmadd_pd(std::bit_cast<__m512d>(a), _mm512_set1_pd(b), std::bit_cast<__m512d>(c)));
#elif defined(__AVX2__)
  return std::bit_cast<Double>(
      _mm256_fmadd_pd(std::bit_cast<__m256d>(a), _mm256_set1_pd(b), std::bit_cast<__m256d>(c)));
#else
  return a * b + c;
#endif
}

inline Long longs(HalfInt v) {
#if defined(__AVX512BW__)
  return std::bit_cast<Long>(_mm512_cvtepi32_epi64(std::bit_cast<__m256i>(v)));
#elif defined(__AVX2__)
  return std::bit_cast<Long>(_mm256_cvtepi32_epi64(std::bit_cast<__m128i>(v)));
#else
  return __builtin_convertvector(v, Long);
#endif
}

inline Double power_of_two(HalfInt exponent) { return std::bit_cast<Double>((longs(exponent) + 1023) << 52); }

// Sums to fp32 towards zero, without the last `lost` of a double's bits, of which 29 lie below fp32's.
// Returns a mask of those it cannot do, which stay `addend`.
inline uint32_t round_block(const Double* totals, int lost, Int addend, uint32_t* d) {
  const auto kept = [&](const Double& total) {
    const Long bits = std::bit_cast<Long>(total) & ~((int64_t{1} << lost) - 1);
    return std::bit_cast<HalfInt>(__builtin_convertvector(std::bit_cast<Double>(bits), HalfFloat));
  };
  Int result = joined(kept(totals[0]), kept(totals[1]));
  uint32_t odd = 0;
  // No normal number: zero, which has no sign, or one that is not done here.
  const Unsigned above = std::bit_cast<Unsigned>(result & INT32_MAX) - 0x00800000;
  if (const auto other = std::bit_cast<Int>(above >= 0x7F000000); any(other))
    for (size_t c = 0; c < kBlock; ++c) {
      if (other[c] == 0) continue;
      const bool zero = totals[c / (kBlock / 2)][c % (kBlock / 2)] == 0;
      odd |= static_cast<uint32_t>(!zero) << c;
      result[c] = zero ? 0 : addend[c];
    }
  std::memcpy(d, &result, sizeof result);
  return odd;
}

// What the sums of a row's groups may have to be added to, for nothing to be cut off: zeros, and magnitudes
// from `first` on, `span` of them. All columns' exponents count as if one of them had them.
struct Uncut {
  bool possible;
  uint32_t first, span;
};
Uncut uncut(const RowGroup* group, const ScaledStep& step) {
  int lowest = INT16_MAX, highest = step.zero_exponent;
  for (size_t g = 0; g < 4; ++g) {
    const Reach& reach = step.reach[g * step.stride / kTileLanes];
    if (group[g].occupied == 0 || reach.lowest > reach.highest) continue;
    const int exponent = group[g].exponent >> 16;
    lowest = std::min(lowest, reach.lowest + exponent);
    highest = std::max(highest, reach.highest + exponent);
  }
  // Of a term and of an addend, whose fraction has 23 bits.
  const int term = step.fraction_bits - step.term_fraction, addend = step.fraction_bits - 23;
  const int least = std::max(highest - addend, -126), most = std::min(lowest + term, 127);
  if (highest - lowest > term || most < least) return {false, 0, 0};
  const uint32_t first = static_cast<uint32_t>(least + 127) << 23;
  return {true, first, (static_cast<uint32_t>(most + 128) << 23) - first};
}

// The largest exponents of what is added.
inline Int largest_of(const RowGroup* group, const ScaledStep& step, size_t first, Int magnitude) {
  const Int field = magnitude >> 23;
  Int largest = (magnitude != 0 ? (field > 1 ? field : Int{} + 1) - 127 : Int{} + step.zero_exponent) << 16;
  for (size_t g = 0; g < 4; ++g) {
    const auto column = load<Int>(step.group + g * step.stride + first);
    const Int term = (column & group[g].occupied & 0xFFFF) != 0;
    const Int exponent = column + group[g].exponent;
    largest = largest > exponent ? largest : term ? exponent : largest;
  }
  return largest >> 16;
}

// A row's groups with a block of columns.
struct BlockOfSums {
  Int sum[4];
  const RowGroup* group;
  const double* scale;  // of the columns
  size_t stride;

  BlockOfSums(const int8_t* twice, const RowGroup* row, const ScaledStep& step, size_t first)
      : group(row), scale(step.scale + first), stride(step.stride) {
    for (size_t g = 0; g < 4; ++g)
      sum[g] = group_sum(twice + 16 * g, step.raised + 16 * g * stride + 4 * first, stride, group[g].start);
  }
  // A term of half the columns without the row's scale.
  Double term(size_t g, size_t half) const {
    return doubles(half == 0 ? lower(sum[g]) : upper(sum[g])) *
           load<Double>(scale + g * stride + half * kBlock / 2);
  }
};

// Doubles hold every term and the sum of what is kept of them exactly: that is a multiple of 2^-35 of the
// largest exponent's power of two and below 2^15 of it.
__attribute__((noinline)) uint32_t cut_block(const int8_t* twice, const RowGroup* group,
                                             const ScaledStep& step, size_t first, uint32_t* d) {
  const BlockOfSums sums(twice, group, step, first);
  const auto bits = load<Int>(d);
  const Int units = largest_of(group, step, first, bits & INT32_MAX) - step.fraction_bits;
  Double totals[2];
  for (size_t h = 0; h < 2; ++h) {
    const HalfInt unit = h == 0 ? lower(units) : upper(units);
    const Double to_units = power_of_two(-unit);
    totals[h] = cut_off(doubles(std::bit_cast<HalfFloat>(h == 0 ? lower(bits) : upper(bits))) * to_units);
    for (size_t g = 0; g < 4; ++g) totals[h] += cut_off(sums.term(g, h) * group[g].scale * to_units);
    totals[h] *= power_of_two(unit);
  }
  return round_block(totals, 29, bits, d);
}

inline uint32_t scaled_block(const int8_t* twice, const RowGroup* group, const Uncut& uncut,
                             const ScaledStep& step, size_t first, uint32_t* d) {
  const auto bits = load<Int>(d);
  const Int magnitude = bits & INT32_MAX;
  const Unsigned above = std::bit_cast<Unsigned>(magnitude) - uncut.first;
  const Int cut = (magnitude != 0) & std::bit_cast<Int>(above >= uncut.span);
  if (!uncut.possible || any(cut)) return cut_block(twice, group, step, first, d);
  const BlockOfSums sums(twice, group, step, first);
  Double totals[2] = {doubles(std::bit_cast<HalfFloat>(lower(bits))),
                      doubles(std::bit_cast<HalfFloat>(upper(bits)))};
#pragma GCC unroll 4
  for (size_t g = 0; g < 4; ++g) {
    totals[0] = multiplied(sums.term(g, 0), group[g].scale, totals[0]);
    totals[1] = multiplied(sums.term(g, 1), group[g].scale, totals[1]);
  }
  return round_block(totals, 29, bits, d);
}

void scaled(const ScaledRows& rows, const ScaledStep& step, uint32_t* d, size_t pitch, uint32_t* odd) {
  const ScaledStep columns = step;  // which d is no part of
  for (size_t r = 0; r < rows.rows; ++r) {
    const int8_t* twice = rows.twice + r * rows.k;
    const RowGroup* group = rows.group + r * rows.k / 16;
    const Uncut limits = uncut(group, columns);
    odd[r] = 0;
    for (size_t first = 0; first < columns.columns; first += kBlock)
      odd[r] |= scaled_block(twice, group, limits, columns, first, d + r * pitch + first) << first;
  }
}

// The largest exponents of the columns' products.
template <bool narrow>
inline void peaks_of(const PlainRow& row, const PlainStep& step, int16_t* peak) {
  const auto length = static_cast<size_t>(step.length);
  if constexpr (narrow) {
    int8_t each[kLanes];
    for (size_t first = 0; first < kLanes; first += sizeof(Bytes)) {
      Bytes most = Bytes{} + static_cast<int8_t>(2 * kNoByteExponent);
#pragma GCC unroll 4
      for (size_t i = 0; i < length; ++i) {
        const Bytes e = load<Bytes>(step.byte_exponent + i * step.stride + first) + row.byte_exponent[i];
        most = most > e ? most : e;
      }
      std::memcpy(each + first, &most, sizeof most);
    }
    // Products that are not zero have exponents from -28 on, others at most those of a zero and 16.
    for (size_t c = 0; c < kLanes; ++c)
      peak[c] = each[c] <= kNoByteExponent + 16 ? static_cast<int16_t>(2 * kNoExponent) : int16_t{each[c]};
  } else {
    for (size_t first = 0; first < step.columns; first += kBlock) {
      Short most = Short{} + static_cast<int16_t>(2 * kNoExponent);
#pragma GCC unroll 4
      for (size_t i = 0; i < length; ++i) {
        const Short e = load<Short>(step.exponent + i * step.stride + first) + row.exponent[i];
        most = most > e ? most : e;
      }
      std::memcpy(peak + first, &most, sizeof most);
    }
  }
}

// Adds a block's products, cut off, to `totals`. Products have up to 22 bits, exact in fp32, and in units of
// what is kept they are below 2^27: the conversion cuts them off towards zero, and 32 bits hold the sum of 8.
// `base`: the largest exponents, as of products without scales.
template <bool narrow>
inline void sum_block(const PlainRow& row, const PlainStep& step, size_t first, Int base, Double* totals) {
  const auto length = static_cast<size_t>(step.length);
  const auto power = [](Int exponent) { return std::bit_cast<Float>((exponent + 127) << 23); };
  const Int wanted = step.fraction_bits - base;
  const Int floored = wanted > -126 ? wanted : Int{} - 126;
  const Float factor = power(floored < 127 ? floored : Int{} + 127);
  const int up = step.fraction_bits - step.product_fraction;
  const auto product = [&](size_t i) {
    const Float p = load<Float>(step.value + i * step.stride + first) * row.value[i];
    if constexpr (narrow) return __builtin_convertvector(p * factor, Int);
    const Int exponent =
        __builtin_convertvector(load<Short>(step.exponent + i * step.stride + first), Int) + row.exponent[i];
    const Int down = base - exponent;
    return __builtin_convertvector(p * power(up - (down < 64 ? down : Int{} + 64)), Int);
  };
  size_t i = 0;
  while (i < length) {
    Int part = {};
    if (length - i >= 8) {
#pragma GCC unroll 8
      for (size_t n = 0; n < 8; ++n) part += product(i + n);
      i += 8;
    } else {
      for (; i < length; ++i) part += product(i);
    }
    totals[0] += doubles(lower(part));
    totals[1] += doubles(upper(part));
  }
}

// Doubles hold the units of every term and of their sum, which are whole numbers below 2^40.
template <bool narrow>
inline uint32_t plain_block(const PlainRow& row, const PlainStep& step, size_t first, const int16_t* peak,
                            uint32_t* d) {
  const auto bits = load<Int>(d);
  const Int magnitude = bits & 0x7FFFFFFF;
  const Int field = magnitude >> 23;
  const Int c_exponent = (field > 1 ? field : Int{} + 1) - 127;
  // Zeros count with an exponent below every addend's but zero's, which has that one itself.
  const Int addend = magnitude != 0 ? c_exponent : Int{} + step.zero_exponent;
  const Int shift =
      __builtin_convertvector(load<Short>(step.scale_exponent + first), Int) + row.scale_exponent;
  const Int product = __builtin_convertvector(load<Short>(peak + first), Int) + shift;
  const Int largest = product > addend ? product : addend;
  const Int units = largest - step.fraction_bits;
  const auto open = [](HalfInt c, HalfInt unit) {
    return cut_off(doubles(std::bit_cast<HalfFloat>(c)) * power_of_two(-unit));
  };
  Double totals[2] = {open(lower(bits), lower(units)), open(upper(bits), upper(units))};
  sum_block<narrow>(row, step, first, largest - shift, totals);
  totals[0] *= power_of_two(lower(units));
  totals[1] *= power_of_two(upper(units));
  const uint32_t odd = round_block(totals, step.rounding == DotRounding::rz_e8m13 ? 39 : 29, bits, d);
  uint32_t special = 0;
  if (const Int none = field == 255; any(none))
    for (size_t i = 0; i < kBlock; ++i) special |= static_cast<uint32_t>(none[i] & 1) << i;
  return odd | special;
}

template <bool narrow>
uint32_t plain_halves(const PlainRow& row, const PlainStep& step, uint32_t* d) {
  alignas(64) int16_t peak[kLanes] = {};
  alignas(64) int32_t addend[kLanes];
  alignas(64) int32_t addend_exponent[kLanes];
  alignas(64) int32_t unit[kLanes];
  alignas(64) int32_t base[kLanes];
  alignas(64) int64_t total[kLanes];
  const uint32_t special = special_halves(d);
  open_halves(d, step.zero_exponent, addend_exponent, addend);
  peaks_of<narrow>(row, step, peak);
  for (size_t c = 0; c < kLanes; ++c) {
    const int32_t shift = row.scale_exponent + step.scale_exponent[c];
    const int32_t largest = std::max(peak[c] + shift, addend_exponent[c]);
    unit[c] = largest - step.fraction_bits;
    base[c] = largest - shift;
    total[c] = moved(addend[c], step.fraction_bits - 10 - (largest - addend_exponent[c]));
  }
  for (size_t first = 0; first < kLanes; first += kBlock) {
    Double sums[2] = {};
    sum_block<narrow>(row, step, first, load<Int>(base + first), sums);
    for (size_t h = 0; h < 2; ++h)
      for (size_t c = 0; c < kBlock / 2; ++c)
        total[first + h * kBlock / 2 + c] += static_cast<int64_t>(sums[h][c]);
  }
  round_half_lanes(total, unit, d);
  return special;
}

template <bool narrow>
uint32_t plain_of(const PlainRow& row, const PlainStep& step, uint32_t* d) {
  if (step.rounding == DotRounding::rne_f16) return plain_halves<narrow>(row, step, d);
  alignas(64) int16_t peak[kLanes];
  peaks_of<narrow>(row, step, peak);
  uint32_t odd = 0;
  for (size_t first = 0; first < step.columns; first += kBlock)
    odd |= plain_block<narrow>(row, step, first, peak, d + first) << first;
  return odd;
}

uint32_t plain(const PlainRow& row, const PlainStep& step, uint32_t* d) {
  return step.narrow ? plain_of<true>(row, step, d) : plain_of<false>(row, step, d);
}

}  // namespace

TileLanes make_tile_lanes() { return {scaled, plain}; }

}  // namespace bitwell::number::BITWELL_LEVEL
