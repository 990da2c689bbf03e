// How dense is launched, and what its host and its code both count on. Plain C++.
#pragma once

namespace dense {

constexpr int kRows = 128;     // rows of D a CTA
constexpr int kTileK = 256;    // elements of k a stage: 128 bytes, one swizzle
constexpr int kStep = 64;      // elements of k an MMA
constexpr int kAtom = 512;     // bytes of scales: 128 rows of one step
constexpr int kThreads = 192;  // four warps that store, one that fetches, one that multiplies
constexpr int kShared = 232448;  // bytes a CTA may have on sm_100
inline constexpr int kTilesN[] = {64, 128, 192, 256};

constexpr int up(int v, int to) { return (v + to - 1) / to; }

// A tile of `n` columns, and of 128 rows for each of its CTAs: 1, or a pair.
struct Tile {
  int n, ctas;
  constexpr int atoms() const { return up(n, 128); }  // of 128 rows of scales of B
  // What a CTA holds of a stage.
  constexpr int a_bytes() const { return kRows * kTileK / 2; }
  constexpr int b_bytes() const { return n / ctas * kTileK / 2; }
  constexpr int scale_bytes() const { return kTileK / kStep * kAtom; }  // of 128 rows
  constexpr int stage_bytes() const { return a_bytes() + b_bytes() + (1 + atoms()) * scale_bytes(); }
  // Barriers and the address of tensor memory behind the stages, and room to start at a multiple of 1024.
  constexpr int barrier_bytes(int stages) const { return (2 * stages + 2) * 8 + 1024; }
  constexpr int stages() const {
    int count = 8;
    while (count * stage_bytes() + barrier_bytes(count) > kShared) --count;
    return count;
  }
  constexpr int shared_bytes() const { return stages() * stage_bytes() + barrier_bytes(stages()); }
  // Tensor memory: the sums, then scales of A, then of B; a power of two.
  constexpr int sfa_column() const { return n; }
  constexpr int sfb_column() const { return n + 16; }
  constexpr int columns() const { return n <= 64 ? 128 : n <= 192 ? 256 : 512; }
  // The first atom that the i-th tile along n loads, and by how many columns its scales then start later.
  constexpr int first_atom(int i) const { return n == 64 ? i / 2 : n == 192 ? 3 * (i / 2) + i % 2 : i * atoms(); }
  constexpr int shift(int i) const { return n == 64 || n == 192 ? 2 * (i % 2) : 0; }
};

}  // namespace dense
