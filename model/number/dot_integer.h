// Dot products of 8-bit integers: exact, with 32 bits kept (PTX ISA 9.0, 9.7.16.10, kind::i8).
#pragma once
#include <cstdint>
#include <span>

namespace bitwell::number {

// Bytes along K, one a word, as two's complement or without a sign.
struct IntegerOperand {
  std::span<const uint32_t> codes;
  bool is_signed;
};

// d[row][column] = a[row] . b[column] + d[row][column], two's complement: exact, then held at the ends of the
// range where `saturate` says so, else its low 32 bits. Codes [row][k] and [column][k].
void integer_dot_tile(const IntegerOperand& a, const IntegerOperand& b, size_t k, size_t columns,
                      bool saturate, std::span<uint32_t> d);

}  // namespace bitwell::number
