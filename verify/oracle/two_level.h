// NVFP4 quantisation with a scale for the tensor and one for 16 elements, as projects have it, in plain fp32
// operations each to nearest even, four of them by recorded words of a GPU (reciprocal.h): written from the
// recipes' formulas, nothing of model/.
#pragma once
#include <span>
#include <string_view>

#include "verify/oracle/epilogue.h"

namespace bitwell::oracle {

// 16 values of a tensor whose largest magnitude is `largest_of_all`, or what calibration has in its place; of
// a tensor of zeros that counts as 1. `recipe`: a line of kernels/quantise/variants.inc without "quantise_"
// (launch.h beside it has the formulas); std::invalid_argument for another. Values are finite; of "vllm",
// "tensorrt_llm" and "flashinfer" any, a NaN beside other numbers counting for no group's largest.
Nvfp4Group two_level(std::string_view recipe, std::span<const float, 16> values, float largest_of_all);

// What a code under a scale stands for.
float e2m1_value(uint8_t code);
float e4m3_value(uint8_t code);

}  // namespace bitwell::oracle
