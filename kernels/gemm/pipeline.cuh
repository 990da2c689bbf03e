// The shared memory of gemm and its rings of stages.
#pragma once
#include "../limits.h"
#include "operand.cuh"

namespace gemm {

constexpr int kConsumers = 2;       // warpgroups, 64 rows of B each
constexpr int kPieces = 2;          // a consumer's, in turn
constexpr int kMaxStages = 12;
constexpr int fitting(int bytes, int stage) { return bytes / stage < kMaxStages ? bytes / stage : kMaxStages; }
constexpr int kOperandB = kTileN * kStep / 2;  // bytes of a stage: E2M1, rows of 32 bytes

// A tile of `tile_m` rows of A (columns of D's transpose), `split` CTAs sharing k.
template <int tile_m, int split>
struct Plan {
  static constexpr int kA = tile_m * kStep * 2;  // bytes of a stage: fp16, 128-byte swizzle
  static constexpr int kB = kOperandB;
  static constexpr int kStage = kA + kB + kScaleAtom;
  static constexpr int kStaging = kConsumers * kPieces * kPieceBytes;
  static constexpr int kSlice = (tile_m / 16 + split - 1) / split * 16;  // rows of D that a CTA of a split finishes
  static constexpr int kPartials = split > 1 ? split * kSlice * kTileN * 4 : 0;  // what the CTAs of a split send
  static constexpr int kBarriers = (2 * kMaxStages + 2) * 8;
  static constexpr int kFits = (kernels::kSharedLimit - 1024 - kStaging - kPartials - kBarriers) / kStage;
  static constexpr int kStages = kFits < kMaxStages ? kFits : kMaxStages;

  // Offsets from the first multiple of 1024.
  static constexpr int kAt_A = 0;
  static constexpr int kAt_Staging = kStages * kA;
  static constexpr int kAt_Partials = kAt_Staging + kStaging;
  static constexpr int kAt_B = kAt_Partials + kPartials;
  static constexpr int kAt_Scales = kAt_B + kStages * kB;
  static constexpr int kAt_Barriers = kAt_Scales + kStages * kScaleAtom;
  static constexpr int kBytes = kAt_Barriers + kBarriers + 1024;
};

// A place in the ring and the parity of its round.
struct Slot {
  int stage = 0;
  uint32_t parity = 0;
  template <int stages>
  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace gemm
