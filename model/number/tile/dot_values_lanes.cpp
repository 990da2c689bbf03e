// The loops behind dot_values_lanes.h, written so that the compiler makes vectors of them.
#include "model/number/tile/dot_values_lanes.h"

#include <algorithm>
#include <bit>

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

void twice(const uint32_t* codes, size_t groups, int8_t* out, uint16_t* occupied) {
  constexpr size_t kGroup = 16;
  for (size_t g = 0; g < groups; ++g) {
    uint32_t any = 0;
    for (uint32_t i = 0; i < kGroup; ++i) {
      // A field of 0 or 1 counts in halves, each one more doubles.
      const uint32_t code = codes[g * kGroup + i];
      const uint32_t field = code >> 1 & 3;
      const uint32_t half = code & 1;
      const uint32_t absolute = field == 0 ? half : (2 | half) << (field - (field != 0 ? 1 : 0));
      const auto value = static_cast<int32_t>(absolute);
      out[g * kGroup + i] = static_cast<int8_t>((code & 8) != 0 ? -value : value);
      any |= static_cast<uint32_t>(absolute != 0) << i;
    }
    occupied[g] = static_cast<uint16_t>(any);
  }
}

}  // namespace

ValueLanes make_value_lanes() { return {special, products, twice}; }

}  // namespace bitwell::number::BITWELL_LEVEL
