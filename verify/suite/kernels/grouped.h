// The grouped NVFP4 GEMM of kernels/grouped for Blackwell: its problems, how they are launched, and what each
// kernel should give.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/grouped/metadata.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/nvfp4/nvfp4_sums.h"
#include "verify/suite/suite.h"

namespace grouped {
struct Variant;  // a kernel: kernels/grouped/launch.h
}

namespace bitwell::suite {

struct GroupedCase {
  std::vector<int> m, n, k;  // of each group
  OperandData data;
  uint64_t seed;
  int ctas = 2;       // of a persistent kernel
  bool exact = true;  // whether errors against exact arithmetic are worked out
  std::string describe() const;
};

class GroupedProblem {
 public:
  GroupedCase spec;
  std::vector<Nvfp4Operand> a, b;  // of each group; scales of rows past m and n are NaN

  // Throws machine::InputError for lists of different lengths, no group and more than kMostGroups, a group
  // that is empty, a k that is no positive multiple of 64, and fewer than one CTA.
  explicit GroupedProblem(const GroupedCase& spec);

  // The groups as the kernel reads them; all operands of a kind lie in one buffer, one group after another.
  grouped::Metadata metadata() const;
  // `metadata`: this problem's, or what a cache of the host takes for it.
  launch::Launch launch(const grouped::Variant& variant, const Build& build,
                        const grouped::Metadata& metadata) const;
  // D as every kernel should leave it, fp16, one group's [m][n] after another: steps of 64 elements of k in
  // order.
  std::vector<std::byte> expected() const;
  // Empty where the case does not ask for them.
  std::vector<double> errors_ulp(const std::vector<std::byte>& outputs) const;

 private:
  std::shared_ptr<const std::vector<Nvfp4Sums>> sums() const;
};

constexpr size_t kGroupedResult = 5;  // buffer of the launch: d

// Small and adversarial groups.
std::vector<GroupedCase> grouped_cases();
// The contest's tests; exact errors of the first alone.
std::vector<GroupedCase> grouped_contest_cases();
// Any groups and data that the kernels take.
GroupedCase grouped_random_case(uint64_t seed);

}  // namespace bitwell::suite
