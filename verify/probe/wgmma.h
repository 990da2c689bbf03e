// wgmma's matrix descriptors one by one: kernels that multiply matrices found in an image of shared memory by
// random descriptors of every swizzle and both majors. The GPU runs the same kernels.
#pragma once
#include <string>
#include <vector>

#include "model/number/dot.h"
#include "verify/launch/launch.h"

namespace bitwell::probe {

struct WgmmaVariant {
  std::string name;
  std::string spelling;  // the PTX opcode with its modifiers
  const number::Format* input;
  bool half_result;
  int n, k;
  bool a_in_registers;
  bool transpose_a, transpose_b;
  int scale_a, scale_b;  // 1 or -1
};
std::vector<WgmmaVariant> wgmma_variants();

std::string wgmma_module(const WgmmaVariant& v);  // entry "apply"
// `ctas` CTAs, each with descriptors of its own; the swizzles take turns. The last buffer is D.
launch::Launch wgmma_launch(const WgmmaVariant& v, uint32_t ctas, uint64_t seed);

// CTAs whose digest a device run records, drawn with seed 1.
inline constexpr uint32_t kWgmmaRecorded = 64;

}  // namespace bitwell::probe
