// Swizzles, and a layout with a swizzle after it.
#pragma once
#include <optional>

#include "model/layout/layout.h"

namespace bitwell::layout {

// CuTe's Swizzle<bits, base, shift>: `bits` bits of an offset, `shift` above bit `base`, are xored into the
// bits at `base`; a negative shift takes them from below instead. An involution.
struct Swizzle {
  int bits;
  int base;
  int shift;

  constexpr int64_t operator()(int64_t offset) const {
    const int64_t ones = (int64_t{1} << bits) - 1;
    if (shift >= 0) return offset ^ ((offset & (ones << (base + shift))) >> shift);
    return offset ^ ((offset & (ones << base)) << -shift);
  }
  bool operator==(const Swizzle&) const = default;
};

// offset of c = swizzle(offset + layout(c)); without a swizzle and offset a plain layout.
struct Composed {
  std::optional<Swizzle> swizzle;
  int64_t offset = 0;
  Layout layout;

  int64_t operator()(const Tuple& coordinate) const {
    const int64_t at = add(offset, layout(coordinate));
    return swizzle ? (*swizzle)(at) : at;
  }
  bool operator==(const Composed&) const = default;
};

// "S<3,4,3> o 0 o (8,64):(64,1)"
std::string to_string(const Composed& c);

}  // namespace bitwell::layout
