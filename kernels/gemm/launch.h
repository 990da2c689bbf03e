// How gemm is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include <algorithm>

namespace gemm {

constexpr int kStep = 64;          // elements of k
constexpr int kTileN = 128;        // rows of B a CTA
constexpr int kPieceBytes = 8192;  // of D, staged for one store: 64 columns
constexpr int kThreads = 384;
constexpr int kPrepareThreads = 128;  // of gemm_decode and gemm_pad_rows

struct Variant {
  int m, split;  // rows of A; CTAs of a cluster that share k
};
#define GEMM_TILE(m, split) {m, split},
#define GEMM_OUTPUT(name)
inline constexpr Variant kTiles[] = {
#include "variants.inc"
};
#undef GEMM_TILE
#undef GEMM_OUTPUT
#define GEMM_TILE(m, split)
#define GEMM_OUTPUT(name) #name,
inline constexpr const char* kOutputs[] = {
#include "variants.inc"
};
#undef GEMM_TILE
#undef GEMM_OUTPUT

inline int up(int v, int to) { return (v + to - 1) / to; }
inline int steps_of(int k) { return up(k, kStep); }
// Of a CTA, where `split` share k.
inline int steps_of_part(int k, int split) { return up(steps_of(k), split); }
// Bytes of a row of B: TMA takes multiples of 16.
inline int pitch_of(int k) { return up(k / 2, 16) * 16; }
// Clusters' worth of tiles of D, where `peers` CTAs share A's tile.
inline int tiles_of(int tile_m, int m, int n, int l, int peers) {
  return up(m, tile_m) * up(up(n, kTileN), peers) * l;
}
// Rows of D in one store. A whole number of stores makes the rows that a CTA of a split finishes: 16 of 48 where three
// share k.
inline int stored_rows(const Variant& tile, int element_bytes) {
  return tile.split == 3 ? 16 : std::min(kPieceBytes / (64 * element_bytes), tile.m / tile.split);
}
// The element of a step of k that both operands hold at a place, as operand.cuh says why: within a step, wgmma s has at
// 2 c + 8 h + o the element 16 c + 8 (s / 2) + s % 2 + 4 h + 2 o.
inline int element_at(int place) {
  const int s = place / 16;
  const int c = place % 8 / 2;
  const int h = place % 16 / 8;
  const int o = place % 2;
  return 16 * c + 8 * (s / 2) + s % 2 + 4 * h + 2 * o;
}

struct Choice {
  Variant tile;
  int peers, clusters;
};
// The tile, peers and clusters for a shape on a GPU that runs `at_once(size)` clusters of that many CTAs.
template <class AtOnce>
Choice choose(int m, int n, int k, int l, AtOnce at_once) {
  Choice best{};
  double least = 0;
  for (const Variant& tile : kTiles)
    for (const int peers : {1, 2}) {
      const int tiles = tiles_of(tile.m, m, n, l, peers);
      const int clusters = std::min(tiles, at_once(peers * tile.split));
      if (clusters == 0) continue;
      // Time of a CTA in steps of a 128-row tile, as an H200 shows it: a wider tile uses the tensor cores better, sums
      // take twelve steps to leave, the parts of a split a few to meet; shared tiles gain little.
      const double one = steps_of_part(k, tile.split) * (tile.m == 256 ? 1.7 : 1.0) + 12.0 * tile.m / 128 / tile.split +
                         (tile.split > 1 ? 4 : 0);
      const double time = up(tiles, clusters) * one * (peers == 2 ? 0.99 : 1.0);
      if (least == 0 || time < least) {
        least = time;
        best = {tile, peers, clusters};
      }
    }
  return best;
}

}  // namespace gemm
