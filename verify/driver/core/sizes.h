// Sizes that programs give, whose sums and products may not fit.
#pragma once
#include <array>
#include <cstdint>

#include "verify/driver/core/refused.h"

namespace bitwell::driver {

inline uint64_t times(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out))
    throw Refused(CUDA_ERROR_INVALID_VALUE, "a size does not fit into 64 bits");
  return out;
}
inline uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_add_overflow(a, b, &out))
    throw Refused(CUDA_ERROR_INVALID_VALUE, "a size does not fit into 64 bits");
  return out;
}
// Bytes from the first of so many rows to the last byte.
inline uint64_t extent(uint64_t width, uint64_t height, uint64_t pitch) {
  if (width == 0 || height == 0) return 0;
  if (height > 1 && pitch < width) throw Refused(CUDA_ERROR_INVALID_VALUE, "a pitch is less than the width");
  return plus(times(height - 1, pitch), width);
}
// Of a grid's, a CTA's or a cluster's dimensions; at most 2^64 - 1.
inline uint64_t volume(const std::array<uint32_t, 3>& v) {
  uint64_t out = 0;
  return __builtin_mul_overflow(uint64_t{v[0]} * v[1], uint64_t{v[2]}, &out) ? ~uint64_t{0} : out;
}
inline uint64_t padded(uint64_t bytes, uint64_t to) { return plus(bytes, to - 1) / to * to; }

}  // namespace bitwell::driver
