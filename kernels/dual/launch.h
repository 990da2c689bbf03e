// How dual is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../limits.h"
#include "../nvfp4/tile.h"

namespace dual {

constexpr int kThreads = 192;  // four warps that store, one that fetches, one that multiplies
constexpr int kBs = 2;         // operands B: the gate's, then the other

enum class Tiles { single, fixed };  // one a CTA; every (number of CTAs)th

// What a line of variants.inc says: a tile has 128 rows of D for each of its CTAs, 1 or a pair, and `n` columns.
struct Variant {
  const char* name;
  int n, ctas;
  Tiles tiles;
  int most_stages;

  constexpr nvfp4::Tile tile() const { return {n, ctas}; }
  constexpr int stage_bytes() const { return nvfp4::ring_stage_bytes(tile(), kBs); }
  // Tensor memory: both products' sums side by side, those of two tiles in turn where tile follows tile and there is room;
  // then the scales of a stage.
  constexpr int accumulators() const {
    return tiles == Tiles::fixed && 2 * kBs * n + nvfp4::ring_scale_columns(tile(), kBs) <= 512 ? 2 : 1;
  }
  constexpr int scale_column() const { return accumulators() * kBs * n; }
  constexpr int columns() const {
    return nvfp4::allocated(scale_column() + nvfp4::ring_scale_columns(tile(), kBs));
  }
  // Shared memory: the ring, its barriers and five small things of 8 bytes, and room to start at a multiple of 1024.
  constexpr int bytes(int stages) const { return stages * stage_bytes() + (2 * stages + 5) * 8 + 1024; }
  constexpr int stages() const {
    int count = most_stages;
    while (bytes(count) > kernels::kSharedLimit) --count;
    return count;
  }
  constexpr int shared_bytes() const { return bytes(stages()); }
};

#define DUAL(name, n, ctas, tiles, most_stages) {#name, n, ctas, Tiles::tiles, most_stages},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef DUAL

constexpr Variant variant(const char* name) { return nvfp4::named(kVariants, name); }

}  // namespace dual
