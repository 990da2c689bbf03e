// The dense NVFP4 GEMM of kernels/dense for Blackwell: its problems, how they are launched, and what each
// kernel should give.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "verify/oracle/gemv.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/suite.h"

namespace dense {
struct Variant;  // a kernel: kernels/dense/launch.h
}

namespace bitwell::suite {

struct DenseCase {
  int m, n, k, l;
  OperandData data;
  uint64_t seed;
  float alpha = 1, beta = 0;
  int clusters = 2;      // that take tile after tile, where a kernel's grid does not follow from the shape
  bool contest = false;  // the contest's inputs (verify/problem/contest.h), whole scales of 0 to 3; `data` is
                         // not looked at
  std::string describe() const;
};

// What a case's operands give, however they are scaled and stored: worked out once, whichever kernels ask.
struct DenseSums {
  std::vector<uint32_t> sums;           // fp32 bits, [l][m][n]
  std::vector<oracle::ExactDot> exact;  // the same; or empty, where sums are exact
};

class DenseProblem {
 public:
  DenseCase spec;
  Nvfp4Operand a, b;
  std::vector<uint16_t> c;  // fp16; NaN where beta is 0

  // Throws machine::InputError for a k that is no positive multiple of 32 and a number of clusters below 1.
  explicit DenseProblem(const DenseCase& spec);
  // The part of a contest's problem that was published: m rows, n columns.
  DenseProblem(const problem::Inputs& whole, int m, int n);

  // Throws machine::InputError where the kernel stores NVFP4 and n is no multiple of 16.
  launch::Launch launch(const dense::Variant& variant, const Build& build) const;

  // D as the kernel should leave it: steps of 64 elements of k in order, each one's sum the next one's
  // addend; parts of k, where CTAs share it, added in order; alpha and beta; then to the output's format. Of
  // NVFP4 the codes, then the scales.
  std::vector<std::byte> expected(const dense::Variant& variant) const;
  // Empty where alpha and beta ask for more than the sum, for NVFP4, and for the contest's inputs, whose sums
  // are exact.
  std::vector<double> errors_ulp(const dense::Variant& variant, const std::vector<std::byte>& outputs) const;
  std::shared_ptr<const DenseSums> sums(const dense::Variant& variant) const;

 private:
  DenseProblem(const DenseCase& spec, OperandSource source);
  void draw_c();
};

constexpr size_t kDenseResult = 4;  // buffer of the launch: d

// Any shape, data, alpha and beta that the kernel takes.
DenseCase dense_random_case(const dense::Variant& variant, uint64_t seed);

}  // namespace bitwell::suite
