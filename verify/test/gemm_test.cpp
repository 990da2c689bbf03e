// Laws of the GEMM suite.
#include "verify/gemm.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "model/ptx/parse.h"
#include "verify/captures.h"

namespace bitwell::verify {

void PrintTo(const GemmVariant& v, std::ostream* out) { *out << v.name(); }

namespace {

const isa::Program& program(const Launch& launch) {
  static std::map<std::string, isa::Program> programs;
  const std::string key = launch.ptx + launch.entry;
  const auto found = programs.find(key);
  if (found != programs.end()) return found->second;
  return programs.emplace(key, isa::compile(ptx::parse(read_file(launch.ptx)), launch.entry)).first->second;
}

std::vector<std::byte> simulated(const GemmProblem& problem, const GemmVariant& variant,
                                 const isa::Options& options = {}) {
  Chain chain = problem.chain(variant, share_folder("kernels"));
  run(chain, [&](Launch& launch) { simulate(program(launch), launch, options, true); });
  return gemm_result(chain);
}

class GemmVariants : public testing::TestWithParam<GemmVariant> {};

TEST_P(GemmVariants, EveryCaseIsTheOrderOfSummationOfTheOracle) {
  for (const GemmCase& c : gemm_cases()) {
    const GemmProblem problem(c);
    const auto got = simulated(problem, GetParam());
    const auto want = problem.expected(GetParam());
    ASSERT_EQ(got.size(), want.size());
    size_t differ = 0;
    size_t first = got.size();
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != want[i]) {
        ++differ;
        first = std::min(first, i);
      }
    EXPECT_EQ(differ, 0u) << c.describe() << ", first at byte " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GemmVariants, testing::ValuesIn(gemm_variants()),
                         [](const auto& parameter) { return parameter.param.name(); });

}  // namespace
}  // namespace bitwell::verify
