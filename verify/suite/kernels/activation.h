// The activation side of SVDQuant of kernels/quantise/activation.cu: its problems, how they are launched, and
// what they should give.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/suite/suite.h"

namespace bitwell::suite {

// What x is drawn from, each named for what it is there to show.
enum class ActivationData {
  normal,        // around zero, as activations are
  ties,          // under scales of 1, each place of a group has each value in the middle between two codes
  cancellation,  // large products that cancel steps later: the order of a sum shows
  wide,          // magnitudes over 2^24: scales that vanish, and those beyond 448
  zeros          // of both signs
};

struct ActivationCase {
  int m, k, rank;
  ActivationData data;
  uint64_t seed;
  std::string describe() const;
};

class ActivationProblem {
 public:
  ActivationCase spec;
  bool bf16;                              // else fp16
  std::vector<uint16_t> x, smooth, lora;  // [m][k], [k], [rank][k]

  // Throws machine::InputError for an m below 1, a k that is no positive multiple of 16 and a rank that is no
  // multiple of 16 from 16 to 256.
  ActivationProblem(const ActivationCase& spec, bool bf16);

  launch::Launch launch(const Build& build) const;
  // In one buffer: codes, two a byte; from scales_at() on their scales in the 128x4 tiling, 0 in its padding;
  // from down_at() on down, 16 elements of k after 16, in its format.
  std::vector<std::byte> expected() const;
  size_t scales_at() const;
  size_t down_at() const;
  // Of down, |output - exact| in units in the last place at the first byte of each; 0 for all other bytes.
  std::vector<double> errors_ulp(const std::vector<std::byte>& outputs) const;
};

constexpr size_t kActivationResult = 3;  // buffer of the launch

ActivationCase activation_random_case(uint64_t seed);

// The kernels, for the suite of quantisers.
std::vector<Kernel> activation_kernels();

}  // namespace bitwell::suite
