// How svdquant is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../limits.h"
#include "../nvfp4/tile.h"

namespace svdquant {

constexpr int kThreads = 224;  // four warps that store, one that fetches A and B, one the LoRA operands, one that multiplies
constexpr int kTileN = 128;
constexpr nvfp4::Tile kTile{kTileN, 1};
constexpr int kRankStep = 16;  // elements of the rank an MMA
constexpr int kRankTile = 64;  // a LoRA stage: 128 bytes, one swizzle
constexpr int kMostRank = 256;
constexpr int kLoraBytes = (nvfp4::kRows + kTileN) * kRankTile * 2;  // of a LoRA stage: down's product, then up

// How the MMAs of the two kinds follow each other: LoRA's spread evenly among the others, with a commit and a wait at every change
// of kind, or without; or after all others.
enum class Order { ordered, unordered, serial };
// y = (main + lora) * wcscale + bias, sums in one accumulator (the published kernel); or y = main * wcscale + bias + lora, in two
// (the post, and nunchaku's formula).
enum class Definition { scaled_sum, apart };
// The thread that multiplies waits first for a phase that never was; the flag to accumulate is off at each stage's first step.
enum class Mistake { none, phase, frozen };

// How many of `lora` LoRA steps have been issued once `done` of `main` steps have: one after every (main / lora)th, those that are
// left behind the last.
constexpr int lora_after(Order order, int done, int main, int lora) {
  if (done == main) return lora;
  if (order == Order::serial) return 0;
  const int every = main / lora > 1 ? main / lora : 1;
  return done / every < lora ? done / every : lora;
}

// A line of variants.inc. `bf16`: of the LoRA operands, wcscale, bias and y; else fp16.
struct Variant {
  const char* name;
  Order order;
  Definition definition;
  bool bf16;
  int lora_stages;
  Mistake mistake;

  // Tensor memory: the sums, LoRA's own where they stand apart, the scales of a stage.
  constexpr int lora_column() const { return definition == Definition::apart ? kTileN : 0; }
  constexpr int scale_column() const { return lora_column() + kTileN; }
  constexpr int columns() const { return nvfp4::allocated(scale_column() + nvfp4::ring_scale_columns(kTile, 1)); }
  // Shared memory: the ring, the LoRA stages, barriers and small things of 8 bytes, and room to start at a multiple of 1024.
  constexpr int bytes(int stages) const {
    return stages * nvfp4::ring_stage_bytes(kTile, 1) + lora_stages * kLoraBytes + (2 * stages + 2 * lora_stages + 4) * 8 + 1024;
  }
  constexpr int stages() const {
    int count = 8;
    while (bytes(count) > kernels::kSharedLimit) --count;
    return count;
  }
  constexpr int shared_bytes() const { return bytes(stages()); }
};

#define SVDQUANT(name, order, definition, bf16, lora_stages, mistake) \
  {#name, Order::order, Definition::definition, bf16 != 0, lora_stages, Mistake::mistake},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef SVDQUANT

constexpr Variant variant(const char* name) { return nvfp4::named(kVariants, name); }

}  // namespace svdquant
