// How svdquant is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../nvfp4/tile.h"

namespace svdquant {

constexpr int kThreads = 224;  // four warps that store, one that fetches A and B, one the LoRA operands, one that multiplies
constexpr int kTileN = 128;
constexpr int kRankStep = 16;  // elements of the rank an MMA
constexpr int kRankTile = 64;  // a LoRA stage: 128 bytes, one swizzle
constexpr int kMostRank = 256;

// How the MMAs of the two kinds follow each other: LoRA's spread evenly among the others, with a commit and a wait at every change
// of kind, or without; without, the first one behind the first of the others (the published kernel); or after all others.
enum class Order { ordered, unordered, early, serial };
constexpr bool unordered(Order order) { return order == Order::unordered || order == Order::early; }
// y = (main + lora) * wcscale + bias, sums in one accumulator (the published kernel); or y = main * wcscale + bias + lora, in two
// (the post, and nunchaku's formula).
enum class Definition { scaled_sum, apart };
// Tiles of y a CTA, or a pair: one; or every (number of them)th, the sums of two in turn where tensor memory holds them, or of one
// alone, and then one warp fetches all, a tile's LoRA operands before its others (the published kernel).
enum class Tiles { single, fixed, alone };
// The thread that multiplies waits first for a phase that never was; the flag to accumulate is off at each stage's first step; a
// LoRA stage's barrier expects all rows of up from each CTA of a pair, which holds half of them; both CTAs of a pair take their
// rows of y for the first one's; half of the stages that fit, which gives the right y later.
enum class Mistake { none, phase, frozen, whole_up, rank, half };

// Main steps for each LoRA step among them.
constexpr int lora_every(int main, int lora) { return lora > 0 && main / lora > 1 ? main / lora : 1; }
// How many of `lora` LoRA steps have been issued once `done` of `main` steps have: one after every (main / lora)th, those that are
// left behind the last.
constexpr int lora_after(Order order, int done, int main, int lora) {
  if (done == main) return lora;
  if (order == Order::serial) return 0;
  const int every = lora_every(main, lora), due = (order == Order::early ? done + every - 1 : done) / every;
  return due < lora ? due : lora;
}

// A line of variants.inc. `ctas`: that make 128 rows of y each, 1 or a pair. `bf16`: of the LoRA operands, wcscale, bias and y;
// else fp16. `stages`: of the main ring, as many as shared memory holds beside the LoRA stages: model/budget says how many.
struct Variant {
  const char* name;
  int ctas;
  Tiles tiles;
  Order order;
  Definition definition;
  bool bf16;
  int lora_stages, stages;
  Mistake mistake;

  constexpr nvfp4::Tile tile() const { return {kTileN, ctas}; }
  // Tensor memory: the sums, LoRA's own where they stand apart, of one tile or two; the scales of a stage.
  constexpr int sum_columns() const { return definition == Definition::apart ? 2 * kTileN : kTileN; }
  constexpr int lora_column() const { return sum_columns() - kTileN; }  // from a tile's sums on
  constexpr int accumulators() const {
    return tiles == Tiles::fixed && 2 * sum_columns() + nvfp4::ring_scale_columns(tile(), 1) <= 512 ? 2 : 1;
  }
  constexpr int scale_column() const { return accumulators() * sum_columns(); }
  constexpr int columns() const { return nvfp4::allocated(scale_column() + nvfp4::ring_scale_columns(tile(), 1)); }
  // Shared memory of a CTA: the ring, the LoRA stages (down's product, then the CTA's part of up), barriers and small things of 8
  // bytes, and room to start at a multiple of 1024.
  constexpr int up_rows() const { return kTileN / ctas; }
  constexpr int lora_bytes() const { return (nvfp4::kRows + up_rows()) * kRankTile * 2; }
  constexpr int shared_bytes() const {
    return stages * nvfp4::ring_stage_bytes(tile(), 1) + lora_stages * lora_bytes() +
           (2 * stages + 2 * lora_stages + 2 + 2 * accumulators()) * 8 + 1024;
  }
};

#define SVDQUANT(name, ctas, tiles, order, definition, bf16, lora_stages, stages, mistake) \
  {#name, ctas, Tiles::tiles, Order::order, Definition::definition, bf16 != 0, lora_stages, stages, Mistake::mistake},
inline constexpr Variant kVariants[] = {
#include "variants.inc"
};
#undef SVDQUANT

constexpr Variant variant(const char* name) { return nvfp4::named(kVariants, name); }

}  // namespace svdquant
