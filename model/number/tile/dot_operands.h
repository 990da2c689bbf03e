// What dot_tile adds, made ready: A's rows and B's columns as the loops of the instruction sets take them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/number/tile/aligned_tile_lanes.h"
#include "model/number/tile/dot_tile.h"
#include "model/number/tile/dot_tile_lanes.h"
#include "model/number/tile/dot_values_lanes.h"

namespace bitwell::number {

inline constexpr size_t kGroup = 16;
inline constexpr size_t kChunk = 64;  // of a rule of groups

struct Loops {
  TileLanes tile;
  ValueLanes values;
  ExactLanes exact;
  AlignedLanes aligned;
};
// `level` as for dot_tile.
Loops loops_of(std::string_view level);

// std::invalid_argument, which begins with `what`, for types or counts that the rule does not take.
void check(const DotRule& rule, const DotOperand& o, size_t count, size_t k, const char* what);

inline size_t padded(size_t columns) { return (columns + kTileLanes - 1) / kTileLanes * kTileLanes; }

inline bool finite(const Format& f, uint32_t code) {
  return (code >> f.ignored_low & f.magnitude_mask()) <= f.max_code();
}
inline bool is_nan(const Format& f, uint32_t code) {
  return (code >> f.ignored_low & f.magnitude_mask()) > f.max_code() + (f.has_infinity() ? 1 : 0);
}
// Its products, with itself or what it mixes with, are normal numbers of fp32.
inline bool narrow(const Format& f) { return f.exponent_bits <= 5; }

// Codes along K and their scales: of one column, or of one row.
inline DotOperand vector_of(const DotRule& rule, const DotOperand& o, size_t i, size_t k) {
  return {o.format, o.codes.subspan(i * k, k), o.scales.subspan(i * rule.scales(k), rule.scales(k))};
}

// By row or column of `count`, 0 for those that are finite. Most often all are.
inline constexpr uint8_t kInfinite = 1, kNaN = 2;
std::vector<uint8_t> special_ones(const DotRule& rule, const DotOperand& o, size_t count, size_t k,
                                  const ValueLanes& lanes);

struct Scale {
  double value;
  int exponent;  // of the scale as encoded
};
using Scales = std::array<Scale, 256>;
// By code; a rule without scales has no use for it.
const Scales& scales_of(const DotRule& rule);

// The emulation of fp8 takes the products with k % 4 in {0, 1} first: the place of each k. Empty where they
// are taken one after the other.
std::vector<size_t> order_of(const DotRule& rule, size_t k);
// Elements [vector][k] at their places in `order`.
template <class T>
void reorder(std::span<const size_t> order, std::vector<T>& all) {
  if (order.empty()) return;
  const std::vector<T> given = all;
  const size_t k = order.size();
  for (size_t first = 0; first < all.size(); first += k)
    for (size_t i = 0; i < k; ++i) all[first + i] = given[first + order[i]];
}
// Products' values and exponents, as PlainStep wants them, at their places in `order`.
void ordered_products(const DotOperand& o, std::span<const size_t> order, const ValueLanes& lanes,
                      std::vector<float>& value, std::vector<int16_t>& exponent);

// Exponents [vector][k]: one of the two, as aligned_tile_lanes.h says.
struct Exponents {
  std::vector<int16_t> exponent;
  std::vector<int8_t> byte_exponent;

  Exponents(const DotOperand& o, const AlignedLanes& lanes);
};

// Codes [vector][k] as numbers, with their scales; bounds of the exponents as they are encoded.
struct Numbers {
  std::vector<float> value;
  ExactBounds bounds;

  Numbers(const DotRule& rule, const DotOperand& o, size_t count, size_t k, const ExactLanes& lanes);
};

// Rows or columns of E2M1 in groups, k padded with zeros to whole chunks.
struct Groups {
  size_t k;                        // padded
  std::vector<int8_t> twice;       // the values: [vector][k]
  std::vector<uint16_t> occupied;  // [vector][group]; of those whose scale is zero too, 0
  std::vector<int32_t> sum;        // of twice: [vector][group]
  std::vector<Scale> scale;        // [vector][group]

  Groups(const DotRule& rule, const DotOperand& o, size_t count, size_t given, const ValueLanes& lanes);
};

// Of rules of single products: the columns' exponents alone, or all, opened by who asks first.
const DotColumns::Products& opened_exponents(const DotColumns& b, const AlignedLanes& lanes);
const DotColumns::Products& opened(const DotColumns& b, const ValueLanes& lanes, const AlignedLanes& aligned);

}  // namespace bitwell::number
