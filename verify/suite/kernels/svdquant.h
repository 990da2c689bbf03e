// SVDQuant W4A4 of kernels/svdquant for Blackwell: its problems, how they are launched, and what each kernel
// should give.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/suite.h"

namespace svdquant {
struct Variant;  // a kernel: kernels/svdquant/launch.h
enum class Definition;
}  // namespace svdquant

namespace bitwell::suite {

struct SvdquantCase {
  int m, n, k, rank;
  OperandData data;  // of A and B
  uint64_t seed;
  // CTAs, or pairs of them, among which persistent kernels share the tiles; 0: as many as tiles.
  int clusters = 0;
  std::string describe() const;
};

class SvdquantProblem {
 public:
  SvdquantCase spec;
  Nvfp4Operand a, b;
  // fp16 or bf16, as the kernel takes them: activations times LoRA-down [m][rank], LoRA-up [n][rank]; and of
  // each column.
  std::vector<uint16_t> down, up, wcscale, bias;

  // Throws machine::InputError for m or n below 1, a k that is no positive multiple of 64, a rank that is no
  // multiple of 16 from 16 to 256 and clusters below 0.
  SvdquantProblem(const SvdquantCase& spec, bool bf16);

  launch::Launch launch(const svdquant::Variant& variant, const Build& build) const;
  // y as the kernel should leave it: main steps of 64 elements of k and LoRA steps of 16 of the rank, one
  // accumulator's in the order in which they are issued, then the definition's fp32 operations, then to its
  // format.
  std::vector<std::byte> expected(const svdquant::Variant& variant) const;
  // Of each element, by a kernel of that definition and format.
  std::vector<double> errors_ulp(svdquant::Definition definition, bool bf16,
                                 const std::vector<std::byte>& outputs) const;

 private:
  SvdquantProblem(const SvdquantCase& spec, bool bf16, OperandSource source);
};

constexpr size_t kSvdquantResult = 8;  // buffer of the launch: y

// Any shape, rank and data that the kernels take.
SvdquantCase svdquant_random_case(uint64_t seed);

}  // namespace bitwell::suite
