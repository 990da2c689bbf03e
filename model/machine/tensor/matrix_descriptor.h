// Matrices in shared memory as wgmma and tcgen05 find them: the 64-bit matrix descriptor and the layouts
// behind it (PTX ISA 9.0, 9.7.15.5.1.2 and 9.7.16.4).
#pragma once
#include <cstdint>

#include "model/layout/shared_swizzle.h"

namespace bitwell::machine {

// Whose descriptor it is. wgmma: the swizzle in bits 62 and 63. tcgen05: in bits 61 to 63, and 1 in bits 46
// to 48.
enum class DescriptorForm : uint8_t { wgmma, tcgen05 };

// In bytes.
struct MatrixDescriptor {
  uint32_t start;    // low 18 bits of the shared memory address
  uint32_t leading;  // leading dimension byte offset
  uint32_t stride;   // stride dimension byte offset
  layout::SharedSwizzle swizzle;
  uint32_t base_offset;  // where the pattern starts, in units of 128 bytes, modulo 8
};
// Throws Unsupported, by name, for a reserved bit that is set and for a leading dimension given as an
// address; Fault for a swizzle or a constant that tcgen05 does not have.
MatrixDescriptor decode_matrix_descriptor(DescriptorForm form, uint64_t bits);

// Where the 16 bytes are that hold element (row, k) of a matrix whose rows are M or N; `each` elements in 16
// bytes. `mn_major`: rows lie next to each other (transposed), else K does. The offset has all swizzling in
// it and stays below 2^18 as the hardware's does.
uint32_t chunk_of(const MatrixDescriptor& d, bool mn_major, uint32_t each, uint32_t row, uint32_t k);

}  // namespace bitwell::machine
