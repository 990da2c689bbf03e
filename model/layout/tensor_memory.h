// Accumulators in tensor memory and the registers that tcgen05.ld and tcgen05.st move.
#pragma once
#include "model/layout/hardware.h"

namespace bitwell::layout {

inline constexpr int64_t kTensorColumns = 512;  // of 32 bits, in 128 lanes (PTX ISA 9.0, 9.7.16.1)

// The accumulator of an MMA of m by n by one CTA or two (PTX ISA 9.0, 9.7.16.10, data paths A, B and D to G):
// coordinates (row, column), this CTA's rows, a cell each. `stationary`: of tcgen05.mma.ws.
Hardware accumulator(int64_t m, int64_t n, int ctas, bool stationary = false);

// tcgen05.ld/st.<shape>.x<repeat>: coordinates (thread of the warp, register), addresses from the
// instruction's address on. 16x32bx2: the second half starts `split` columns on.
Hardware fragment(const std::string& shape, int64_t repeat, int64_t split);

std::vector<Named> tensor_memory_layouts();

}  // namespace bitwell::layout
