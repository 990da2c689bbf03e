// NVFP4 quantisation with a scale for the tensor and one for 16 elements, as projects have it, in plain fp32
// operations each to nearest even: written from the recipes' formulas, nothing of model/.
#pragma once
#include <span>
#include <string_view>

#include "verify/oracle/epilogue.h"

namespace bitwell::oracle {

// 16 finite values of a tensor whose largest magnitude is `largest_of_all`; of a tensor of zeros that counts
// as 1. `recipe`: "transformer_engine", "torchao", "modelopt", "compressed_tensors" or "vllm_emulation"
// (kernels/quantise/launch.h has the formulas); std::invalid_argument for another.
Nvfp4Group two_level(std::string_view recipe, std::span<const float, 16> values, float largest_of_all);

// What a code under a scale stands for.
float e2m1_value(uint8_t code);
float e4m3_value(uint8_t code);

}  // namespace bitwell::oracle
