// Tensor-core dot products of whole tiles, fast: AVX-512, AVX2 or plain, chosen at run time. Bit-equal to
// dot.h and block_dot.h (verify/test/number/dot_tile_test.cpp).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/number/dot.h"

namespace bitwell::number {

inline constexpr size_t kTileLanes = 32;  // columns computed side by side

// B of one tile, prepared: `columns` by `k`, columns padded to kTileLanes.
struct PlainColumns {
  size_t columns = 0, k = 0;
  const Format* format = nullptr;
  std::vector<uint32_t> codes;       // as given, column by column
  std::vector<int32_t> significand;  // signed, [k][padded column]
  std::vector<int32_t> exponent;     // encoded, [k][padded column]
  std::vector<uint8_t> special;      // a column with NaN or infinity
};
PlainColumns prepare_columns(const Format& format, std::span<const uint32_t> codes, size_t columns, size_t k);

// d[row][column] = a[row] . b[column] + d[row][column]; codes of `format` in a (rows by b.k), of the rule's
// output in d (rows by b.columns). `level` as for codec(); "" is the best of this host.
void dot_tile(const DotRule& rule, std::span<const uint32_t> a, size_t rows, const PlainColumns& b,
              std::span<uint32_t> d, std::string_view level = "");

// The same for kind::mxf4nvf4: E2M1 codes, one scale every 16 (scale_vec::4X) in `scales` (columns by k /
// 16), k a multiple of 64.
struct ScaledColumns {
  size_t columns = 0, k = 0;
  const Format* scale = nullptr;
  std::vector<uint8_t> codes, scales;  // as given
  std::vector<int16_t> twice;          // twice the value, [k][padded column]
  std::vector<uint16_t> occupied;      // bit i: element i of the group is not zero, [group][padded column]
  std::vector<int32_t> scale_significand, scale_exponent;  // [group][padded column]
  std::vector<uint8_t> special;                            // a column with a scale that is NaN
};
ScaledColumns prepare_scaled_columns(const Format& scale, std::span<const uint8_t> codes,
                                     std::span<const uint8_t> scales, size_t columns, size_t k);
void mxf4nvf4_tile(std::span<const uint8_t> a, std::span<const uint8_t> scales, size_t rows,
                   const ScaledColumns& b, std::span<uint32_t> d, std::string_view level = "");

}  // namespace bitwell::number
