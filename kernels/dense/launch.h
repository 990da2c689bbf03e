// How dense is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../limits.h"
#include "../nvfp4/tile.h"

namespace dense {

using nvfp4::kAtom, nvfp4::kGroup, nvfp4::kRows, nvfp4::kStep, nvfp4::kTileK;
using nvfp4::Tile, nvfp4::up;
constexpr int kThreads = 192;  // four warps that store, one that fetches, one that multiplies
constexpr int kBoxRows = 32;   // of D, rows of 128 bytes that a warp stages for one store by TMA
constexpr int kBoxBytes = kBoxRows * 128;
constexpr int kOverlap = 64;   // columns of tensor memory that the sums of two tiles share, where they do: a box of D of fp16
constexpr int kAnswers = 2;    // of cluster launch control, in turn

// What a line of variants.inc says.
enum class Output { f16, bf16, f32, nvfp4 };
enum class Tiles { single, fixed, asked };  // one a CTA; every (number of clusters)th; what cluster launch control gives
enum class Store { direct, tma };       // from registers; through shared memory by TMA, where D's rows are multiples of 16 bytes
enum class Start { late, early };       // early: tensor maps are prefetched, a lone CTA's ring is filled before all have met
enum class Scales { shifted, unshifted };  // whether odd tiles of 64 and 192 columns read B's scales from their middle: unshifted
                                           // is wrong
enum class Sums { apart, overlapped };  // those of two tiles in turn; overlapped: the last columns of one are the other's first
enum class Multicast { codes, scales };  // what CTAs of a cluster fetch for each other: codes; scales too
// Bytes of an element of D as the kernel stores it; NVFP4 stores two in one.
constexpr int bytes_of(Output o) { return o == Output::f32 ? 4 : o == Output::nvfp4 ? 1 : 2; }

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
  Sums sums;
  Multicast multicast;

  constexpr int cluster() const { return cluster_m * cluster_n * split; }
  // CTAs that fetch parts of one tile of B for each other; of A, cluster_n do.
  constexpr int sharers_b() const { return cluster_m / tile.ctas; }
  // Rows in a box of A, and of B.
  constexpr int box_a() const { return kRows / cluster_n; }
  constexpr int box_b() const { return tile.n / tile.ctas / sharers_b(); }

  // Steps of k in a box of A's scales, and of B's: both CTAs of a pair have all of B's.
  constexpr int steps_sfa() const { return kTileK / kStep / (multicast == Multicast::scales ? cluster_n : 1); }
  constexpr int steps_sfb() const { return kTileK / kStep / (multicast == Multicast::scales ? cluster_m : 1); }

  // Tensor memory: sums, those of two tiles in turn where tile follows tile and there is room; then a stage's scales of A and
  // of B. A power of two is allocated.
  constexpr int overlap() const { return sums == Sums::overlapped ? kOverlap : 0; }
  constexpr int accumulators() const {
    return tiles != Tiles::single && 2 * tile.n - overlap() + tile.scale_columns() <= 512 ? 2 : 1;
  }
  constexpr int accumulator_column(int i) const { return i * (tile.n - overlap()); }
  constexpr int sfa_column() const { return accumulator_column(accumulators() - 1) + tile.n; }
  constexpr int sfb_column() const { return sfa_column() + 16; }
  constexpr int used_columns() const { return sfa_column() + tile.scale_columns(); }
  constexpr int columns() const { return nvfp4::allocated(used_columns()); }

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

#define DENSE(name, n, ctas, output, tiles, store, cluster_m, cluster_n, split, start, scales, sums, multicast)  \
  {#name, {n, ctas}, Output::output, Tiles::tiles, Store::store, cluster_m, cluster_n, split, Start::start, \
   Scales::scales, Sums::sums, Multicast::multicast},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef DENSE

// The variant of that name, which there is.
constexpr Variant variant(const char* name) { return nvfp4::named(kVariants, name); }

}  // namespace dense
