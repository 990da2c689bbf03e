// How the SVDQuant kernels for Hopper are told apart. Plain C++.
#pragma once
#include "launch.h"

namespace svdquant {

// A line of wgmma.inc. A tile has `tile_m` rows of y and 128 columns. `bf16`: of the LoRA operands, wcscale, bias and y; else fp16.
struct HopperVariant {
  const char* name;
  int tile_m;
  Definition definition;
  bool bf16;
};

#define SVDQUANT_WGMMA(name, tile_m, definition, bf16) {#name, tile_m, Definition::definition, bf16 != 0},
inline constexpr HopperVariant kHopperVariants[] = {
#include "wgmma.inc"
};
#undef SVDQUANT_WGMMA

}  // namespace svdquant
