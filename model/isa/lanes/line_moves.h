// Rows of whole lines of 128 bytes, as bulk copies take them to and from shared memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bitwell::isa {

inline constexpr size_t kSwizzleLine = 128, kSwizzleUnit = 16;  // bytes

// How a swizzle exchanges the units of 16 bytes of a line, by its number modulo 8: the unit at offset c of
// the line is found at c ^ key. It does not matter on which side.
using LineKeys = std::array<uint8_t, 8>;

// `stride`: bytes from one row to the next. What is read and what is written do not overlap.
struct LineMoves {
  // Lines are counted through all rows, from `first_line` on.
  void (*copy)(const std::byte* from, size_t from_stride, std::byte* to, size_t to_stride, size_t rows,
               size_t row_bytes, const LineKeys& keys, size_t first_line) = nullptr;
  void (*fill)(uint8_t value, uint8_t* to, size_t stride, size_t rows, size_t row_bytes) = nullptr;
  // Whether all bytes of whole lines have one value.
  bool (*all)(uint8_t value, const uint8_t* from, size_t bytes) = nullptr;
};

// For the widest instruction set that this host has, or for one that number::has_level() has.
const LineMoves& line_moves(std::string_view level = {});

}  // namespace bitwell::isa
