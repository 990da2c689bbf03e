// How dense is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../limits.h"

namespace dense {

constexpr int kRows = 128;     // rows of D a CTA
constexpr int kTileK = 256;    // elements of k a stage: 128 bytes, one swizzle
constexpr int kStep = 64;      // elements of k an MMA
constexpr int kAtom = 512;     // bytes of scales: 128 rows of one step
constexpr int kThreads = 192;  // four warps that store, one that fetches, one that multiplies
constexpr int kGroup = 16;     // elements that share a scale
constexpr int kBoxRows = 32;   // of D, rows of 128 bytes that a warp stages for one store by TMA
constexpr int kBoxBytes = kBoxRows * 128;
constexpr int kAnswers = 2;    // of cluster launch control, in turn

constexpr int up(int v, int to) { return (v + to - 1) / to; }

// What a line of variants.inc says.
enum class Output { f16, bf16, f32, nvfp4 };
enum class Tiles { single, fixed, asked };  // one a CTA; every (number of clusters)th; what cluster launch control gives
enum class Store { direct, tma };       // from registers; through shared memory by TMA, where D's rows are multiples of 16 bytes
enum class Start { late, early };       // early: tensor maps are prefetched, a lone CTA's ring is filled before all have met
enum class Scales { shifted, unshifted };  // whether odd tiles of 64 and 192 columns read B's scales from their middle: unshifted
                                           // is wrong
// Bytes of an element of D as the kernel stores it; NVFP4 stores two in one.
constexpr int bytes_of(Output o) { return o == Output::f32 ? 4 : o == Output::nvfp4 ? 1 : 2; }

// A tile of `n` columns, and of 128 rows for each of its CTAs: 1, or a pair.
struct Tile {
  int n, ctas;
  constexpr int atoms() const { return up(n, 128); }  // of 128 rows of scales of B
  // What a CTA holds of a stage.
  constexpr int a_bytes() const { return kRows * kTileK / 2; }
  constexpr int b_bytes() const { return n / ctas * kTileK / 2; }
  constexpr int scale_bytes() const { return kTileK / kStep * kAtom; }  // of 128 rows
  constexpr int stage_bytes() const { return a_bytes() + b_bytes() + (1 + atoms()) * scale_bytes(); }
  // Columns of tensor memory of a stage's scales, of A and of B.
  constexpr int scale_columns() const { return 16 + 16 * atoms(); }
  // The first atom that the i-th tile along n loads, and by how many columns its scales then start later.
  constexpr int first_atom(int i) const {
    return n == 32 ? i / 4 : n == 64 ? i / 2 : n == 192 ? 3 * (i / 2) + i % 2 : i * atoms();
  }
  constexpr int shift(int i) const { return n == 32 ? i % 4 : n == 64 || n == 192 ? 2 * (i % 2) : 0; }
};

// A kernel. Clusters: CTAs along m, of which each two neighbours are a pair where a tile has two, and along n; those of one
// row share A's tile, those of one column B's. `split` of them share k, along z.
struct Variant {
  const char* name;
  Tile tile;
  Output output;
  Tiles tiles;
  Store store;
  int cluster_m, cluster_n, split;
  Start start;
  Scales scales;

  constexpr int cluster() const { return cluster_m * cluster_n * split; }
  // CTAs that fetch parts of one tile of B for each other; of A, cluster_n do.
  constexpr int sharers_b() const { return cluster_m / tile.ctas; }
  // Rows in a box of A, and of B.
  constexpr int box_a() const { return kRows / cluster_n; }
  constexpr int box_b() const { return tile.n / tile.ctas / sharers_b(); }

  // Tensor memory: sums, those of two tiles in turn where tile follows tile and there is room; then a stage's scales of A and
  // of B. A power of two is allocated.
  constexpr int accumulators() const { return tiles != Tiles::single && 2 * tile.n + tile.scale_columns() <= 512 ? 2 : 1; }
  constexpr int sfa_column() const { return accumulators() * tile.n; }
  constexpr int sfb_column() const { return sfa_column() + 16; }
  constexpr int used_columns() const { return sfa_column() + tile.scale_columns(); }
  constexpr int columns() const {
    int count = 32;
    while (count < used_columns()) count *= 2;
    return count;
  }

  // Shared memory: the stages, D's boxes, the sums that the CTAs of a split send, barriers and small things, and room to start
  // at a multiple of 1024.
  // A warp's boxes of D: two in turn, or the only one.
  constexpr int boxes() const { return tiles == Tiles::single && tile.n * bytes_of(output) <= 128 ? 1 : 2; }
  constexpr int staging_bytes() const { return store == Store::tma ? 4 * boxes() * kBoxBytes : 0; }
  constexpr int partial_bytes() const { return split > 1 ? kRows * tile.n * 4 : 0; }
  constexpr int small_bytes(int stages) const { return (2 * stages + 16) * 8; }
  constexpr int bytes(int stages) const {
    return stages * tile.stage_bytes() + staging_bytes() + partial_bytes() + small_bytes(stages) + 1024;
  }
  constexpr int stages() const {
    int count = 8;
    while (bytes(count) > kernels::kSharedLimit) --count;
    return count;
  }
  constexpr int shared_bytes() const { return bytes(stages()); }

  // Stages of k that a CTA multiplies, of all.
  constexpr int stages_of(int k) const { return up(up(k, kTileK), split); }
};

#define DENSE(name, n, ctas, output, tiles, store, cluster_m, cluster_n, split, start, scales)                       \
  {#name, {n, ctas}, Output::output, Tiles::tiles, Store::store, cluster_m, cluster_n, split, Start::start, \
   Scales::scales},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef DENSE

constexpr bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
// The variant of that name, which there is.
constexpr Variant variant(const char* name) {
  const Variant* v = kVariants;
  while (!same(v->name, name)) ++v;
  return *v;
}

}  // namespace dense
