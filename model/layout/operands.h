// Operand tiles in shared memory, and which CTA of a pair holds what.
#pragma once
#include "model/layout/hardware.h"
#include "model/layout/shared_swizzle.h"

namespace bitwell::layout {

// What lies side by side in memory: elements along K, or along M or N.
enum class Major : uint8_t { k, mn };

// A tile of `rows` by k elements of `bits`, in units of elements: coordinates (row, k). K-major: atoms of 8
// rows by the swizzle's span (16 bytes without one) of K, stacked along the rows, then along K. MN-major: the
// same with rows and K exchanged, and atoms of 4 k where the swizzle's units are 32 bytes. LayoutError for
// what no MMA takes: MN-major elements below a byte, other swizzles.
Hardware operand_tile(int64_t rows, int64_t k, int64_t bits, SharedSwizzle swizzle, Major major = Major::k);

// Operands of one MMA tile.
enum class Operand : uint8_t { a, b, sfa, sfb };
// The rows of an operand's tile that one CTA holds when `ctas` (1 or 2) share the MMA: A, SFA and B are
// split, SFB is whole in both.
int64_t rows_of_cta(Operand operand, int64_t tile_m, int64_t tile_n, int ctas);

// Which CTA of a pair holds which row, as a layout (row, k byte[, cta]) over both CTAs' bytes.
Hardware pair_partition(Operand operand, int64_t tile_m, int64_t tile_n, int64_t k);

std::vector<Named> operand_layouts();

}  // namespace bitwell::layout
