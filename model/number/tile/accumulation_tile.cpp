#include "model/number/tile/accumulation_tile.h"

#include <algorithm>

#include "model/number/simd_level.h"
#include "model/number/tile/accumulation_tile_lanes.h"
#include "model/number/tile/values.h"

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

}  // namespace

AccumulationColumns::AccumulationColumns(std::span<const uint8_t> codes, std::span<const uint8_t> scale_codes,
                                         size_t columns_, size_t k_)
    : columns(columns_), k(k_) {
  const size_t blocks = (columns + kLanes - 1) / kLanes;
  values.resize(blocks * k * kLanes);
  scales.resize(blocks * (k / kGroup) * kLanes);
  for (size_t c = 0; c < columns; ++c) {
    float* to = &values[c / kLanes * k * kLanes + c % kLanes];
    for (size_t i = 0; i < k; ++i) to[i * kLanes] = kE2m1Values[codes[c * k + i]];
    float* scale = &scales[c / kLanes * (k / kGroup) * kLanes + c % kLanes];
    for (size_t g = 0; g < k / kGroup; ++g)
      scale[g * kLanes] = kE4m3Values[scale_codes[c * (k / kGroup) + g]];
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
    std::transform(&a[row * k], &a[row * k] + k, values.begin(),
                   [](uint8_t code) { return kE2m1Values[code]; });
    std::transform(&scales[row * groups], &scales[row * groups] + groups, of_scales.begin(),
                   [](uint8_t code) { return kE4m3Values[code]; });
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
