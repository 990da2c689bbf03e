// Laws of SVDQuant W4A4, what its published mistakes cost, and what is not promised.
#include "verify/suite/kernels/svdquant.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "../bugs/planted.h"
#include "../kernel.h"
#include "kernels/svdquant/launch.h"
#include "model/budget/audit.h"
#include "model/machine/failure.h"
#include "nvfp4_laws.h"
#include "verify/capture/captures.h"
#include "verify/oracle/epilogue.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/same.h"

namespace bitwell::suite::svdquant_test {
namespace {

using svdquant::Variant;

Build build() { return {capture::share_folder("kernels"), "sm_100a"}; }

// Nothing where the launch leaves the expected bits.
std::string complaint(const Variant& v, const SvdquantProblem& problem, const run::Schedule& schedule = {}) {
  launch::Launch launch = problem.launch(v, build());
  run::Options options;
  options.schedule = schedule;
  try {
    test::run_file(launch, options);
  } catch (const machine::Fault& f) {
    return f.what();
  }
  return same_bits(launch.buffers[kSvdquantResult].bytes, problem.expected(v)) ? "" : "other bits";
}

bool promised(const Variant& v) {
  return !svdquant::unordered(v.order) || v.definition == svdquant::Definition::apart;
}

float value_of(uint16_t code, bool bf16) {
  return bf16 ? std::bit_cast<float>(uint32_t{code} << 16) : oracle::half(code);
}

// |y - exact| over what it may be, the largest of all outputs. A main step errs as nvfp4_bound has it, of
// sums up to the sum T of all magnitudes; a LoRA step cuts 17 terms below 2^-25 of an exponent that is at
// most T's, and its sum to 24 bits; then there are the definition's roundings to fp32 and the one to y's
// format.
double worst_of_bound(const Variant& v, const SvdquantProblem& problem, const std::vector<std::byte>& y) {
  const SvdquantCase& c = problem.spec;
  const auto u = [](int i) { return static_cast<size_t>(i); };
  const auto value = [&](const std::vector<uint16_t>& of, size_t i) {
    return double{value_of(of[i], v.bf16)};
  };
  double worst = 0;
  for (size_t m = 0; m < u(c.m); ++m)
    for (size_t n = 0; n < u(c.n); ++n) {
      Nvfp4Operand::Row a = problem.a.row(0, static_cast<int>(m)), b = problem.b.row(0, static_cast<int>(n));
      double main = 0, lora = 0, all = 0, largest = 0;
      for (size_t k = 0; k < u(c.k); ++k) {
        const double sa = scale_of(a.scales[k / 16] & 0x7F), sb = scale_of(b.scales[k / 16] & 0x7F);
        main += suite::value_of(a.codes[k]) * suite::value_of(b.codes[k]) * sa * sb;
        largest = std::max(largest, std::max(sa, 0x1p-6) * std::max(sb, 0x1p-6));
        all += std::fabs(suite::value_of(a.codes[k]) * suite::value_of(b.codes[k])) * std::max(sa, 0x1p-6) *
               std::max(sb, 0x1p-6);
      }
      for (size_t r = 0; r < u(c.rank); ++r) {
        const double product = value(problem.down, m * u(c.rank) + r) * value(problem.up, n * u(c.rank) + r);
        lora += product;
        all += std::fabs(product);
      }
      const double scale = value(problem.wcscale, n), add = value(problem.bias, n);
      const bool apart = v.definition == svdquant::Definition::apart;
      const double exact = apart ? main * scale + add + lora : (main + lora) * scale + add;
      const double sums = c.k / 64.0 * (5 * 0x1p-35 * (largest + all) + 0x1p-23 * all) +
                          c.rank / 16.0 * (17 * 0x1p-25 + 0x1p-23) * all;
      const double before =
          (std::fabs(scale) + (apart ? 1 : 0)) * (sums + 0x1p-24 * all) + 0x1p-23 * std::fabs(exact);
      const double bound = before + (std::fabs(exact) + before) * (v.bf16 ? 0x1p-8 : 0x1p-11) + 0x1p-25;
      uint16_t word = 0;
      std::memcpy(&word, &y[(m * u(c.n) + n) * 2], 2);
      worst = std::max(worst, std::fabs(double{value_of(word, v.bf16)} - exact) / bound);
    }
  return worst;
}

TEST(Svdquant, OutputsAreWithinTheProvenBoundOfExactArithmetic) {
  for (const Variant& v : svdquant::kVariants)
    for (const OperandData data : {OperandData::moderate, OperandData::cancellation,
                                   OperandData::swamped_tiles, OperandData::subnormal_scales}) {
      const SvdquantProblem problem({7, 9, 768, 80, data, 11}, v.bf16);
      const double worst = worst_of_bound(v, problem, problem.expected(v));
      EXPECT_LE(worst, 1) << v.name << ", " << problem.spec.describe();
      EXPECT_GT(worst, 0) << v.name << ", " << problem.spec.describe();
    }
}

// Tile after tile, each byte of y is written once, whatever the number of pairs that share the tiles.
TEST(Svdquant, PairsWriteEachByteOfYOnce) {
  const Variant v = svdquant::variant("svdquant_pair");
  for (const int clusters : {0, 1, 2, 5}) {
    const SvdquantProblem problem({261, 150, 64, 16, OperandData::moderate, 12, clusters}, v.bf16);
    Writes writes;
    launch::Launch launch = problem.launch(v, build());
    test::run_file(launch, writes.options());
    EXPECT_TRUE(same_bits(launch.buffers[kSvdquantResult].bytes, problem.expected(v))) << clusters;
    EXPECT_EQ(writes.complaint(261 * 150 * 2), "") << clusters;
  }
}

RC_GTEST_PROP(Svdquant, ARandomLaunchGivesTheOraclesBits, ()) {
  size_t i = *rc::gen::inRange<size_t>(0, std::size(svdquant::kVariants)).as("variant");
  while (svdquant::kVariants[i].mistake != svdquant::Mistake::none) --i;
  const Variant& v = svdquant::kVariants[i];
  SvdquantCase c = svdquant_random_case(*rc::gen::arbitrary<uint32_t>().as("seed"));
  c.m = 1 + c.m % 12 + (v.ctas == 2 && c.seed % 2 == 0 ? 128 : 0);
  c.n = 1 + c.n % 12;
  const SvdquantProblem problem(c, v.bf16);
  for (const bool first : {true, false}) {
    if (!first && !promised(v)) continue;
    const run::Schedule schedule{run::kPolicies[first ? 0 : 1 + c.seed % (run::kPolicies.size() - 1)].policy,
                                 c.seed};
    const std::string what = complaint(v, problem, schedule);
    if (!what.empty())
      RC_FAIL(std::string(v.name) + ", " + c.describe() + ", " + launch::describe(schedule) + ": " + what);
  }
}

// MMAs of two kinds on one accumulator without a wait between them: some order that the manual allows gives
// other bits. With the wait none does.
TEST(SvdquantOrder, KindsOnOneAccumulatorNeedAWait) {
  const SvdquantProblem problem({9, 16, 1024, 64, OperandData::cancellation, 3}, false);
  const auto differing = [&](const char* name) {
    int out = 0;
    for (run::Schedule s : launch::schedules(24)) {
      s.kept = machine::Promise::manual;
      out += complaint(svdquant::variant(name), problem, s).empty() ? 0 : 1;
    }
    return out;
  };
  EXPECT_EQ(differing("svdquant_ordered"), 0);
  EXPECT_EQ(differing("svdquant_apart"), 0);
  EXPECT_GT(differing("svdquant_unordered"), 0);
}

// The published definitions are two functions.
TEST(SvdquantDefinition, ScaledSumAndSumApartDiffer) {
  const SvdquantProblem problem({9, 16, 256, 32, OperandData::moderate, 4}, false);
  EXPECT_FALSE(same_bits(problem.expected(svdquant::variant("svdquant_ordered")),
                         problem.expected(svdquant::variant("svdquant_apart"))));
}
TEST(SvdquantDefinition, TheOrderOfLoraStepsShowsInTheBits) {
  const SvdquantProblem problem({9, 16, 1024, 128, OperandData::cancellation, 4}, false);
  EXPECT_FALSE(same_bits(problem.expected(svdquant::variant("svdquant_ordered")),
                         problem.expected(svdquant::variant("svdquant_serial"))));
}

// Nine minutes of a GPU's silence: the first wait is for a phase that never was.
TEST(SvdquantMistake, AWrongInitialPhaseIsADeadlockThatIsNamed) {
  const std::string what = complaint(svdquant::variant("svdquant_wrong_phase"),
                                     SvdquantProblem({9, 16, 128, 16, OperandData::moderate, 5}, false));
  EXPECT_NE(what.find("deadlock"), std::string::npos) << what;
  EXPECT_NE(what.find("wrong initial phase"), std::string::npos) << what;
}
// An accumulate flag that stays off wipes the sums at each stage: one stage of k hides it.
TEST(SvdquantMistake, AFrozenAccumulateFlagShowsFromTheSecondStageOn) {
  const Variant v = svdquant::variant("svdquant_wrong_frozen");
  EXPECT_EQ(complaint(v, SvdquantProblem({9, 16, 256, 16, OperandData::moderate, 5}, false)), "");
  EXPECT_EQ(complaint(v, SvdquantProblem({9, 16, 512, 16, OperandData::moderate, 5}, false)), "other bits");
}

// The mistakes of two CTAs, with pairs of which each CTA has rows of y, or the first alone.
TEST(SvdquantMistake, LoraUpCountedWholeInAPairIsADeadlockThatNamesTheBytes) {
  const std::string what = complaint(svdquant::variant("svdquant_wrong_bytes"),
                                     SvdquantProblem({9, 16, 128, 16, OperandData::moderate, 5}, false));
  EXPECT_NE(what.find("deadlock"), std::string::npos) << what;
  // 64 rows of 128 bytes, of each CTA
  const size_t named =
      what.find("byte mismatch: every arrival came, and 16384 bytes of those expected never do");
  EXPECT_NE(named, std::string::npos) << what;
}
TEST(SvdquantMistake, AWrongRankInThePairShowsFromTheFirstRowOfTheSecondCtaOn) {
  const Variant v = svdquant::variant("svdquant_wrong_rank");
  EXPECT_EQ(complaint(v, SvdquantProblem({128, 16, 128, 16, OperandData::moderate, 5}, false)), "");
  const std::string what = complaint(v, SvdquantProblem({129, 16, 128, 16, OperandData::moderate, 5}, false));
  EXPECT_NE(what.find("never written"), std::string::npos) << what;
}

// What model/budget allows beside a kernel's LoRA stages, by layouts and by formulas.
budget::Audit audit_of(const Variant& v, int up_ctas) {
  static const budget::Spec spec =
      budget::parse_spec(launch::read_file(capture::share_folder("budgets") + "/svdquant-bitwell.json"));
  return budget::audit(spec, {{"ctas", v.ctas},
                              {"up_ctas", up_ctas},
                              {"lora_stages", v.lora_stages},
                              {"apart", v.definition == svdquant::Definition::apart},
                              {"accumulators", v.accumulators()}});
}
TEST(SvdquantBudget, EveryKernelHasTheStagesBytesAndColumnsThatItsBudgetAllows) {
  for (const Variant& v : svdquant::kVariants) {
    const budget::Audit a = audit_of(v, v.ctas);
    EXPECT_TRUE(a.agrees) << v.name;
    if (v.mistake == svdquant::Mistake::half) {
      EXPECT_EQ(a.laid_out.stages, 2 * v.stages);
      continue;
    }
    EXPECT_EQ(a.laid_out.stages, v.stages) << v.name;
    EXPECT_EQ(a.written.stages, v.stages) << v.name;
    EXPECT_EQ(a.laid_out.used, v.shared_bytes()) << v.name;
    EXPECT_EQ(a.laid_out.allocated, v.columns()) << v.name;
  }
}
// What the post's kernel lost by a formula: with LoRA-up taken for whole in both CTAs of a pair, a stage of
// the main ring.
TEST(SvdquantBudget, LoraUpCountedWholeInAPairCostsAStage) {
  const Variant v = svdquant::variant("svdquant_pair");
  const budget::Audit a = audit_of(v, 1);
  EXPECT_FALSE(a.agrees);
  EXPECT_EQ(a.laid_out.stages, 6);
  EXPECT_EQ(a.written.stages, 5);
}

std::string refusal(const SvdquantCase& c) {
  try {
    SvdquantProblem(c, false);
  } catch (const machine::InputError& e) {
    return e.what();
  }
  return "";
}

TEST(SvdquantInput, WhatItCannotTakeIsNamedWithTheWayOut) {
  constexpr OperandData kData = OperandData::moderate;
  EXPECT_EQ(refusal({4, 4, 64, 24, kData, 1}),
            "svdquant takes a rank of 16, 32, ... 256; got 24: pad both LoRA operands with zeros");
  EXPECT_EQ(refusal({4, 4, 64, 272, kData, 1}),
            "svdquant takes a rank of 16, 32, ... 256; got 272: pad both LoRA operands with zeros");
  EXPECT_EQ(refusal({4, 4, 0, 16, kData, 1}),
            "svdquant takes k a positive multiple of 64; got k = 0: pad A and B with zeros");
  EXPECT_EQ(refusal({0, 4, 64, 16, kData, 1}), "svdquant takes m and n of at least 1; got m = 0, n = 4");
}

}  // namespace
}  // namespace bitwell::suite::svdquant_test
