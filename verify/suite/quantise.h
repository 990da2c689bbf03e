// The NVFP4 quantiser of kernels/quantise: its problems, how they are launched, and what each recipe should
// give.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/suite/suite.h"

namespace bitwell::verify {

// What tensors are drawn from, each named for what it is there to show.
enum class TensorData {
  normal,  // around zero, as activations are
  ties,    // small whole numbers: quotients in the middle between two codes
  wide,    // magnitudes over 2^40: scales that vanish, and zeros of both signs
  zeros,   // all of them
  tiny     // the least magnitudes of bf16
};

struct QuantiseCase {
  int m, k;
  TensorData data;
  uint64_t seed;
  std::string describe() const;
};

class QuantiseProblem {
 public:
  QuantiseCase spec;
  std::vector<uint16_t> x;  // bf16 [m][k], finite

  // Throws machine::InputError for an m below 1 and a k that is no positive multiple of 16.
  explicit QuantiseProblem(const QuantiseCase& spec);

  // The kernel that finds the largest magnitude, then the recipe's; `name`: "quantise_torchao".
  Chain chain(std::string_view name, const Build& build) const;
  // Codes, two a byte, then the scales in the 128x4 tiling, 0 in its padding.
  std::vector<std::byte> expected(std::string_view name) const;
  float largest() const;
};

constexpr size_t kQuantiseResult = 2;  // buffer of the last launch

QuantiseCase quantise_random_case(uint64_t seed);

}  // namespace bitwell::verify
