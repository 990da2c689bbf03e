// The tensor maps through which the NVFP4 kernels for Blackwell fetch an operand (kernels/nvfp4/tile.h).
#pragma once
#include "kernels/nvfp4/tile.h"
#include "verify/launch/launch.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"

namespace bitwell::suite {

// Codes [l][rows][k], k innermost: boxes of a stage's elements of k, 128 bytes swizzled, by `box` rows.
machine::TensorMap code_map(const Nvfp4Operand& of, int box);
// Blocked scales, in atoms of 512 bytes: boxes of `steps` of k, most often those of one stage.
machine::TensorMap scale_map(const Nvfp4Operand& of, int steps = nvfp4::kTileK / nvfp4::kStep);

}  // namespace bitwell::suite
