// Values of small formats, which fp32 holds.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "model/number/decode.h"

namespace bitwell::number {

// NaN is the canonical one.
inline float value_of(const Format& f, uint64_t code) {
  const Exact v = decode(f, code);
  if (v.is_nan()) return std::bit_cast<float>(0x7FFFFFFFu);
  const float magnitude = std::ldexp(static_cast<float>(static_cast<uint64_t>(v.significand)), v.exponent);
  return v.negative ? -magnitude : magnitude;
}

template <size_t N>
std::array<float, N> table_of(const Format& f) {
  std::array<float, N> t{};
  for (size_t code = 0; code < N; ++code) t[code] = value_of(f, code);
  return t;
}
inline const std::array<float, 16> kE2m1Values = table_of<16>(e2m1);
inline const std::array<float, 256> kE4m3Values = table_of<256>(e4m3);

}  // namespace bitwell::number
