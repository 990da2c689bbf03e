// What hopper_speed times: published shapes of the kernels for Hopper beside gemm, and what their peer
// multiplies.
#pragma once
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "experiments/gpu/fp16_gemm.h"
#include "verify/suite/chain.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"

namespace bitwell::gpu {

// An fp16 matrix on the GPU: buffer `buffer` of launch `launch`, of the kernel's chain (`ours`) or of the
// peer's dequantisers.
struct Half {
  bool ours;
  size_t launch, buffer;
};
struct Product {
  Fp16Gemm shape;
  Half a, b;
};

struct SpeedCase {
  std::string shape, kernel;
  double flops;  // multiplications and additions of all products
  suite::Chain chain;
  size_t result;  // fp16 buffer of its last launch
  // An element of the result, drawn at random, and its bits.
  std::function<std::pair<size_t, uint16_t>(std::mt19937_64&)> element;
  std::vector<suite::Nvfp4Operand> operands;  // that the peer dequantises, a launch each
  std::vector<Product> products;  // that it then multiplies; what our kernel does with the sums it leaves out
};

constexpr std::array<std::string_view, 3> kHopperFamilies{"grouped", "dual", "svdquant"};
// A family's shapes, one after another, each made when its turn comes. `ctas`: the GPU's multiprocessors.
std::vector<std::function<SpeedCase()>> hopper_cases(std::string_view family, const std::string& kernels,
                                                     int ctas);

}  // namespace bitwell::gpu
