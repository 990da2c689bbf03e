// How grouped is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../limits.h"
#include "../nvfp4/tile.h"

namespace grouped {

constexpr int kThreads = 192;   // four warps that store, one that fetches, one that multiplies
constexpr int kMostGroups = 8;  // of a launch
constexpr int kTileN = 128;
constexpr nvfp4::Tile kTile{kTileN, 1};

// One GEMM of a launch, as the kernel reads it from global memory. Offsets from the operands' buffers: a, b, sfa, sfb in bytes, d
// in elements.
struct Group {
  int m, n, k;
  int first_tile;  // of the launch's tiles, which go down m, then along n, group after group
  long long a, b, sfa, sfb, d;

  constexpr int tiles() const { return nvfp4::up(m, nvfp4::kRows) * nvfp4::up(n, kTileN); }
};

enum class Warps { one, two };            // one thread fetches and multiplies in turn, or each has a warp
enum class Tiles { single, persistent };  // one a CTA; every (number of CTAs)th, over all groups
enum class Maker { host, device };        // of the groups' tensor maps: parameters, or made by each CTA

// What a line of variants.inc says.
struct Variant {
  const char* name;
  Warps warps;
  int stages;
  Tiles tiles;
  Maker maker;

  // Tensor memory: the sums of a tile, of two in turn where tile follows tile; then the scales of a stage.
  constexpr int accumulators() const { return tiles == Tiles::persistent ? 2 : 1; }
  constexpr int scale_column() const { return accumulators() * kTileN; }
  constexpr int columns() const { return nvfp4::allocated(scale_column() + nvfp4::ring_scale_columns(kTile, 1)); }
  // Shared memory: the ring, four tensor maps, the ring's barriers and five small things of 8 bytes, and room to start at a
  // multiple of 1024.
  constexpr int shared_bytes() const {
    return stages * nvfp4::ring_stage_bytes(kTile, 1) + 4 * 128 + (2 * stages + 5) * 8 + 1024;
  }
};

#define GROUPED(name, warps, stages, tiles, maker) {#name, Warps::warps, stages, Tiles::tiles, Maker::maker},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef GROUPED

constexpr Variant variant(const char* name) { return nvfp4::named(kVariants, name); }

}  // namespace grouped
