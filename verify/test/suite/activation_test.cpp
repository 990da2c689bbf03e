// Laws of the activation side of SVDQuant, that its verdicts can fail, and that the GEMM takes what it
// leaves.
#include "verify/suite/kernels/activation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "../bugs/planted.h"
#include "../kernel.h"
#include "kernels/svdquant/launch.h"
#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/oracle/epilogue.h"
#include "verify/oracle/two_level.h"
#include "verify/suite/kernels/svdquant.h"
#include "verify/suite/same.h"

namespace bitwell::suite {
namespace {

Build build_for(const std::string& arch) { return {capture::share_folder("kernels"), arch}; }

std::vector<std::byte> left_by(const ActivationProblem& problem, const std::string& arch,
                               const run::Schedule& schedule = {}) {
  launch::Launch launch = problem.launch(build_for(arch));
  run::Options options;
  options.schedule = schedule;
  test::run_file(launch, options);
  return launch.buffers[kActivationResult].bytes;
}

float value_of(uint16_t code, bool bf16) {
  return bf16 ? std::bit_cast<float>(uint32_t{code} << 16) : oracle::half(code);
}

RC_GTEST_PROP(Activation, ARandomLaunchGivesTheOraclesBytesOnBothArchitectures, ()) {
  ActivationCase c = activation_random_case(*rc::gen::arbitrary<uint32_t>().as("seed"));
  c.m = 1 + c.m % 9;
  c.k = 16 + c.k % 112 / 16 * 16;
  const ActivationProblem problem(c, *rc::gen::arbitrary<bool>().as("bf16"));
  const run::Schedule schedule{run::kPolicies[c.seed % run::kPolicies.size()].policy, c.seed};
  const std::vector<std::byte> want = problem.expected();
  for (const char* arch : {"sm_90a", "sm_100a"})
    if (!same_bits(left_by(problem, arch, schedule), want))
      RC_FAIL(c.describe() + (problem.bf16 ? " bf16, " : " fp16, ") + arch + ": other bytes");
}

// An MMA cuts 16 products and its addend below 2^-25 of the largest exponent, which is at most that of the
// sum T of all magnitudes, and its sum, at most T, to 24 bits; then one rounding to the result's format.
TEST(Activation, DownIsWithinTheProvenBoundOfExactArithmetic) {
  for (const bool bf16 : {false, true})
    for (const ActivationData data :
         {ActivationData::normal, ActivationData::cancellation, ActivationData::wide}) {
      const ActivationProblem problem({5, 1040, 48, data, 3}, bf16);
      const std::vector<std::byte> out = problem.expected();
      for (size_t i = 0; i < 5 * 48; ++i) {
        long double exact = 0, all = 0;
        for (size_t k = 0; k < 1040; ++k) {
          const long double product =
              static_cast<long double>(value_of(problem.x[i / 48 * 1040 + k], bf16)) *
              static_cast<long double>(value_of(problem.lora[i % 48 * 1040 + k], bf16));
          exact += product;
          all += std::fabs(product);
        }
        uint16_t word = 0;
        std::memcpy(&word, &out[problem.down_at() + 2 * i], 2);
        const long double sums = 65 * all * (17 * 0x1p-25L + 0x1p-23L);
        const long double rounding = (std::fabs(exact) + sums) * (bf16 ? 0x1p-8L : 0x1p-11L) + 0x1p-25L;
        const auto got = static_cast<long double>(value_of(word, bf16));
        EXPECT_LE(std::fabs(got - exact), sums + rounding) << problem.spec.describe() << ", element " << i;
      }
    }
}

// Steps of k in another order give other bits: a verdict on them must name the order.
TEST(Activation, TheOrderOfStepsShowsInTheBits) {
  ActivationProblem problem({5, 320, 16, ActivationData::cancellation, 4}, false);
  const std::vector<std::byte> in_order = problem.expected();
  for (std::vector<uint16_t>* rows : {&problem.x, &problem.lora})
    for (size_t row = 0; row < rows->size(); row += 320)
      for (size_t step = 0; step < 10; ++step)  // the last becomes the first
        std::swap_ranges(rows->begin() + static_cast<ptrdiff_t>(row + 16 * step),
                         rows->begin() + static_cast<ptrdiff_t>(row + 16 * step + 16),
                         rows->begin() + static_cast<ptrdiff_t>(row + 16 * (19 - step)));
  const std::vector<std::byte> reversed = problem.expected();
  const auto down = static_cast<ptrdiff_t>(problem.down_at());
  EXPECT_FALSE(std::equal(in_order.begin() + down, in_order.end(), reversed.begin() + down));
}

// x / smooth = code * scale, within half a step between codes; the GEMM's own reading of codes and scales.
TEST(Activation, TheGemmTakesWhatItLeaves) {
  const ActivationProblem problem({131, 320, 48, ActivationData::normal, 5}, false);
  const std::vector<std::byte> out = left_by(problem, "sm_100a");
  SvdquantProblem gemm({131, 20, 320, 48, OperandData::moderate, 77001}, false);
  const auto at = [&](size_t i) { return out.begin() + static_cast<ptrdiff_t>(i); };
  ASSERT_EQ(gemm.a.codes.size(), problem.scales_at());
  ASSERT_EQ(gemm.a.scales.size(), problem.down_at() - problem.scales_at());
  ASSERT_EQ(gemm.down.size() * 2, out.size() - problem.down_at());
  std::copy(at(0), at(problem.scales_at()), gemm.a.codes.begin());
  std::copy(at(problem.scales_at()), at(problem.down_at()), gemm.a.scales.begin());
  std::memcpy(gemm.down.data(), &out[problem.down_at()], gemm.down.size() * 2);
  for (int m = 0; m < 131; ++m) {
    const Nvfp4Operand::Row row = gemm.a.row(0, m);
    for (size_t k = 0; k < 320; ++k) {
      const float scale = oracle::e4m3_value(row.scales[k / 16]);
      const float exact =
          value_of(problem.x[static_cast<size_t>(m) * 320 + k], false) / value_of(problem.smooth[k], false);
      // Codes up to 6 stand at most 2 apart; a scale cut to E4M3 leaves the largest beyond 6 by a sixteenth.
      EXPECT_LE(std::fabs(oracle::e2m1_value(row.codes[k]) * scale - exact), 1.0f * scale) << m << ", " << k;
    }
  }
  for (const char* name : {"svdquant_ordered", "svdquant_pair"}) {
    const svdquant::Variant v = svdquant::variant(name);
    launch::Launch launch = gemm.launch(v, build_for("sm_100a"));
    test::run_file(launch);
    EXPECT_TRUE(same_bits(launch.buffers[kSvdquantResult].bytes, gemm.expected(v))) << name;
  }
}

TEST(ActivationVerdict, AMistakeIsNamed) {
  const std::string text = launch::read_file(build_for("sm_90a").file("quantise/quantise_svdquant"));
  for (const auto& [about, pattern, by] :
       {std::tuple{"a tie at 5 goes up", "setp\\.gt\\.f32 (.*), 0f40A00000;", "setp.ge.f32 $1, 0f40A00000;"},
        {"a seventh of the largest", "mov\\.f32 (.*), 0f40C00000;", "mov.f32 $1, 0f40E00000;"},
        {"bf16 products", "f32\\.f16\\.f16\\.f32", "f32.bf16.bf16.f32"},
        {"codes are those of x times smooth", "div\\.rn\\.f32 (%f[0-9]+, %f[0-9]+, %f[0-9]+);",
         "mul.rn.f32 $1;"}})
    EXPECT_NE(bugs::failure_of("quantise", "quantise_svdquant", bugs::replaced(text, pattern, by))
                  .find("expected 0x"),
              std::string::npos)
        << about;
}

TEST(ActivationInput, WhatItCannotTakeIsNamedWithTheWayOut) {
  const auto refusal = [](const ActivationCase& c) -> std::string {
    try {
      ActivationProblem(c, false);
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  constexpr ActivationData kData = ActivationData::normal;
  EXPECT_EQ(refusal({0, 16, 16, kData, 1}), "quantise_svdquant takes m of at least 1; got 0");
  EXPECT_EQ(refusal({4, 24, 16, kData, 1}),
            "quantise_svdquant takes k a positive multiple of 16; got k = 24: pad rows with zeros");
  EXPECT_EQ(refusal({4, 16, 8, kData, 1}),
            "quantise_svdquant takes a rank of 16, 32, ... 256; got 8: pad L1 with zeros");
  EXPECT_EQ(refusal({4, 16, 272, kData, 1}),
            "quantise_svdquant takes a rank of 16, 32, ... 256; got 272: pad L1 with zeros");
}

}  // namespace
}  // namespace bitwell::suite
