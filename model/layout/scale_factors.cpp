#include "model/layout/scale_factors.h"

#include "model/layout/algebra.h"

namespace bitwell::layout {
namespace {

using Items = std::vector<Tuple>;

constexpr const char* kPublished =
    "published: eleven libraries agree, CUTLASS host reference, values seen on a B200";
constexpr const char* kManual = "manual; CUTLASS 4.7 prints the same layouts; no Blackwell was run";

int64_t scales_of(int64_t k, int64_t vector) {
  if (k % vector != 0)
    throw LayoutError("k = " + std::to_string(k) + " is no multiple of the " + std::to_string(vector) +
                      " elements of a scale");
  return k / vector;
}

const ScaleVec& scale_vec_of(const Parameters& all) {
  const std::string name = choice(all, "scale-vec", {"1X", "2X", "4X"});
  for (const ScaleVec& v : kScaleVecs)
    if (name == v.name) return v;
  throw LayoutError("scale-vec");  // choice() has refused all others
}

// How the MMAs of a tile walk through its scales.
void note_selection(Hardware& h, const ScaleVec& v, int64_t rows) {
  const int64_t steps = h.axes[1].extent / v.per_mma;
  std::string walk;
  for (int64_t s = 0; s < steps && s < 4; ++s) {
    const ScaleSelection at = scale_selection(v, rows, s);
    walk += (s > 0 ? ", " : "") + std::string("(") + std::to_string(at.column) + ", " +
            std::to_string(at.sf_id) + ")";
  }
  h.notes.push_back("scale_vec::" + std::string(v.name) +
                    ": an MMA has K = " + std::to_string(v.vector * v.per_mma) +
                    "; step by step its (column, sf id) is " + walk + (steps > 4 ? ", ..." : ""));
}

}  // namespace

Layout scale_factor_atom() { return {Items{Items{32, 4}, 4}, Items{Items{16, 4}, 1}}; }

Hardware scales_global(int64_t rows, int64_t k, int64_t batch, int64_t vector, Tiling tiling) {
  const int64_t scales = scales_of(k, vector);
  Hardware h;
  h.space = Space::global;
  if (tiling == Tiling::linear) {
    h.layout.layout = Layout(Items{rows, scales, batch}, Items{scales, 1, multiply(rows, scales)});
    h.axes = {{"row", rows}, {"scale", scales}, {"batch", batch}};
    h.source = "checkpoints of torchao, compressed-tensors, ModelOpt";
    h.evidence = "published";
  } else if (tiling == Tiling::tile_8x4) {
    const int64_t r8 = ceil_divide(rows, 8);
    const int64_t c4 = ceil_divide(scales, 4);
    h.layout.layout = Layout(Items{Items{8, r8}, Items{4, c4}, batch},
                             Items{Items{4, 32 * c4}, Items{1, 32}, multiply(r8 * c4, 32)});
    h.axes = {{"row", 8 * r8}, {"scale", 4 * c4}, {"batch", batch}};
    h.source = "FlashInfer and TensorRT-LLM, small-M kernels";
    h.evidence = "published";
  } else {
    // The atom repeated: along K first, then rows, then batches.
    const int64_t mb = ceil_divide(rows, kAtomRows);
    const int64_t kb = ceil_divide(scales, kAtomScales);
    h.layout.layout =
        tile_to_shape(scale_factor_atom(), Items{multiply(mb, kAtomRows), multiply(kb, kAtomScales), batch},
                      Tuple(Items{2, 1, 3}));
    h.axes = {{"row", mb * kAtomRows}, {"scale", kb * kAtomScales}, {"batch", batch}};
    h.source = "CUTLASS Sm1xxBlockScaledConfig::tile_atom_to_shape_SFA; cuBLASLt VEC16_UE4M3";
    h.evidence = kPublished;
    if (mb * kAtomRows != rows)
      h.notes.push_back("rows " + std::to_string(rows) + " to " + std::to_string(mb * kAtomRows - 1) +
                        " are padding: in memory, read by TMA");
    if (kb * kAtomScales != scales)
      h.notes.push_back("scales " + std::to_string(scales) + " to " + std::to_string(kb * kAtomScales - 1) +
                        " are padding: in memory, read by TMA");
  }
  h.region = cosize(h.layout.layout);
  return h;
}

Hardware scales_shared(int64_t rows, int64_t k, int64_t vector, SharedOrder order) {
  const int64_t blocks = ceil_divide(rows, kAtomRows);
  const int64_t steps = ceil_divide(scales_of(k, vector), kAtomScales);
  const bool cutlass = order == SharedOrder::cutlass;
  Hardware h;
  h.space = Space::shared;
  h.layout.layout = tile_to_shape(scale_factor_atom(), Items{blocks * kAtomRows, steps * kAtomScales},
                                  Tuple(cutlass ? Items{1, 2} : Items{2, 1}));
  h.axes = {{"row", blocks * kAtomRows}, {"scale", steps * kAtomScales}};
  h.region = cosize(h.layout.layout);
  h.source = cutlass ? "CUTLASS C++ deduce_smem_layoutSFA/SFB" : "CuTe DSL make_smem_layout_sfa/sfb";
  h.evidence = "published: read from CUTLASS 4.7, its printed layouts";
  if (blocks * kAtomRows != rows)
    h.notes.push_back("padded to " + std::to_string(blocks * kAtomRows) +
                      " rows: tcgen05.cp copies atoms of 128 rows");
  if (blocks > 1)
    h.notes.push_back(
        "CUTLASS C++ and the CuTe DSL order these atoms differently; their tensor-memory image is the same");
  return h;
}

Hardware scales_tensor(int64_t rows, int64_t k, int64_t vector) {
  const int64_t words = ceil_divide(rows, kAtomRows) * 4;  // 32-row chunks: columns of one K step
  const int64_t steps = ceil_divide(scales_of(k, vector), kAtomScales);
  Hardware h;
  h.space = Space::tensor;
  h.layout.layout = Layout(Items{Items{32, words}, Items{4, steps}, 4},
                           Items{Items{kLane, kColumn}, Items{1, words * kColumn}, 32 * kLane});
  h.axes = {{"row", 32 * words}, {"scale", 4 * steps}, {"copy", 4}};
  h.region = words * steps;
  h.source = "PTX ISA 9.0, 9.7.16.7 (scale-factor layouts); tcgen05.cp.32x128b.warpx4";
  h.evidence = kManual;
  h.notes.push_back(
      "every 32 rows stand in one column, in lanes 0 to 31; warpx4 repeats them in lanes 32, 64 and 96");
  return h;
}

int64_t scale_b_shift(int64_t n, int64_t tile) {
  if (n == 128 || n == 256) return 0;
  if (n == 64 || n == 192) return 2 * (tile % 2);
  if (n == 32)
    throw LayoutError(
        "n = 32: tiles would start one column apart inside a 128-row atom, and the scale-factor address of "
        "SFB "
        "must be a multiple of 2 columns");
  throw LayoutError("n = " + std::to_string(n) + " has no SFB layout, expected 64, 128, 192 or 256");
}

AtomRange scale_b_atoms(int64_t n, int64_t tile) {
  scale_b_shift(n, tile);  // for what it refuses
  if (n == 64) return {tile / 2, 1};
  if (n == 192) return {3 * (tile / 2) + tile % 2, 2};
  return {tile * (n / kAtomRows), n / kAtomRows};
}

ScaleSelection scale_selection(const ScaleVec& scale_vec, int64_t rows, int64_t step) {
  const int64_t scale = step * scale_vec.per_mma;
  return {scale / kAtomScales * (rows / 32), scale % kAtomScales};
}

Hardware scales_b_tensor(int64_t n, int64_t k, int64_t vector, int64_t tile) {
  const int64_t shift = scale_b_shift(n, tile);
  const AtomRange atoms = scale_b_atoms(n, tile);
  Hardware h = scales_tensor(atoms.count * kAtomRows, k, vector);
  // Rows of this tile only: n / 32 chunks of the image, from the shifted column on.
  const Tuple& shape = h.layout.layout.shape();
  const Tuple& stride = h.layout.layout.stride();
  h.layout.layout = Layout(Items{Items{32, n / 32}, shape.items[1], shape.items[2]},
                           Items{stride.items[0], stride.items[1], stride.items[2]});
  h.layout.offset = shift * kColumn;
  h.axes[0].extent = n;
  h.notes.push_back("tile " + std::to_string(tile) + " loads the atoms of rows " +
                    std::to_string(atoms.first * kAtomRows) + " to " +
                    std::to_string((atoms.first + atoms.count) * kAtomRows - 1));
  if (shift != 0)
    h.notes.push_back("the MMA's SFB address is " + std::to_string(shift) + " columns on: the first " +
                      std::to_string(32 * shift) + " rows loaded belong to the tile before");
  return h;
}

std::vector<Named> scale_factor_layouts() {
  static const ParameterHelp scale_vec{"scale-vec", "4X",
                                       "4X (NVFP4, 16 elements a scale), 2X (MXFP4, 32) or 1X (MXFP8, 32)"};
  return {
      {"sf-atom",
       "The scale-factor atom: 128 rows by 4 scales in 512 bytes",
       {},
       [](const Parameters&) {
         Hardware h;
         h.space = Space::global;
         h.layout.layout = scale_factor_atom();
         h.axes = {{"row", kAtomRows}, {"scale", kAtomScales}};
         h.region = kAtomBytes;
         h.source = "CUTLASS Sm1xxBlockScaledBasicChunk; PTX ISA 9.0, 9.7.16.7";
         h.evidence = kPublished;
         return h;
       }},
      {"sf-global",
       "Scale factors of a whole operand in global memory",
       {{"rows", "256", "rows of A, or columns of B"},
        {"k", "256", "elements along K"},
        {"batch", "1", "batches"},
        {"tiling", "128x4", "128x4, 8x4 or linear"},
        scale_vec},
       [](const Parameters& p) {
         const std::string t = choice(p, "tiling", {"128x4", "8x4", "linear"});
         return scales_global(number(p, "rows", 1, 1 << 30), number(p, "k", 1, 1 << 30),
                              number(p, "batch", 1, 1 << 20), scale_vec_of(p).vector,
                              t == "128x4" ? Tiling::tile_128x4
                              : t == "8x4" ? Tiling::tile_8x4
                                           : Tiling::linear);
       }},
      {"sf-smem",
       "Scale factors of one tile in shared memory",
       {{"rows", "128", "rows of the tile: M of a CTA for SFA, N for SFB (all N, also with two CTAs)"},
        {"k", "256", "elements along K of the tile"},
        {"order", "dsl", "of the atoms: cutlass (C++) or dsl"},
        scale_vec},
       [](const Parameters& p) {
         return scales_shared(
             number(p, "rows", 1, 256), number(p, "k", 1, 1 << 20), scale_vec_of(p).vector,
             choice(p, "order", {"cutlass", "dsl"}) == "dsl" ? SharedOrder::dsl : SharedOrder::cutlass);
       }},
      {"sfa-tmem",
       "SFA of one tile in tensor memory",
       {{"m", "128", "rows of a CTA"}, {"k", "256", "elements along K of the tile"}, scale_vec},
       [](const Parameters& p) {
         Hardware h =
             scales_tensor(number(p, "m", 128, 128), number(p, "k", 1, 1 << 13), scale_vec_of(p).vector);
         note_selection(h, scale_vec_of(p), 128);
         return h;
       }},
      {"sfb-tmem",
       "SFB of one tile in tensor memory, as the MMA sees it",
       {{"n", "128", "columns of the tile: 64, 128, 192 or 256 (all N, also with two CTAs)"},
        {"k", "256", "elements along K of the tile"},
        {"tile", "0", "which tile along N: odd ones of 64 and 192 start inside an atom"},
        scale_vec},
       [](const Parameters& p) {
         const int64_t n = number(p, "n", 1, 256);
         const int64_t tile = number(p, "tile", 0, 1 << 20);
         Hardware h = scales_b_tensor(n, number(p, "k", 1, 1 << 13), scale_vec_of(p).vector, tile);
         note_selection(h, scale_vec_of(p), scale_b_atoms(n, tile).count * kAtomRows);
         return h;
       }},
  };
}

}  // namespace bitwell::layout
