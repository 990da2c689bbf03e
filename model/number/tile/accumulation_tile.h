// Accumulation orders over whole tiles of dot products, fast: AVX-512, AVX2 or plain, chosen at run time.
// Bit-equal to accumulation.h (verify/test/number/accumulation_tile_test.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/number/accumulation.h"

namespace bitwell::number {

inline constexpr size_t kAccumulationLanes = 16;  // columns computed side by side

// B of one tile as values: columns by k, padded to kAccumulationLanes. Codes and scales column by column; k a
// multiple of 16.
struct AccumulationColumns {
  AccumulationColumns(std::span<const uint8_t> codes, std::span<const uint8_t> scales, size_t columns,
                      size_t k);
  size_t columns, k;
  std::vector<float> values;  // [block of columns][k][lane]
  std::vector<float> scales;  // [block of columns][k / 16][lane]
};

// c[row][column]: the fp16 code of a[row] . b[column]; a and its scales row by row. `level`: "" is the best
// of this host.
void accumulation_tile(const Accumulation& order, std::span<const uint8_t> a, std::span<const uint8_t> scales,
                       size_t rows, const AccumulationColumns& b, std::span<uint16_t> c,
                       std::string_view level = "");

}  // namespace bitwell::number
