// Scale-factor layouts of NVFP4 and the MX formats in global, shared and tensor memory.
#pragma once
#include "model/layout/hardware.h"

namespace bitwell::layout {

// The scale-factor atom: 128 rows by 4 scales in 512 bytes. Coordinates (row, scale).
// ((32,4),4):((16,4),1); with 16 elements a scale, as CuTe has it: ((32,4),(16,4)):((16,4),(0,1)).
Layout scale_factor_atom();
inline constexpr int64_t kAtomRows = 128;
inline constexpr int64_t kAtomScales = 4;
inline constexpr int64_t kAtomBytes = 512;

// scale_vec::NX of tcgen05.mma: how many elements share a scale, and how many scales of a row one MMA takes
// (PTX ISA 9.0, 9.7.16.7: 1X for mxf8f6f4, 2X for mxf4, 4X for NVFP4).
struct ScaleVec {
  const char* name;
  int64_t vector;   // elements a scale
  int64_t per_mma;  // scales of a row in one MMA: K = vector * per_mma
};
inline constexpr ScaleVec kScaleVecs[] = {{"1X", 32, 1}, {"2X", 32, 2}, {"4X", 16, 4}};

// Which scales the step-th MMA along K takes: the word's column (of 128-row or larger images: rows / 32
// columns a word), and the scale-factor id, its first byte in the word.
struct ScaleSelection {
  int64_t column, sf_id;
  bool operator==(const ScaleSelection&) const = default;
};
ScaleSelection scale_selection(const ScaleVec& scale_vec, int64_t rows, int64_t step);

// Where libraries differ in shared memory: CUTLASS C++ puts the atoms of one K step next to each other, the
// CuTe DSL the K steps of one block of 128 rows.
enum class SharedOrder : uint8_t { cutlass, dsl };

// All builders below take rows as the kernel has them (padded to the atom inside) and k in elements, `vector`
// elements a scale. Coordinates (row, scale, ...).
enum class Tiling : uint8_t { tile_128x4, tile_8x4, linear };
Hardware scales_global(int64_t rows, int64_t k, int64_t batch, int64_t vector, Tiling tiling);
Hardware scales_shared(int64_t rows, int64_t k, int64_t vector, SharedOrder order);
// In tensor memory after tcgen05.cp.32x128b.warpx4: coordinates (row, scale, copy).
Hardware scales_tensor(int64_t rows, int64_t k, int64_t vector);
// Of B for a tile of n columns, the tile-th along N: the MMA's view, (row, scale, copy), shifted where n is
// no multiple of 128. LayoutError for an n that the shift cannot serve.
Hardware scales_b_tensor(int64_t n, int64_t k, int64_t vector, int64_t tile);

// Columns by which the MMA's scale-factor address moves for the tile-th tile of n.
int64_t scale_b_shift(int64_t n, int64_t tile);
// The 128-row atoms, along N, that this tile loads: the first and how many.
struct AtomRange {
  int64_t first, count;
};
AtomRange scale_b_atoms(int64_t n, int64_t tile);

std::vector<Named> scale_factor_layouts();

}  // namespace bitwell::layout
