// value of a format -> bits, and the packing of nibbles.
#pragma once
#include <cstddef>
#include <span>

#include "model/number/exact.h"
#include "model/number/format.h"

namespace bitwell::number {

// The code of `value`, which must be a value of `format` (what round() returns). NaN gives the canonical NaN,
// sign dropped. Throws std::logic_error for a value that the format does not have.
uint64_t encode(const Format& format, const Exact& value);

// Elements 2i and 2i + 1 of `codes` become the low and the high nibble of bytes[i] (PTX e2m1x2, torch
// float4_e2m1fn_x2). codes.size() is even and twice bytes.size().
void pack_nibbles(std::span<const uint8_t> codes, std::span<uint8_t> bytes);
void unpack_nibbles(std::span<const uint8_t> bytes, std::span<uint8_t> codes);

}  // namespace bitwell::number
