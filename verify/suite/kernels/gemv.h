// The NVFP4 GEMV suite: rungs (the kernels of kernels/gemv, from the plainest to the fastest), cases,
// launches. The contest: kernels/README.md.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/number/accumulation.h"
#include "verify/launch/launch.h"
#include "verify/oracle/gemv.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"
#include "verify/suite/suite.h"

namespace bitwell::suite {

// One rung of the ladder: how it is launched and how it sums. `rows`: of c computed by one CTA; 0: grid and
// cluster follow from the shape, by kernels/gemv/streamed.h.
struct GemvRung {
  std::string_view name;
  std::array<uint32_t, 3> block;
  uint32_t rows;
  int k_multiple;
  number::Accumulation order;
  bool studied = true;  // one of the orders that the kept results of experiments/ are about
};
// Grid, cluster and shared memory of the streamed rung for a GPU that runs `ctas` CTAs at once: one for each
// SM of an H200.
run::Shape gemv_streamed_shape(int m, int k, int l, int ctas = 132);
const std::vector<GemvRung>& gemv_rungs();
const GemvRung& gemv_rung(std::string_view name);  // InputError if there is none

struct GemvCase {
  int m, k, l;
  OperandData data;
  ScaleLayout layout;
  uint64_t seed;
  size_t schedules = 1;  // the first of verify/launch/schedule_list.h
  // Of the streamed rung's grid; 0: as gemv_streamed_shape has it.
  uint32_t x = 0, cluster = 0;
  std::string describe() const;
};

// A case's operands in the problem's storage, and the launch of a rung on them. Buffers 0 to 4 are a, b, sfa,
// sfb, c.
struct GemvProblem {
  explicit GemvProblem(const GemvCase& c);
  // The part of the contest's problem that was published: one row, of its first `l` batches.
  GemvProblem(const problem::Inputs& whole, int row, int l);
  GemvCase spec;
  Nvfp4Operand a, b;

  // Throws InputError if the rung cannot take the shape.
  launch::Launch launch(const GemvRung& rung, const std::string& ptx) const;
  // Row `row` of batch `batch`, unpacked.
  struct Row {
    std::vector<uint8_t> a, b, sfa, sfb;
    number::DotOperands operands() const { return {a, b, sfa, sfb}; }
  };
  Row row(int batch, int row) const;
  // c as the rung's order of summation gives it.
  std::vector<std::byte> expected(const GemvRung& rung) const;
  // Of c against exact arithmetic, as DrawnCase says.
  std::vector<double> errors_ulp(const std::vector<std::byte>& outputs) const;

 private:
  GemvProblem(const GemvCase& c, OperandSource source);
};

// The suites: small and adversarial, every case within 10^5 outputs; and the contest's three shapes.
std::vector<GemvCase> gemv_reduced_cases(const GemvRung& rung);
std::vector<GemvCase> gemv_full_cases();
// What no GPU has recorded: k = 0, and what other schedules are tried on: warps that share memory, and few
// CTAs of the streamed rung that fill its ring again and again, take passes over k, or have no span of it.
std::vector<GemvCase> gemv_unrecorded_cases(const GemvRung& rung);

std::string gemv_entry(const GemvRung& rung, ScaleLayout layout);

}  // namespace bitwell::suite
