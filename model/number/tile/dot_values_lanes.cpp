// The loops behind dot_values_lanes.h, written so that the compiler makes vectors of them.
#include "model/number/tile/dot_values_lanes.h"

#include <algorithm>
#include <bit>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "model/number/tile/blocks.h"
#include "model/number/tile/dot_tile_lanes.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

bool special(const Format& format, const uint32_t* codes, size_t count) {
  const auto magnitude = static_cast<uint32_t>(format.magnitude_mask());
  const auto most = static_cast<uint32_t>(format.max_code());
  const int low = format.ignored_low;
  uint32_t beyond = 0;
  for (size_t i = 0; i < count; ++i) beyond |= static_cast<uint32_t>((codes[i] >> low & magnitude) > most);
  return beyond != 0;
}

void products(const Format& format, bool narrow, const uint32_t* codes, size_t count, float* value,
              int16_t* exponent) {
  const auto fraction_mask = static_cast<int32_t>(format.fraction_mask());
  const auto magnitude = static_cast<uint32_t>(format.magnitude_mask());
  const auto sign_mask = static_cast<uint32_t>(format.sign_mask());
  const int fraction_bits = format.fraction_bits;
  const int bias = format.bias;
  const int low = format.ignored_low;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t code = codes[i] >> low;
    const auto field = static_cast<int32_t>((code & magnitude) >> fraction_bits);
    const int32_t hidden = field == 0 ? 0 : 1 << fraction_bits;
    const int32_t significand = (static_cast<int32_t>(code) & fraction_mask) | hidden;
    const int32_t encoded = std::max(field, 1) - bias;
    const int32_t unit = narrow ? 127 + encoded - fraction_bits : 127;
    const float absolute =
        static_cast<float>(significand) * std::bit_cast<float>(static_cast<uint32_t>(unit) << 23);
    const uint32_t sign = (code & sign_mask) != 0 ? 0x80000000u : 0;
    value[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(absolute) | sign);
    exponent[i] = static_cast<int16_t>(significand == 0 ? kNoExponent : encoded);
  }
}

constexpr size_t kGroup = 16;
using Values = int8_t __attribute__((vector_size(kGroup)));

// Bit i: element i is not zero.
inline uint16_t nonzero(Values v) {
#if defined(__SSE2__)
  return static_cast<uint16_t>(_mm_movemask_epi8(std::bit_cast<__m128i>(v != 0)));
#else
  uint32_t out = 0;
  for (uint32_t i = 0; i < kGroup; ++i) out |= static_cast<uint32_t>(v[i] != 0) << i;
  return static_cast<uint16_t>(out);
#endif
}
// Of values from -kRaise on.
inline int32_t sum_of(Values v) {
#if defined(__SSE2__)
  const __m128i halves = _mm_sad_epu8(std::bit_cast<__m128i>(v + static_cast<int8_t>(kRaise)), __m128i{});
  return _mm_cvtsi128_si32(halves) + _mm_extract_epi16(halves, 4) - static_cast<int32_t>(kGroup) * kRaise;
#else
  int32_t out = 0;
  for (size_t i = 0; i < kGroup; ++i) out += v[i];
  return out;
#endif
}

void twice(const uint32_t* codes, size_t groups, int8_t* out, uint16_t* occupied, int32_t* sum) {
  using Codes = uint32_t __attribute__((vector_size(4 * kGroup)));
  constexpr Values by_code = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  for (size_t g = 0; g < groups; ++g) {
    const auto code = __builtin_convertvector(load<Codes>(codes + g * kGroup) & 15, Values);
    const Values values = shuffled(by_code, code);
    std::memcpy(out + g * kGroup, &values, sizeof values);
    occupied[g] = nonzero(values);
    sum[g] = sum_of(values);
  }
}

}  // namespace

ValueLanes make_value_lanes() { return {special, products, twice}; }

}  // namespace bitwell::number::BITWELL_LEVEL
