// Loads and stores of a whole warp that reaches a run of bytes, or all of whose lanes read the same ones.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bitwell::isa {

// How far a row's addresses are apart from lane to lane. Rows of 32-bit lanes count modulo 2^32.
enum class Apart : uint8_t {
  otherwise,
  whole,   // the size of the access: a run of bytes
  nothing  // all are the same
};

// Lane after lane the elements of its access, to one row for each; `to` are the rows' places. False, with
// nothing done, where a byte is not wholly written by `defined`; nullptr: all are.
using LoadRows = bool (*)(const std::byte* from, const uint8_t* defined, std::byte* rows, const uint32_t* to);
// The way back; all that is stored is marked as written in `defined`, if given.
using StoreRows = void (*)(const std::byte* rows, const uint32_t* from, std::byte* to, uint8_t* defined);

// The moves for elements of `size` bytes in registers of `register_bytes`, 1, 2, 4 or 8 of them; nullptr for
// what no load or store has.
struct RowMoves {
  Apart (*wide)(const uint64_t* row, size_t size);
  Apart (*narrow)(const uint32_t* row, size_t size);
  LoadRows (*load)(size_t size, size_t register_bytes, bool is_signed, size_t count);
  // Every lane reads the same.
  LoadRows (*load_same)(size_t size, size_t register_bytes, bool is_signed, size_t count);
  StoreRows (*store)(size_t size, size_t register_bytes, size_t count);
};

// For the widest instruction set that this host has.
const RowMoves& row_moves();

}  // namespace bitwell::isa
