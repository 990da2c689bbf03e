// Tensor-core dot products of whole tiles, fast: AVX-512, AVX2 or plain, chosen at run time. Bit-equal to
// dot.h (verify/test/number/dot_tile_test.cpp).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "model/number/dot.h"
#include "model/number/tile/dot_tile_lanes.h"
#include "model/number/tile/exact_tile_lanes.h"

namespace bitwell::number {

inline constexpr size_t kTileLanes = 32;  // columns computed side by side

// B of one tile, prepared for a rule: `columns` by `k`, columns padded to kTileLanes.
struct DotColumns {
  const DotRule* rule = nullptr;
  const Format* format = nullptr;
  size_t columns = 0, k = 0;
  std::vector<uint32_t> codes;  // as given, column by column
  std::vector<uint8_t> scales;
  std::vector<uint8_t> special;  // 0: a finite column; 1: one with infinity; 2: with NaN
  bool finite = true;            // none is
  // Rules of single products, but the emulation of fp8: with their scales, [k][padded column].
  std::vector<float> number;
  ExactBounds bounds;  // of all of them; exponents as encoded
  // Of the same: what fp32 may not add as it is, opened for the first sum that asks, in the order of k in
  // which the rule takes them, as PlainStep says: [k][padded column].
  struct Products {
    std::mutex lock;
    std::atomic<bool> exponents_ready = false, ready = false;
    std::vector<int16_t> exponent;        // or
    std::vector<int8_t> byte_exponent;    // of narrow formats
    std::vector<float> value;             // empty where they are the numbers
    std::vector<int16_t> scale_exponent;  // [scale][padded column], zeros without scales
  };
  std::shared_ptr<Products> products;
  // Rules of groups of 16, k padded to whole chunks.
  std::vector<uint8_t> raised;  // twice the value, plus 12: [k / 4][padded column][k % 4]
  std::vector<int32_t> group;   // what ScaledStep's `group` says: [group][padded column]
  std::vector<double> scale;    // [group][padded column]
  std::vector<Reach> reach;     // [group][32 columns]
};
// `b`: codes [column][k], scales [column][rule.scales(k)]. The rule must outlive the result.
// `level` as for codec(); "" is the best of this host. std::invalid_argument for types or counts that the
// rule does not take.
DotColumns prepare_columns(const DotRule& rule, const DotOperand& b, size_t columns, size_t k,
                           std::string_view level = "");
// The same into what an earlier call gave, which nobody else has: its memory is taken again.
void prepare_columns(const DotRule& rule, const DotOperand& b, size_t columns, size_t k, DotColumns& out,
                     std::string_view level = "");

// d[row][column] = a[row] . b[column] + d[row][column]; codes [row][k] and scales [row][rule.scales(k)] in a,
// of the rule's output in d, whose rows are `pitch` apart (0: b.columns) and which ends with the last of
// them. `b` may have been prepared for another rule of the same order, groups and scales. `level` as for
// codec(); "" is the best of this host.
void dot_tile(const DotRule& rule, const DotOperand& a, size_t rows, const DotColumns& b,
              std::span<uint32_t> d, std::string_view level = "", size_t pitch = 0);

}  // namespace bitwell::number
