#include <cstring>

#include "model/isa/lanes/lanes.h"
#include "model/isa/lanes/line_moves.h"
#include "model/number/tile/blocks.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

constexpr size_t kWide = sizeof(number::BITWELL_LEVEL::Int);
using Wide = uint64_t __attribute__((vector_size(kWide)));

inline Wide load(const void* from) { return number::BITWELL_LEVEL::load<Wide>(from); }
inline void store(void* to, Wide v) { std::memcpy(to, &v, sizeof v); }

// By key / 16: where each word of a vector comes from.
struct Places {
  alignas(64) uint64_t of[8][kWide / 8];
  constexpr Places() : of() {
    for (size_t key = 0; key < 8; ++key)
      for (size_t word = 0; word < kWide / 8; ++word) of[key][word] = word ^ (2 * key % (kWide / 8));
  }
};

void copy(const std::byte* from, size_t from_stride, std::byte* to, size_t to_stride, size_t rows,
          size_t row_bytes, const LineKeys& line_keys, size_t line) {
  static constexpr Places places;
  const LineKeys keys = line_keys;  // which nothing that is written is part of
  for (size_t row = 0; row < rows; ++row, from += from_stride, to += to_stride)
    for (size_t i = 0; i < row_bytes; i += kSwizzleLine, ++line) {
      const size_t key = keys[line % keys.size()];
      const Wide places_in_line = load(places.of[key / kSwizzleUnit]);
#pragma GCC unroll 8
      for (size_t at = 0; at < kSwizzleLine; at += kWide)
        store(to + i + at, number::BITWELL_LEVEL::shuffled(
                               load(from + i + (at ^ (key & (kSwizzleLine - kWide)))), places_in_line));
    }
}

void fill(uint8_t value, uint8_t* to, size_t stride, size_t rows, size_t row_bytes) {
  const Wide all = Wide{} + value * (~uint64_t{0} / 0xFF);
  for (size_t row = 0; row < rows; ++row, to += stride)
    for (size_t i = 0; i < row_bytes; i += kSwizzleLine)
#pragma GCC unroll 8
      for (size_t at = 0; at < kSwizzleLine; at += kWide) store(to + i + at, all);
}

bool all(uint8_t value, const uint8_t* from, size_t bytes) {
  const Wide wanted = Wide{} + value * (~uint64_t{0} / 0xFF);
  Wide other = {};
  for (size_t i = 0; i < bytes; i += kWide) other |= load(from + i) ^ wanted;
  uint64_t any = 0;
  for (size_t word = 0; word < kWide / 8; ++word) any |= other[word];
  return any == 0;
}

}  // namespace

LineMoves make_line_moves();
LineMoves make_line_moves() { return {copy, fill, all}; }

}  // namespace bitwell::isa::BITWELL_LEVEL
