// Laws of the GEMV suite, and that its verdicts can fail.
#include "verify/suite/kernels/gemv.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "../kernel.h"
#include "by_name.h"
#include "verify/capture/captures.h"
#include "verify/launch/file/launch_json.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite {
namespace {

std::string path_of(const GemvRung& rung, const std::string& arch) {
  return capture::share_folder("kernels") + "/gemv/" + std::string(rung.name) + "." + arch + ".ptx";
}

// Runs the launch of a rung and gives its result.
std::vector<std::byte> outputs(launch::Launch launch, const run::Options& options = {}) {
  test::run_file(launch, options);
  return bytes_of(launch, "c");
}

std::vector<std::byte> outputs(const GemvProblem& problem, const GemvRung& rung, const std::string& arch) {
  return outputs(problem.launch(rung, path_of(rung, arch)));
}

uint16_t code_at(const std::vector<std::byte>& bytes, size_t i) {
  return static_cast<uint16_t>(static_cast<unsigned>(bytes[2 * i]) | static_cast<unsigned>(bytes[2 * i + 1])
                                                                         << 8);
}

// What a CTA of the streamed rung goes through, in slots, when its cluster shares k:
// kernels/gemv/streamed.cuh.
struct StreamedWork {
  uint32_t units, slots, passes;

  StreamedWork(uint32_t m, uint32_t k, uint32_t cluster) {
    const uint32_t spans = (k + 1023) / 1024;
    const uint32_t columns = std::min(16U, (spans + cluster - 1) / cluster);
    units = 16 / std::bit_ceil(columns);  // of four rows, of a slot
    slots = (m / 128 * 32 + std::min(32U, m % 128) + units - 1) / units;
    passes = (spans + columns * cluster - 1) / (columns * cluster);
  }
  uint64_t of_a_cta(uint32_t x) const { return (slots + x - 1) / x; }
  // Slots that follow each other on an H200 of 132 SMs; clusters of 4 and 8 leave a quarter of them idle.
  uint64_t steps(uint32_t x, uint32_t cluster, uint32_t l) const {
    const uint64_t at_once = (cluster > 2 ? 99 : 132) / cluster;
    return (uint64_t{x} * l + at_once - 1) / at_once * of_a_cta(x) * passes;
  }
};

RC_GTEST_PROP(Gemv, TheStreamedRungsCtasEachHaveASlotAndRoomForItsSums, ()) {
  const uint32_t m =
      *rc::gen::oneOf(rc::gen::element(1U, 128U, 129U, 1U << 30), rc::gen::inRange(1U, 1U << 20)).as("m");
  const uint32_t k = 32 * *rc::gen::oneOf(rc::gen::element(1U, 32U, 33U, 512U, 513U, (1U << 26) - 1),
                                          rc::gen::inRange(1U, 1U << 26))
                               .as("k / 32");
  const uint32_t l = *rc::gen::oneOf(rc::gen::element(1U, 132U, 133U), rc::gen::inRange(1U, 64U)).as("l");
  const run::Shape s = gemv_streamed_shape(static_cast<int>(m), static_cast<int>(k), static_cast<int>(l));
  const uint32_t cluster = s.cluster[1];
  RC_ASSERT(s.grid[1] == cluster);
  RC_ASSERT(std::has_single_bit(cluster));
  RC_ASSERT(cluster <= 8);
  RC_ASSERT(cluster <= (k + 1023) / 1024);
  RC_ASSERT(s.grid[2] == l);
  const StreamedWork work(m, k, cluster);
  RC_ASSERT(s.grid[0] >= 1);
  RC_ASSERT(s.grid[0] <= work.slots);
  if (work.passes > 1) RC_ASSERT(4 * work.units * work.of_a_cta(s.grid[0]) <= 4096);
}

RC_GTEST_PROP(Gemv, TheStreamedRungTakesClustersOnlyWhereTheySaveSteps, ()) {
  const uint32_t m = *rc::gen::inRange(1U, 1U << 13).as("m");
  const uint32_t k = 32 * *rc::gen::inRange(1U, 1U << 11).as("k / 32");
  const uint32_t l = *rc::gen::inRange(1U, 300U).as("l");
  const run::Shape s = gemv_streamed_shape(static_cast<int>(m), static_cast<int>(k), static_cast<int>(l));
  const uint64_t steps = StreamedWork(m, k, s.cluster[1]).steps(s.grid[0], s.cluster[1], l);
  const StreamedWork alone(m, k, 1);
  const uint32_t fewest =
      alone.passes > 1 ? (alone.slots + 1023) / 1024 : 1;  // CTAs, for room for their sums
  const uint64_t steps_alone = alone.steps(std::max(fewest, std::min(alone.slots, 132 / l)), 1, l);
  if (s.cluster[1] == 1)
    RC_ASSERT(steps <= steps_alone);
  else
    RC_ASSERT(steps < steps_alone);
}

// What the suites that a GPU has recorded leave out: no elements, and more spans than a CTA takes at once.
TEST(Gemv, TheStreamedRungsShortestAndLongSums) {
  const GemvRung& rung = gemv_rung("streamed");
  for (const int k : {0, 135200}) {
    const GemvProblem problem({5, k, 2, OperandData::moderate, ScaleLayout::blocked, 77});
    const auto got = outputs(problem, rung, "sm_90a");
    for (int i = 0; i < 10; ++i) {
      const GemvProblem::Row data = problem.row(i / 5, i % 5);
      EXPECT_EQ(code_at(got, static_cast<size_t>(i)), number::evaluate(rung.order, data.operands())) << k;
    }
  }
}

RC_GTEST_PROP(Gemv, AKernelsOutputIsItsOrderEvaluatedDirectlyOnBothArchitectures, ()) {
  const auto& rung = gemv_rungs()[*rc::gen::inRange<size_t>(0, gemv_rungs().size()).as("rung")];
  GemvCase c{};
  c.m = *rc::gen::inRange(1, 70).as("m");
  c.k = rung.k_multiple *
        *rc::gen::inRange(rung.k_multiple == 16 ? 0 : 1, 640 / rung.k_multiple + 1).as("k / multiple");
  c.l = *rc::gen::inRange(1, 4).as("l");
  c.data = *rc::gen::element(OperandData::zeros, OperandData::problem, OperandData::largest,
                             OperandData::cancellation, OperandData::huge_and_tiny, OperandData::swamped,
                             OperandData::swamped_tiles, OperandData::subnormal_scales,
                             OperandData::nan_scales, OperandData::all_codes, OperandData::moderate)
                .as("data");
  c.layout = *rc::gen::element(ScaleLayout::row_major, ScaleLayout::blocked).as("layout");
  c.seed = *rc::gen::arbitrary<uint32_t>().as("seed");
  const GemvProblem problem(c);
  const auto hopper = outputs(problem, rung, "sm_90a");
  RC_ASSERT(hopper == outputs(problem, rung, "sm_100a"));
  for (int batch = 0; batch < c.l; ++batch)
    for (int row = 0; row < c.m; ++row) {
      const GemvProblem::Row data = problem.row(batch, row);
      RC_ASSERT(code_at(hopper, static_cast<size_t>(batch * c.m + row)) ==
                number::evaluate(rung.order, data.operands()));
    }
}

// fp32 rungs on the contest's own inputs are exact up to the last rounding: half a unit at most.
TEST(Gemv, Fp32RungsAreWithinHalfAUnitOnTheContestsInputs) {
  const GemvProblem problem({40, 2048, 1, OperandData::problem, ScaleLayout::row_major, 5});
  for (const char* name :
       {"naive", "intrinsics", "ptx_decode", "two_tiles", "fused", "split_k_shared", "split_k_shuffle"}) {
    const auto got = outputs(problem, gemv_rung(name), "sm_90a");
    for (int row = 0; row < 40; ++row) {
      const GemvProblem::Row d = problem.row(0, row);
      EXPECT_LE(
          oracle::error_ulp(code_at(got, static_cast<size_t>(row)), oracle::dot(d.a, d.b, d.sfa, d.sfb)), 0.5)
          << name;
    }
  }
}

TEST(Gemv, ShapesThatARungCannotTakeAreRefusedByName) {
  const GemvProblem problem({4, 48, 1, OperandData::moderate, ScaleLayout::row_major, 1});
  for (const GemvRung& rung : gemv_rungs()) {
    if (rung.k_multiple == 16) continue;
    try {
      problem.launch(rung, "");
      ADD_FAILURE() << rung.name << " took k = 48";
    } catch (const machine::InputError& e) {
      EXPECT_NE(std::string(e.what()).find(std::string(rung.name)), std::string::npos);
      EXPECT_NE(std::string(e.what()).find("k = 48"), std::string::npos);
    }
  }
}

TEST(Oracle, MeasuresErrorsInUnitsOfFp16) {
  using oracle::error_ulp;
  const oracle::ExactDot one{false, int64_t{1} << 20};
  EXPECT_EQ(error_ulp(0x3C00, one), 0);
  EXPECT_EQ(error_ulp(0x3C01, one), 1);
  EXPECT_EQ(error_ulp(0xBC00, one), 2048);
  EXPECT_EQ(error_ulp(0x0000, {false, 1}), 16);  // 2^-20 is 16 subnormal units of 2^-24
  EXPECT_EQ(error_ulp(0x7C00, {false, int64_t{65520} << 20}), 0);
  EXPECT_TRUE(std::isinf(error_ulp(0x7C00, {false, int64_t{65519} << 20})));
  EXPECT_EQ(error_ulp(0x7BFF, {false, int64_t{65519} << 20}), 15.0 / 32);
  EXPECT_EQ(error_ulp(0x7FFF, {true, 0}), 0);
  EXPECT_TRUE(std::isinf(error_ulp(0x3C00, {true, 0})));
  EXPECT_TRUE(std::isinf(error_ulp(0x7FFF, one)));
}

// A planted bug: one fma of the fused rung's chain becomes another. The verdict must fail, say where, and
// leave a launch that shows the same wrong bits again.
TEST(Verdict, APlantedBugFailsAndReplays) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("bitwell-planted-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "gemv");
  std::string text = launch::read_file(capture::share_folder("kernels") + "/gemv/fused.sm_90a.ptx");
  const size_t at = text.find("fma.rn.f32");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 10, "fma.rz.f32");
  std::ofstream(folder / "gemv" / "fused.sm_90a.ptx") << text;
  verdict::Plan plan;
  plan.kernels = {"fused"};
  plan.archs = {"sm_90a"};
  plan.ptx = folder.string();
  plan.captures = capture::share_folder("captures");
  plan.replay = (folder / "replay").string();
  const std::vector<verdict::Verdict> verdicts = verdict::judge(suite("gemv"), plan);
  const verdict::Verdict& verdict = verdict_of(verdicts, "gemv_fused");
  EXPECT_EQ(verdicts.size(), 1u);
  EXPECT_FALSE(verdict.holds);
  EXPECT_GT(verdict.mismatches, 0u);
  EXPECT_NE(verdict.first_mismatch.find("expected 0x"), std::string::npos) << verdict.first_mismatch;
  launch::LaunchFile replay = launch::read_launch(verdict.replay);
  test::run_file(replay.launch);
  launch::OutputFiles files;
  launch::plan_outputs(replay, files);
  launch::write_outputs(replay, files);
  files.commit();
  EXPECT_TRUE(std::filesystem::exists(folder / "replay" / "gemv_fused-sm_90a" / "c.npy"));
  // The first mismatch names the output and its wrong bits; the replay has the same.
  const std::string& what = verdict.first_mismatch;
  const size_t output = std::stoul(what.substr(what.find("output ") + 7));
  const auto wrong = static_cast<uint16_t>(std::stoul(what.substr(what.find("=> ") + 3, 6), nullptr, 16));
  EXPECT_EQ(code_at(bytes_of(replay.launch, "c"), output), wrong);
  std::filesystem::remove_all(folder);
}

// The suite tells every order from every other: a rung judged by another's model fails.
TEST(Verdict, TheSuiteSeparatesAllOrders) {
  std::map<std::string, std::string> names;
  for (const GemvRung& rung : gemv_rungs()) {
    std::string bits;
    for (const GemvCase& c : gemv_reduced_cases(gemv_rung("shared_b"))) {  // shapes that all rungs take
      const GemvProblem problem(c);
      for (int row = 0; row < std::min(c.m, 24); ++row) {
        const GemvProblem::Row d = problem.row(0, row);
        const uint16_t code = number::evaluate(rung.order, d.operands());
        bits.push_back(static_cast<char>(code & 0xFF));
        bits.push_back(static_cast<char>(code >> 8));
      }
    }
    const auto [at, is_new] = names.emplace(bits, std::string(rung.name));
    EXPECT_TRUE(is_new) << rung.name << " and " << at->second << " sum alike on every case";
  }
}

// A digest that the recorded one does not match fails too, whatever the model says.
TEST(Verdict, ADigestOtherThanTheDevicesFails) {
  const auto folder = std::filesystem::temp_directory_path() / ("bitwell-digest-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  capture::write_capture((folder / "gemv.json").string(),
                         {"some GPU", "0", "13.0", {{"gemv/fused", "0000000000000000"}}});
  verdict::Plan plan;
  plan.kernels = {"fused"};
  plan.archs = {"sm_90a"};
  plan.ptx = capture::share_folder("kernels");
  plan.captures = folder.string();
  const std::vector<verdict::Verdict> verdicts = verdict::judge(suite("gemv"), plan);
  const verdict::Verdict& verdict = verdict_of(verdicts, "gemv_fused");
  EXPECT_FALSE(verdict.holds);
  EXPECT_NE(verdict.first_mismatch.find("some GPU"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bitwell::suite
