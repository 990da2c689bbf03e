// How the NVFP4 kernels for Blackwell cut their operands: what their hosts and their device code share. Plain C++.
#pragma once

namespace nvfp4 {

constexpr int kRows = 128;   // rows of D a CTA
constexpr int kTileK = 256;  // elements of k a stage: 128 bytes, one swizzle
constexpr int kStep = 64;    // elements of k an MMA
constexpr int kAtom = 512;   // bytes of scales: 128 rows of one step
constexpr int kGroup = 16;   // elements that share a scale

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
  // Columns of tensor memory of a stage's scales, of A and of B.
  constexpr int scale_columns() const { return 16 + 16 * atoms(); }
  // The first atom that the i-th tile along n loads, and by how many columns its scales then start later.
  constexpr int first_atom(int i) const {
    return n == 32 ? i / 4 : n == 64 ? i / 2 : n == 192 ? 3 * (i / 2) + i % 2 : i * atoms();
  }
  constexpr int shift(int i) const { return n == 32 ? i % 4 : n == 64 || n == 192 ? 2 * (i % 2) : 0; }
};

// Bytes of a stage of nvfp4::Ring with `bs` operands B, and columns of their scales in tensor memory.
constexpr int ring_stage_bytes(const Tile& t, int bs) {
  return t.a_bytes() + t.scale_bytes() + bs * (t.b_bytes() + t.atoms() * t.scale_bytes());
}
constexpr int ring_scale_columns(const Tile& t, int bs) { return 16 + bs * 16 * t.atoms(); }

// Tensor memory is allocated in powers of two from 32 columns on.
constexpr int allocated(int columns) {
  int count = 32;
  while (count < columns) count *= 2;
  return count;
}

constexpr bool same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
// The row of a table that has that name, which there is.
template <class Row, unsigned long count>
constexpr Row named(const Row (&rows)[count], const char* name) {
  const Row* row = rows;
  while (!same(row->name, name)) ++row;
  return *row;
}

}  // namespace nvfp4
