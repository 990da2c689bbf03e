// What NVFP4 GEMMs lose after quantisation: over an output tile, along k, by split of k and by output format.
#pragma once
#include "experiments/study/table.h"

namespace bitwell::study {

struct GemmErrorPlan {
  size_t m = 64, n = 64;                 // of the tile
  size_t least_k = 256, most_k = 16384;  // powers of two between
  uint64_t seed = 1;
};
// Rows: (family, k, sum, split, output) and the tile's statistics. Sums: tcgen05 kind::mxf4nvf4, wgmma on
// exact fp16 operands, wgmma with fp16 sums. Splits' sums are added in order in fp32, or handed over in the
// output's format.
Study gemm_error_study(const GemmErrorPlan& plan);
// Rows: (family, sum, m, n, error in ULP of the fp16 output) of one tile at the longest k.
Study gemm_error_map(const GemmErrorPlan& plan);

}  // namespace bitwell::study
