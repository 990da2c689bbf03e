// How quantise is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../nvfp4/tile.h"

namespace quantise {

constexpr int kThreads = 128;  // a thread makes 16 elements; one block, 128 rows of them

// Two-level recipes as projects have them. g: the tensor's largest magnitude, 1 for that of zeros; S = 2688 / g; largest: a group's;
// s: its scale as E4M3; ~: by the special-function unit, rcp.approx.ftz and div.full. All but fbgemm agree but for roundings and
// for groups that vanish.
enum class Recipe {
  transformer_engine,  // s = largest * (S * (1 / 6)); x * min(1 / (s * (1 / S)), FLT_MAX)
  torchao,             // s = (largest / 6) / (g / 2688), 2^-6 to 448; x * ((1 / (g / 2688)) / s)
  modelopt,            // s = largest / (6 * (g / 2688)), 0 made 1, 2^-9 to 448; x / (s * (g / 2688)), -0 made 0
  compressed_tensors,  // s = S * (largest / 6), 0 made 0.125; x / (s / S)
  vllm_emulation,      // s = S * (largest * (1 / 6)); x * (S / s), 0 where s is 0
  mslk,                // s = (largest / 6) * S; x * (S / s)
  vllm,                // s = S * (largest * ~(1 / 6)); x * ~(1 / (s * ~(1 / S))), 0 where s is 0
  tensorrt_llm,        // as vllm, but 0 where largest is 0
  flashinfer,          // as tensorrt_llm, but each subnormal number a zero, as -use_fast_math has it
  fbgemm               // s = ~(largest / 6) * S; x * ~(6 / largest), largest 2^-126 where it is 0
};

struct Variant {
  const char* name;
  bool hopper_alone;  // its bits on other GPUs are not known
};

#define QUANTISE(name) {#name, false},
#define QUANTISE_HOPPER(name) {#name, true},
inline constexpr Variant kNames[] = {
#include "variants.inc"
};
#undef QUANTISE_HOPPER
#undef QUANTISE
// The lines stand in the order of the recipes.
constexpr Recipe recipe_of(const char* name) {
  int i = 0;
  while (!nvfp4::same(kNames[i].name, name)) ++i;
  return static_cast<Recipe>(i);
}

}  // namespace quantise
