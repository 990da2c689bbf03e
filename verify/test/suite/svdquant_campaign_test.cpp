// The production shapes of "Implementing SVDQuant W4A4 on Blackwell" at their full size, for hours:
//   BITWELL_SVDQUANT_ROWS=4352 svdquant_test --gtest_filter='SvdquantCampaign*'
// Fewer rows take as much less.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "kernels/svdquant/launch.h"
#include "kernels/svdquant/wgmma.h"
#include "verify/capture/captures.h"
#include "verify/suite/kernels/svdquant_wgmma.h"
#include "verify/suite/same.h"

namespace bitwell::suite {
namespace {

struct Timed {
  std::chrono::steady_clock::time_point from = std::chrono::steady_clock::now();
  double seconds() {
    const auto to = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(to - std::exchange(from, to)).count();
  }
};

// By the kernel of each architecture that makes tile after tile, under the default schedule.
void check(const SvdquantCase& c, const char* name, const Chain& chain, size_t result,
           const std::function<std::vector<std::byte>()>& expected) {
  launch::Modules modules;
  Timed timed;
  Chain run = chain;
  simulate(run, std::ref(modules), {}, true);
  const double simulated = timed.seconds();
  EXPECT_TRUE(same_bits(run.launches.back().buffers[result].bytes, expected()))
      << name << ", " << c.describe();
  std::printf("%-16s %s: simulated in %.0f s, expected bits in %.0f s\n", name, c.describe().c_str(),
              simulated, timed.seconds());
  std::fflush(stdout);
}

TEST(SvdquantCampaign, ProductionShapesHoldInEveryBit) {
  const char* asked = std::getenv("BITWELL_SVDQUANT_ROWS");
  if (asked == nullptr) GTEST_SKIP() << "BITWELL_SVDQUANT_ROWS=4352 asks for it";
  const int rows = std::atoi(asked);
  const svdquant::Variant pair = svdquant::variant("svdquant_pair");
  const svdquant::HopperVariant& hopper = svdquant::kHopperVariants[0];
  for (const auto& [n, k, rank] :
       {std::array{3072, 3840, 128}, {15360, 3840, 128}, {3840, 15360, 128}, {3072, 10240, 32}}) {
    const SvdquantCase c{rows, n, k, rank, OperandData::moderate, 7400, 66};
    const SvdquantProblem problem(c, false);
    const std::string folder = capture::share_folder("kernels");
    check(c, pair.name, {{problem.launch(pair, {folder, "sm_100a"})}, {}}, kSvdquantResult,
          [&] { return problem.expected(pair); });
    check(c, hopper.name, svdquant_wgmma_chain(problem, hopper, {folder, "sm_90a"}, 132),
          kSvdquantWgmmaResult, [&] { return svdquant_wgmma_expected(problem, hopper); });
  }
}

}  // namespace
}  // namespace bitwell::suite
