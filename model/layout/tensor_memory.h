// Where instructions put things in tensor memory: accumulators, the registers that tcgen05.ld and tcgen05.st
// move, the rows that tcgen05.cp copies. Pictures and execution take them from here.
#pragma once
#include <cstdint>

#include "model/layout/hardware.h"

namespace bitwell::layout {

inline constexpr int64_t kTensorColumns = 512;  // of 32 bits, in 128 lanes (PTX ISA 9.0, 9.7.16.1)

// The accumulator of an MMA of m by n by one CTA or two (PTX ISA 9.0, 9.7.16.10, data paths A, B and D to G):
// coordinates (row, column) of the whole tile, a cell each; of a pair the even CTA has the first half of the
// rows, and each CTA's rows stand alike. `stationary`: of tcgen05.mma.ws.
Hardware accumulator(int64_t m, int64_t n, int ctas, bool stationary = false);

// tcgen05.ld/st.<shape>.x<repeat>: coordinates (thread of the warp, register), addresses from the
// instruction's address on. 16x32bx2: the second half starts `split` columns on. `packed` (.pack::16b,
// .unpack::16b): a register has 16 bits of each of two columns, coordinates (thread, register, half).
Hardware fragment(const std::string& shape, int64_t repeat, int64_t split, bool packed = false);

// tcgen05.cp of a shape with its multicast ("128x256b", "64x128b.warpx2::02_13"; kCopyShapes): coordinates
// (row, byte of it, copy), addresses from the instruction's address on.
Hardware copied(const std::string& shape);
inline constexpr const char* kCopyShapes[] = {
    "128x256b", "128x128b", "4x256b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"};

// The cells that the coordinates of `h` stand in, the last axis fastest.
struct TensorCell {
  uint32_t lane, column;
};
std::vector<TensorCell> tensor_cells(const Hardware& h);

std::vector<Named> tensor_memory_layouts();

}  // namespace bitwell::layout
