// The NVFP4 quantiser of kernels/quantise: its problems, how they are launched, and what each recipe should
// give.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/suite/suite.h"

namespace bitwell::suite {

// What tensors are drawn from, each named for what it is there to show.
enum class TensorData {
  normal,  // around zero, as activations are
  ties,    // small whole numbers: quotients in the middle between two codes
  wide,    // magnitudes over 2^40: scales that vanish, and zeros of both signs
  zeros,   // all of them
  tiny,    // the least magnitudes of bf16
  special  // infinities and NaNs among normal ones, in groups of each kind
};

struct QuantiseCase {
  int m, k;
  TensorData data;
  uint64_t seed;
  float range = 0;  // the tensor's largest magnitude as calibration has it; 0: a kernel finds it
  std::string describe() const;
};

class QuantiseProblem {
 public:
  QuantiseCase spec;
  std::vector<uint16_t> x;  // bf16 [m][k]

  // Throws machine::InputError for an m below 1, a k that is no positive multiple of 16, and a range that is
  // no finite number or negative.
  explicit QuantiseProblem(const QuantiseCase& spec);

  // The kernel that finds the largest magnitude, where no range is given, then the recipe's; `name`:
  // "quantise_torchao".
  Chain chain(std::string_view name, const Build& build) const;
  // Codes, two a byte, then the scales in the 128x4 tiling, 0 in its padding.
  std::vector<std::byte> expected(std::string_view name) const;
  float largest() const;  // or the range
};

constexpr size_t kQuantiseResult = 2;  // buffer of the last launch

QuantiseCase quantise_random_case(uint64_t seed);

}  // namespace bitwell::suite
