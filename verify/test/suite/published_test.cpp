// What a B200 gave, as others printed it: exact arithmetic and bitwell's kernels give the same.
#include "verify/problem/published.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "by_name.h"
#include "kernels/dense/launch.h"
#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/gemv.h"
#include "verify/suite/kernels/gemv.h"
#include "verify/suite/kernels/published_outputs.h"
#include "verify/verdict/judge.h"

namespace bitwell::suite {
namespace {

using problem::Operand;

std::vector<uint8_t> codes(const Operand& o, uint64_t batch, uint64_t row) {
  std::vector<uint8_t> out;
  for (uint64_t i = 0; i < o.k / 2; ++i) {
    const uint8_t two = o.codes(batch, row, i);
    out.push_back(two & 0xF);
    out.push_back(two >> 4);
  }
  return out;
}
std::vector<uint8_t> scales(const Operand& o, uint64_t batch, uint64_t row) {
  std::vector<uint8_t> out;
  for (uint64_t g = 0; g < o.k / 16; ++g) out.push_back(o.scale(batch, row, g));
  return out;
}

// A row of a against a row of b, exactly, then to fp16.
float exact(const problem::Inputs& in, uint64_t batch, uint64_t of_a, uint64_t of_b) {
  const oracle::ExactDot sum = oracle::dot(codes(in.a, batch, of_a), codes(in.b, batch, of_b),
                                           scales(in.a, batch, of_a), scales(in.b, batch, of_b));
  EXPECT_FALSE(sum.is_nan);
  const auto value = static_cast<float>(static_cast<double>(sum.units) / (1 << 20));
  EXPECT_EQ(static_cast<double>(value) * (1 << 20), static_cast<double>(sum.units)) << "not exact in fp32";
  return value;
}
uint32_t half(float value) { return oracle::stored(value, oracle::Output::f16); }

TEST(Published, ExactArithmeticGivesTheB200sGemmOutputs) {
  int outputs = 0, inexact_halves = 0;
  for (const problem::PublishedGemm& p : problem::kPublishedGemms) {
    const problem::Inputs in(problem::kGemm, static_cast<uint64_t>(p.m), static_cast<uint64_t>(p.n),
                             static_cast<uint64_t>(p.k), 1, problem::kPublishedSeed);
    for (size_t n = 0; n < p.outputs.size(); ++n, ++outputs) {
      const float sum = exact(in, 0, 0, n);
      EXPECT_EQ(half(sum), half(p.outputs[n])) << p.m << "x" << p.n << "x" << p.k << ", column " << n;
      if (sum != p.outputs[n]) ++inexact_halves;
    }
  }
  EXPECT_EQ(outputs, 25);
  EXPECT_GE(inexact_halves, 5) << "nothing would show how results are rounded";
}

TEST(Published, ExactArithmeticGivesTheB200sGemvOutputs) {
  int outputs = 0;
  for (const problem::PublishedGemv& p : problem::kPublishedGemvs) {
    const problem::Inputs in(problem::kGemv, static_cast<uint64_t>(p.m), 1, static_cast<uint64_t>(p.k),
                             static_cast<uint64_t>(p.l), problem::kPublishedSeed);
    for (int batch = 0; batch < p.batches; ++batch, ++outputs)
      EXPECT_EQ(half(exact(in, static_cast<uint64_t>(batch), static_cast<uint64_t>(p.row), 0)),
                half(p.outputs[static_cast<size_t>(batch)]))
          << "row " << p.row << ", batch " << batch;
  }
  EXPECT_EQ(outputs, 5);
}

// A kernel's published cases, in the simulator.
int given(const Kernel& kernel, const std::string& arch) {
  int outputs = 0;
  for (const PlannedCase& planned : kernel.cases()) {
    if (!planned.published) continue;
    const DrawnCase drawn = planned.draw();
    const SuiteCase c = suite_case(planned, drawn, {capture::share_folder("kernels"), arch});
    for (const double ulp : drawn.errors_ulp(c.expected)) EXPECT_LE(ulp, 0.5) << c.name;
    for (const run::Schedule& schedule : c.schedules) {
      launch::Modules modules;
      const Tried tried = try_case(c, schedule, std::ref(modules));
      EXPECT_FALSE(tried.failure) << kernel.full_name << ": " << tried.failure->what;
    }
    outputs += static_cast<int>(c.expected.size() / c.element);
  }
  return outputs;
}

TEST(Published, EveryTileOfTheDenseGemmGivesTheB200sOutputs) {
  for (const Kernel& kernel : suite("dense").kernels) {
    const dense::Output output = dense::variant(kernel.name.c_str()).output;
    // What was published is fp16; the five sums that it did not round are known in other formats too.
    const int outputs = output == dense::Output::f16 ? 25 : output == dense::Output::nvfp4 ? 0 : 5;
    EXPECT_EQ(given(kernel, "sm_100a"), outputs) << kernel.name;
  }
}

TEST(Published, EveryGemvKernelGivesTheB200sOutputs) {
  for (const Kernel& kernel : suite("gemv").kernels) EXPECT_EQ(given(kernel, "sm_100a"), 5) << kernel.name;
}

// A folder of captures whose words are these.
std::string captures_with(const std::string& words) {
  const std::string folder = testing::TempDir() + "published_captures";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/b200_words.txt") << words;
  return folder;
}
std::string with_wrong_bit(std::string words) {
  const size_t kind = words.find("\nnvfp4 |") + 1;
  char& last = words[words.find('\n', kind) - 1];
  last = last == '0' ? '1' : '0';
  return words;
}

TEST(Published, AVerdictNamesWhatWasPublishedAndFailsWhereItIsNotGiven) {
  const std::string words = launch::read_file(capture::share_folder("captures") + "/b200_words.txt");
  verdict::Plan plan;
  plan.kernels = {"dense_m128_n64"};
  plan.ptx = capture::share_folder("kernels");
  plan.captures = capture::share_folder("captures");
  const verdict::Verdict good = verdict_of(verdict::judge(suite("dense"), plan), "dense_m128_n64", "sm_100a");
  EXPECT_TRUE(good.holds);
  EXPECT_EQ(good.evidence, "published (B200: 25 outputs, 3 words); rest manual");

  plan.captures = captures_with(with_wrong_bit(words));
  const verdict::Verdict bad = verdict_of(verdict::judge(suite("dense"), plan), "dense_m128_n64", "sm_100a");
  EXPECT_FALSE(bad.holds);
  EXPECT_EQ(bad.evidence, "manual");
  EXPECT_NE(bad.first_mismatch.find("word 1 of nvfp4"), std::string::npos) << bad.first_mismatch;

  plan.captures = captures_with("nvfp4 | 1 2 | 3 | 4\n");
  EXPECT_THROW(verdict::judge(suite("dense"), plan), machine::InputError);
}

}  // namespace
}  // namespace bitwell::suite
