// How the SVDQuant kernels for Hopper are told apart. Plain C++.
#pragma once
#include "launch.h"

namespace svdquant {

// A line of wgmma.inc. `bf16`: of the LoRA operands, wcscale, bias and y; else fp16.
struct HopperVariant {
  const char* name;
  Definition definition;
  bool bf16;
};

#define SVDQUANT_WGMMA(name, definition, bf16) {#name, Definition::definition, bf16 != 0},
inline constexpr HopperVariant kHopperVariants[] = {
#include "wgmma.inc"
};
#undef SVDQUANT_WGMMA

}  // namespace svdquant
