// How quantise is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../nvfp4/tile.h"

namespace quantise {

constexpr int kThreads = 128;  // a thread makes 16 elements; one block, 128 rows of them

// Two-level recipes as projects have them, which agree but for roundings. g: the tensor's largest magnitude, 1 for that of zeros;
// S = 2688 / g; largest: a group's; s: its scale as E4M3.
enum class Recipe {
  transformer_engine,   // s = largest * (S * (1 / 6)); x * min(1 / (s * (1 / S)), FLT_MAX)
  torchao,              // s = (largest / 6) / (g / 2688), 2^-6 to 448; x * ((1 / (g / 2688)) / s)
  modelopt,             // s = largest / (6 * (g / 2688)), 0 made 1, 2^-9 to 448; x / (s * (g / 2688)), -0 made 0
  compressed_tensors,   // s = S * (largest / 6), 0 made 0.125; x / (s / S)
  vllm_emulation        // s = S * (largest * (1 / 6)); x * (S / s), 0 where s is 0
};

struct Variant {
  const char* name;
  Recipe recipe;
};

#define QUANTISE(name) {#name, Recipe{}},
inline constexpr Variant kNames[] = {
#include "variants.inc"
};
#undef QUANTISE
// The lines stand in the order of the recipes.
constexpr Recipe recipe_of(const char* name) {
  int i = 0;
  while (!nvfp4::same(kNames[i].name, name)) ++i;
  return static_cast<Recipe>(i);
}

}  // namespace quantise
