// The gated dual NVFP4 GEMM of kernels/dual for Blackwell: its problems, how they are launched, and what each
// kernel should give.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/nvfp4/nvfp4_sums.h"
#include "verify/suite/suite.h"

namespace dual {
struct Variant;  // a kernel: kernels/dual/launch.h
}

namespace bitwell::suite {

struct DualCase {
  int m, n, k, l;
  OperandData data;
  uint64_t seed;
  int ctas = 2;       // or pairs, that take tile after tile, where a kernel's grid is not the shape's
  bool exact = true;  // whether errors against exact arithmetic are worked out
  std::string describe() const;
};

struct DualSums {
  Nvfp4Sums gate, up;
};

class DualProblem {
 public:
  DualCase spec;
  Nvfp4Operand a, b1, b2;

  // Throws machine::InputError for m, n or l below 1, a k that is no positive multiple of 64 and fewer than
  // one CTA.
  explicit DualProblem(const DualCase& spec);

  launch::Launch launch(const dual::Variant& variant, const Build& build) const;
  // D as every kernel should leave it, fp16 [l][m][n]: both products by steps of 64 elements of k in order,
  // then oracle::silu of the first times the second in fp32, then to fp16.
  std::vector<std::byte> expected() const;
  // Empty where the case does not ask for them.
  std::vector<double> errors_ulp(const std::vector<std::byte>& outputs) const;
  std::shared_ptr<const DualSums> sums() const;

 private:
  DualProblem(const DualCase& spec, OperandSource source);
};

constexpr size_t kDualResult = 6;  // buffer of the launch: d

// Small and adversarial shapes.
std::vector<DualCase> dual_cases();
// The contest's tests; exact errors of those that take seconds.
std::vector<DualCase> dual_contest_cases();
// Any shape and data that kernels with tiles of `columns` take.
DualCase dual_random_case(int columns, uint64_t seed);

}  // namespace bitwell::suite
