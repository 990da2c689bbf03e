#include "model/machine/tensor/column_mask.h"

#include <algorithm>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {

std::optional<uint32_t> ColumnMask::source(uint32_t c) const {
  if (masks) {
    const uint32_t bank = c / columns;
    const uint32_t at = (c % columns + start[bank]) % (used + zeros);
    if (zeros_first[bank] ? at < zeros : at >= used) return std::nullopt;
  }
  return c + shift;
}

ColumnMask decode_column_mask(uint64_t bits, uint32_t m, uint32_t n, uint32_t most_shift) {
  const auto field = [&](int at, int size) {
    return static_cast<uint32_t>(bits >> at & ((uint64_t{1} << size) - 1));
  };
  for (const int at : {36, 62})
    if (const int last = at == 36 ? 38 : 63; field(at, last - at + 1) != 0)
      throw Fault("a zero-column mask descriptor has " + std::to_string(field(at, last - at + 1)) +
                  " in bits " + std::to_string(at) + " to " + std::to_string(last) +
                  " (reserved): it must be 0");
  ColumnMask mask;
  mask.columns = n / (128 / m);
  mask.masks = field(39, 1) != 0;
  // The manual's table has the two spans the other way round than its examples; a B200 does as the examples.
  mask.zeros = field(40, 8) + 1;
  mask.used = field(48, 8) + 1;
  mask.shift = field(56, 6);
  for (size_t i = 0; i < 4; ++i) {
    mask.zeros_first[i] = field(static_cast<int>(32 + i), 1) != 0;
    // A first span keeps one column at least (B200).
    mask.start[i] =
        std::min(field(static_cast<int>(8 * i), 8), (mask.zeros_first[i] ? mask.zeros : mask.used) - 1);
  }
  const uint32_t most = std::min(most_shift, m == 32 ? 16u : 32u);
  if (mask.shift > most)
    throw Fault("a zero-column mask descriptor has " + std::to_string(mask.shift) +
                " in bits 56 to 61 (column shift): it must be at most " + std::to_string(most) +
                " with M = " + std::to_string(m) + " and a maximum shift of " + std::to_string(most_shift) +
                " in the instruction descriptor (bits 30 and 31)");
  return mask;
}

}  // namespace bitwell::machine
