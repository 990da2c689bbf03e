// The arithmetic of tensor cores that needs no table: bytes and fp64.
#pragma once
#include <cstdint>

namespace bitwell::isa {

// A byte as the number it is.
constexpr int64_t byte_value(uint32_t byte, bool is_signed) {
  return is_signed ? int64_t{static_cast<int8_t>(byte)} : int64_t{static_cast<uint8_t>(byte)};
}
// An exact sum as the accumulator holds it: it stays at the ends of its range, or wraps.
int32_t stored_integer(int64_t sum, bool saturates);
// fma.rn.f64 of codes; model/number says which NaN it gives.
uint64_t fused_double(uint64_t a, uint64_t b, uint64_t c);

}  // namespace bitwell::isa
