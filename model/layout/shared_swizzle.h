// The swizzles of shared memory: one table for tensor maps, matrix descriptors and drawn layouts.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "model/layout/swizzle.h"

namespace bitwell::layout {

// In the order of CUtensorMapSwizzle.
enum class SharedSwizzle : uint8_t {
  none,
  b32,
  b64,
  b128,
  b128_atom_32b,
  b128_atom_32b_flip_8b,
  b128_atom_64b
};
// Bytes change places inside a line of 128, by address bits above it (PTX ISA 9.0, 5.5.7; CUDA driver API,
// CUtensorMapSwizzle).
struct SharedSwizzleRow {
  std::string_view name;
  uint32_t span;                 // bytes of a row at most; 0: any
  uint32_t atom;                 // bytes that stay together
  std::array<Swizzle, 2> steps;  // of byte addresses, one after the other; {0, 0, 0}: nothing
  std::string_view evidence;
};
inline constexpr std::array<SharedSwizzleRow, 7> kSharedSwizzles{
    {{"none", 0, 16, {{{0, 0, 0}, {0, 0, 0}}}, "device"},
     {"32b", 32, 16, {{{1, 4, 3}, {0, 0, 0}}}, "device"},
     {"64b", 64, 16, {{{2, 4, 3}, {0, 0, 0}}}, "device"},
     {"128b", 128, 16, {{{3, 4, 3}, {0, 0, 0}}}, "device"},
     {"128b_atom_32b", 128, 32, {{{2, 5, 2}, {0, 0, 0}}}, "manual"},
     {"128b_atom_32b_flip_8b", 128, 32, {{{2, 5, 2}, {1, 3, 4}}}, "manual"},
     {"128b_atom_64b", 128, 64, {{{1, 6, 1}, {0, 0, 0}}}, "manual"}}};

constexpr const SharedSwizzleRow& row_of(SharedSwizzle s) { return kSharedSwizzles[static_cast<size_t>(s)]; }

// The place of shared memory byte `address`. An involution; the address bits from 7 up stay.
constexpr uint64_t swizzled(SharedSwizzle s, uint64_t address) {
  auto at = static_cast<int64_t>(address);
  for (const Swizzle& step : row_of(s).steps) at = step(at);
  return static_cast<uint64_t>(at);
}

}  // namespace bitwell::layout
