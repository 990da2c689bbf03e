// What the NVFP4 kernels for Hopper have in common on the host (kernels/gemm): operand A decoded to fp16 by a
// launch before, tensor maps, and the sums that wgmma gives.
#pragma once
#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/nvfp4/nvfp4_sums.h"
#include "verify/suite/suite.h"

namespace bitwell::suite {

constexpr size_t kDecoded = 2;  // buffer of decode_launch: fp16 [l][rows][whole steps of 64]

// gemm_decode of an operand with blocked scales.
launch::Launch decode_launch(const Nvfp4Operand& a, const Build& build);

// A box of a rank 3 map, rows of `pitch` bytes: `box` elements of 64 k or a column, by rows.
machine::TensorMap box3(machine::TensorType type, int element, std::array<int, 3> dims, int pitch,
                        std::array<uint32_t, 2> box, machine::TensorSwizzle swizzle);
// Decoded A, in boxes of a step by `rows`; B's codes as bytes, in boxes of a step by a tile.
machine::TensorMap decoded_map(int m, int k, int l, int rows);
machine::TensorMap code_bytes_map(int n, int k, int l);

// Of a kernel that is given all shared memory and makes a ring of it (kernels/gemm/ring.cuh): rows of A's
// tile, operands B of a stage, and tensor maps that a CTA makes.
Reserves ring_reserves(int tile_m, int bs, int maps);

// What few cases show, and no GPU records. Numbers of rows of A: the first row that is not stored stands at
// every place among those of a thread. And a k whose stages go round every ring nine times: an arrival too
// few in each of eight makes a phase of its own.
std::vector<int> numbers_of_rows(int tile_m);
constexpr int kNineRounds = 64 * 100;

// The fp32 sum of two rows by wgmma k16 after k16 in the kernels' order of k, the sign of scales counted.
uint32_t wgmma_sum(const Nvfp4Operand::Row& a, const Nvfp4Operand::Row& b);
// Of all rows; as nvfp4_sums otherwise.
Nvfp4Sums wgmma_sums(const Nvfp4Operand& a, const Nvfp4Operand& b, bool exact);

}  // namespace bitwell::suite
