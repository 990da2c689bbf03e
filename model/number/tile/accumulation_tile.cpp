#include "model/number/tile/accumulation_tile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/number/decode.h"
#include "model/number/simd_level.h"
#include "model/number/tile/accumulation_tile_lanes.h"

namespace bitwell::number {

namespace scalar {
AccumulationLanes accumulation_lanes();
}
namespace avx2 {
AccumulationLanes accumulation_lanes();
}
namespace avx512 {
AccumulationLanes accumulation_lanes();
}

namespace {

constexpr size_t kGroup = 16;
constexpr size_t kLanes = kAccumulationLanes;

AccumulationLanes lanes_of(std::string_view level) {
  if (level.empty()) level = has_level("avx512") ? "avx512" : has_level("avx2") ? "avx2" : "scalar";
  if (level == "avx512") return avx512::accumulation_lanes();
  return level == "avx2" ? avx2::accumulation_lanes() : scalar::accumulation_lanes();
}

float value_of(const Format& f, uint64_t code) {
  const Exact v = decode(f, code);
  if (v.is_nan()) return NAN;
  const float magnitude = std::ldexp(static_cast<float>(static_cast<uint64_t>(v.significand)), v.exponent);
  return v.negative ? -magnitude : magnitude;
}
template <size_t N>
std::array<float, N> table_of(const Format& f) {
  std::array<float, N> t{};
  for (size_t code = 0; code < N; ++code) t[code] = value_of(f, code);
  return t;
}
const std::array<float, 16> kE2m1 = table_of<16>(e2m1);
const std::array<float, 256> kE4m3 = table_of<256>(e4m3);

}  // namespace

AccumulationColumns::AccumulationColumns(std::span<const uint8_t> codes, std::span<const uint8_t> scale_codes,
                                         size_t columns_, size_t k_)
    : columns(columns_), k(k_) {
  const size_t blocks = (columns + kLanes - 1) / kLanes;
  values.resize(blocks * k * kLanes);
  scales.resize(blocks * (k / kGroup) * kLanes);
  for (size_t c = 0; c < columns; ++c) {
    float* to = &values[c / kLanes * k * kLanes + c % kLanes];
    for (size_t i = 0; i < k; ++i) to[i * kLanes] = kE2m1[codes[c * k + i]];
    float* scale = &scales[c / kLanes * (k / kGroup) * kLanes + c % kLanes];
    for (size_t g = 0; g < k / kGroup; ++g) scale[g * kLanes] = kE4m3[scale_codes[c * (k / kGroup) + g]];
  }
}

void accumulation_tile(const Accumulation& order, std::span<const uint8_t> a, std::span<const uint8_t> scales,
                       size_t rows, const AccumulationColumns& b, std::span<uint16_t> c,
                       std::string_view level) {
  const AccumulationLanes lanes = lanes_of(level);
  const size_t k = b.k;
  const size_t groups = k / kGroup;
  std::vector<float> values(k);
  std::vector<float> of_scales(groups);
  std::vector<float> sums(threads_of(order, k) * kLanes);
  for (size_t row = 0; row < rows; ++row) {
    std::transform(&a[row * k], &a[row * k] + k, values.begin(), [](uint8_t code) { return kE2m1[code]; });
    std::transform(&scales[row * groups], &scales[row * groups] + groups, of_scales.begin(),
                   [](uint8_t code) { return kE4m3[code]; });
    for (size_t column = 0; column < b.columns; column += kLanes) {
      const size_t block = column / kLanes;
      uint16_t out[kLanes];
      lanes(order,
            {values.data(), of_scales.data(), &b.values[block * k * kLanes],
             &b.scales[block * groups * kLanes], k, sums.data()},
            out);
      std::copy_n(out, std::min(kLanes, b.columns - column), &c[row * b.columns + column]);
    }
  }
}

}  // namespace bitwell::number
