// The inputs of GPU MODE's NVFP4 contest, as its reference draws them on a B200 (kernels/README.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "verify/problem/torch_generator.h"

namespace bitwell::problem {

struct Contest {
  std::string_view name;   // "gpumode-nvfp4-gemm"
  std::string_view about;  // in a list
  std::string_view shape;  // how a shape of it is written: "MxNxK[xL]"
  uint32_t scales;         // E4M3 of whole numbers below this
  bool vector;             // b is one vector a batch, in 128 rows of which row 0 counts
};
inline constexpr Contest kGemm{"gpumode-nvfp4-gemm", "D = A * B, every code, scales 0 to 3", "MxNxK[xL]", 4,
                               false};
inline constexpr Contest kGemv{"gpumode-nvfp4-gemv",
                               "c = A * b, a batch; codes 0 to 1.5 in low nibbles, scales 0 to 2", "MxK[xL]",
                               3, true};
inline constexpr const Contest* kContests[] = {&kGemm, &kGemv};
// machine::InputError if there is none, with those that there are.
const Contest& contest(std::string_view name);

// One operand, any part of it at once.
class Operand {
 public:
  uint64_t rows, k, l;

  // Two codes, low nibble first: byte `i` of k / 2.
  uint8_t codes(uint64_t batch, uint64_t row, uint64_t i) const;
  // The scale of 16 elements: `group` of k / 16.
  uint8_t scale(uint64_t batch, uint64_t row, uint64_t group) const;
  // All codes, [l][rows][k / 2].
  std::vector<std::byte> all_codes() const;
  // All scales in blocks of 128 rows and four groups, [l][rows / 128][k / 64][32][4][4], up to the next whole
  // block: what pads it is random too, as the reference has it.
  std::vector<std::byte> blocked_scales() const;

 private:
  friend struct Inputs;
  Operand(uint64_t rows_, uint64_t k_, uint64_t l_) : rows(rows_), k(k_), l(l_) {}
  uint8_t scale_of(uint32_t word) const;
  const Contest* contest_ = nullptr;
  TorchGenerator::Tensor codes_, scales_, padding_;
};

// A * B^T, m x n x k, l of them.
struct Inputs {
  // n is not asked for where b is a vector. Throws machine::InputError for a k that is no multiple of 64, for
  // an extent of 0 and for operands that are too large.
  Inputs(const Contest& contest, uint64_t m, uint64_t n, uint64_t k, uint64_t l, uint64_t seed);
  Operand a, b;
};

}  // namespace bitwell::problem
