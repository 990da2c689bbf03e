// The zero-column mask descriptor of tcgen05.mma.ws: which columns of B count as zeros, and by how much all
// of them are moved (PTX ISA 9.0, 9.7.16.4.3).
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace bitwell::machine {

// By default every column stands for itself.
struct ColumnMask {
  // The column of B that column `c` of the MMA takes; nothing: zeros.
  std::optional<uint32_t> source(uint32_t c) const;

  // A mask has a part for each bank of `columns` columns: spans of zeros and of columns that are used, in
  // turns, the first of them `start` columns short.
  uint32_t columns = 256;
  bool masks = false;
  uint32_t used = 1, zeros = 1;  // lengths of the spans
  std::array<uint32_t, 4> start{};
  std::array<bool, 4> zeros_first{};
  uint32_t shift = 0;

  bool operator==(const ColumnMask&) const = default;
};
// For an MMA of m by n that allows shifts up to `most_shift` (bits 30 and 31 of its instruction descriptor).
// Throws Fault, naming the field and its bits, where a reserved bit is set or the shift is too far.
ColumnMask decode_column_mask(uint64_t bits, uint32_t m, uint32_t n, uint32_t most_shift);

}  // namespace bitwell::machine
