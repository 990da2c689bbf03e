// How the kernels for RTX Blackwell cards are launched, and what their hosts and their code both count on. Plain C++.
#pragma once
#include "../limits.h"
#include "../nvfp4/tile.h"

namespace rtx {

using nvfp4::kAtom, nvfp4::kGroup, nvfp4::kRows, nvfp4::kStep, nvfp4::kTileK;
using nvfp4::up;

// The GEMM: four warps that multiply 32 rows of D each, and one that fetches.
constexpr int kMultipliers = 4;
constexpr int kGemmThreads = (kMultipliers + 1) * 32;
// The GEMV: rows of c a CTA, and warps that share k.
constexpr int kGemvRows = 16;
constexpr int kGemvWarps = 4;

enum class Output { f16, bf16, f32 };
constexpr int bytes_of(Output o) { return o == Output::f32 ? 4 : 2; }

// A GEMM kernel: tiles of kRows x n.
struct Variant {
  const char* name;
  int n;
  Output output;

  // Of a stage: A, B and their scales, of B the atom of 128 rows in which the tile's are.
  constexpr int a_bytes() const { return kRows * kTileK / 2; }
  constexpr int b_bytes() const { return n * kTileK / 2; }
  constexpr int scale_bytes() const { return kTileK / kStep * kAtom; }
  constexpr int stage_bytes() const { return a_bytes() + b_bytes() + 2 * scale_bytes(); }
  // The ring, its barriers, and room to start at a multiple of 1024.
  constexpr int bytes(int stages) const { return stages * stage_bytes() + 2 * stages * 8 + 1024; }
  constexpr int stages() const {
    int count = 8;
    while (bytes(count) > kernels::kRtxSharedLimit) --count;
    return count;
  }
  constexpr int shared_bytes() const { return bytes(stages()); }
};

#define RTX_GEMM(name, n, output) {#name, n, Output::output},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef RTX_GEMM

// The variant of that name, which there is.
constexpr Variant variant(const char* name) { return nvfp4::named(kVariants, name); }

}  // namespace rtx
