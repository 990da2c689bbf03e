// Launches with what ptxas fuses.
#pragma once
#include <string>
#include <vector>

#include "verify/contraction/ptxas.h"
#include "verify/launch/launch.h"

namespace bitwell::launch {

// What ptxas makes of a file's text.
struct Fused {
  std::string ptx;  // the file
  contraction::ByPtxas by;
};

// Gives a launch, and those under `then`, modules with fma in place of the products and sums that ptxas fuses
// (contraction::contracted). Of the launch's own file first; one for each file. Throws InputError naming the
// file.
std::vector<Fused> fuse(Launch& launch);

// "ptxas 13.0.88 fuses 3 of 4 sums with products for sm_90a, the first in PTX line 45"; and a line for those
// that it cannot be told of. No file is named.
std::string describe(const contraction::ByPtxas& by);

}  // namespace bitwell::launch
