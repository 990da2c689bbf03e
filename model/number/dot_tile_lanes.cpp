// The loops behind dot_tile.h, compiled once for every instruction set and written so that the compiler makes
// vectors of them: columns side by side, no branches.
#include "model/number/dot_tile_lanes.h"

#include <algorithm>
#include <bit>

#include "model/number/dot_tile.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

constexpr size_t kLanes = kTileLanes;

// Sums of aligned units to fp32 towards zero; the mask of lanes that this cannot do.
uint32_t round_lanes(const int64_t* sum, const int32_t* unit_exponent, bool thirteen, uint32_t* d) {
  // 29 bits of a double lie below fp32's, 39 below the shorter result's: cut off, the rest is exact.
  const uint64_t keep = thirteen ? ~((uint64_t{1} << 39) - 1) : ~((uint64_t{1} << 29) - 1);
  alignas(64) uint32_t odd[kLanes];
  alignas(64) uint32_t out[kLanes];
  for (size_t c = 0; c < kLanes; ++c) {
    const double exact = static_cast<double>(sum[c]);  // |sum| < 2^53
    const uint64_t bits = std::bit_cast<uint64_t>(exact) & keep;
    const int64_t exponent = static_cast<int64_t>(bits >> 52 & 0x7FF) - 1023 + unit_exponent[c];
    const uint64_t nonzero = sum[c] == 0 ? 0 : ~uint64_t{0};
    const uint64_t beyond = static_cast<uint64_t>(exponent + 126) | static_cast<uint64_t>(127 - exponent);
    odd[c] = static_cast<uint32_t>((beyond & nonzero) >> 63);
    const uint64_t code =
        bits >> 63 << 31 | static_cast<uint64_t>(exponent + 127) << 23 | (bits >> 29 & 0x7FFFFF);
    out[c] = static_cast<uint32_t>(code & nonzero);
  }
  uint32_t mask = 0;
  for (size_t c = 0; c < kLanes; ++c) {
    mask |= odd[c] << c;
    d[c] = odd[c] != 0 ? d[c] : out[c];
  }
  return mask;
}

// The same to fp16, to nearest even; zero is +0. No lane is beyond it.
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

// C's exponent as the unit sees it, and its significand with its sign.
void open_addend(const uint32_t* d, bool half, int zero_exponent, int32_t* exponent, int32_t* significand) {
  const int fraction_bits = half ? 10 : 23;
  const uint32_t top = half ? 31 : 255;
  const int bias = half ? 15 : 127;
  const int sign_bit = half ? 15 : 31;
  for (size_t c = 0; c < kLanes; ++c) {
    const auto field = static_cast<int32_t>(d[c] >> fraction_bits & top);
    const auto fraction = static_cast<int32_t>(d[c] & ((1u << fraction_bits) - 1));
    const int32_t magnitude = field == 0 ? fraction : fraction | 1 << fraction_bits;
    exponent[c] = magnitude == 0 ? zero_exponent : std::max(field, 1) - bias;
    significand[c] = (d[c] >> sign_bit & 1) != 0 ? -magnitude : magnitude;
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

uint32_t scaled(const ScaledRow& row, const ScaledStep& step, uint32_t* d) {
  constexpr int fraction_bits = 35;
  constexpr int zero_exponent = -139;
  alignas(64) int32_t term[4][kLanes];
  alignas(64) int32_t exponent[4][kLanes];
  alignas(64) int32_t largest[kLanes];
  alignas(64) int32_t addend[kLanes];
  alignas(64) int32_t addend_exponent[kLanes];
  open_addend(d, false, zero_exponent, addend_exponent, addend);
  for (size_t c = 0; c < kLanes; ++c) largest[c] = addend_exponent[c];
  for (size_t g = 0; g < 4; ++g) {
    alignas(64) int16_t sum[kLanes] = {};
    for (size_t i = 0; i < 16; ++i) {
      const int16_t x = row.twice[16 * g + i];
      const int16_t* y = step.twice + (16 * g + i) * step.stride;
      for (size_t c = 0; c < kLanes; ++c) sum[c] = static_cast<int16_t>(sum[c] + x * y[c]);
    }
    const uint16_t occupied = row.occupied[g];
    const int32_t significand = row.significand[g];
    const int32_t scale_exponent = row.exponent[g];
    const uint16_t* other = step.occupied + g * step.stride;
    const int32_t* ms = step.significand + g * step.stride;
    const int32_t* es = step.exponent + g * step.stride;
    for (size_t c = 0; c < kLanes; ++c) {
      const int32_t scale = significand * ms[c];
      const bool zero = ((occupied & other[c]) == 0) | (scale == 0);
      term[g][c] = sum[c] * scale;
      exponent[g][c] = zero ? zero_exponent : scale_exponent + es[c];
      largest[c] = std::max(largest[c], exponent[g][c]);
    }
  }
  alignas(64) int64_t total[kLanes];
  alignas(64) int32_t unit[kLanes];
  for (size_t c = 0; c < kLanes; ++c) {
    unit[c] = largest[c] - fraction_bits;
    total[c] = moved(addend[c], fraction_bits - 23 - (largest[c] - addend_exponent[c]));
  }
  const int base = fraction_bits - 2 - step.scale_fraction;
  for (size_t g = 0; g < 4; ++g)
    for (size_t c = 0; c < kLanes; ++c) total[c] += moved(term[g][c], base - (largest[c] - exponent[g][c]));
  return round_lanes(total, unit, false, d);
}

uint32_t plain(const PlainRow& row, const PlainStep& step, uint32_t* d) {
  alignas(64) int32_t largest[kLanes];
  alignas(64) int32_t addend[kLanes];
  alignas(64) int32_t addend_exponent[kLanes];
  const bool half = step.rounding == DotRounding::rne_f16;
  open_addend(d, half, step.zero_exponent, addend_exponent, addend);
  for (size_t c = 0; c < kLanes; ++c) largest[c] = addend_exponent[c];
  const auto length = static_cast<size_t>(step.length);
  for (size_t i = 0; i < length; ++i) {
    const int32_t x = row.significand[i];
    const int32_t e = row.exponent[i];
    const int32_t* y = step.significand + i * step.stride;
    const int32_t* f = step.exponent + i * step.stride;
    for (size_t c = 0; c < kLanes; ++c) {
      const bool zero = x * y[c] == 0;
      largest[c] = std::max(largest[c], zero ? step.zero_exponent : e + f[c]);
    }
  }
  alignas(64) int64_t total[kLanes];
  alignas(64) int32_t unit[kLanes];
  for (size_t c = 0; c < kLanes; ++c) {
    unit[c] = largest[c] - step.fraction_bits;
    total[c] = moved(addend[c], step.fraction_bits - (half ? 10 : 23) - (largest[c] - addend_exponent[c]));
  }
  // Products have up to 22 bits. Moved up once, they only move down from there: 32-bit lanes hold the sum
  // of 8.
  const int up = step.fraction_bits - step.product_fraction;
  for (size_t from = 0; from < length; from += 8) {
    alignas(64) int32_t part[kLanes] = {};
    for (size_t i = from; i < std::min(from + 8, length); ++i) {
      const int32_t x = row.significand[i];
      const int32_t e = row.exponent[i];
      const int32_t* y = step.significand + i * step.stride;
      const int32_t* f = step.exponent + i * step.stride;
      for (size_t c = 0; c < kLanes; ++c) {
        const int32_t product = x * y[c];
        const int32_t sign = product >> 31;
        const auto magnitude = static_cast<uint32_t>((product ^ sign) - sign);
        const uint32_t raised = up >= 0 ? magnitude << up : magnitude >> -up;
        // A product below `up` bits has been cut by that already; more is cut here, both towards zero.
        const uint32_t down = std::min<uint32_t>(static_cast<uint32_t>(largest[c] - (e + f[c])), 31);
        const auto cut = static_cast<int32_t>(raised >> down);
        part[c] += (cut ^ sign) - sign;
      }
    }
    for (size_t c = 0; c < kLanes; ++c) total[c] += part[c];
  }
  if (half) {
    round_half_lanes(total, unit, d);
    return 0;
  }
  return round_lanes(total, unit, step.rounding == DotRounding::rz_e8m13, d);
}

}  // namespace

TileLanes make_tile_lanes() { return {scaled, plain}; }

}  // namespace bitwell::number::BITWELL_LEVEL
