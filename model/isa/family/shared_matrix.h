// Matrices in shared memory as wgmma reads them: the 64-bit matrix descriptor and the layouts behind it
// (PTX ISA 9.0, 9.7.15.5.1.2).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/machine/memory.h"
#include "model/number/format.h"

namespace bitwell::isa {

// In bytes.
struct MatrixDescriptor {
  uint32_t start;        // low 18 bits of the shared memory address
  uint32_t leading;      // leading dimension byte offset
  uint32_t stride;       // stride dimension byte offset
  uint32_t span;         // of the swizzle: 128, 64, 32; 16: none
  uint32_t base_offset;  // where the pattern starts, in units of 128 bytes, modulo 8
};
// Throws Unsupported, by name, for a reserved bit that is set.
MatrixDescriptor decode_matrix_descriptor(uint64_t bits);

// Where the 16 bytes are that hold element (row, k) of a matrix whose rows are M or N; `bytes` of an element.
// `mn_major`: rows lie next to each other (transposed), else K does. The offset has all swizzling in it and
// stays below 2^18 as the hardware's does.
uint32_t chunk_of(const MatrixDescriptor& d, bool mn_major, uint32_t bytes, uint32_t row, uint32_t k);

// `rows` by `k` codes of `format`, [row][k]. Throws Fault where the descriptor leads out of shared memory or
// to bytes that hold nothing; `what` names the operand, `filling` says
// what is still to write 16 bytes of shared memory.
std::vector<uint32_t> read_matrix(const machine::Region& shared, const MatrixDescriptor& d, bool mn_major,
                                  const number::Format& format, size_t rows, size_t k, const char* what,
                                  const std::function<std::string(uint64_t at)>& filling);

}  // namespace bitwell::isa
