// Laws of the dense GEMM for Blackwell, and that its verdicts can fail.
#include "verify/suite/kernels/dense.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <regex>
#include <sstream>

#include "../bugs/planted.h"
#include "../kernel.h"
#include "kernels/dense/launch.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "nvfp4_laws.h"
#include "verify/capture/captures.h"
#include "verify/oracle/epilogue.h"
#include "verify/suite/same.h"

namespace bitwell::suite {
namespace {

using dense::Output;
using dense::Variant;

Build build() { return {capture::share_folder("kernels"), "sm_100a"}; }
std::string text_of(const Variant& v) {
  return launch::read_file(build().file("dense/" + std::string(v.name)));
}

bool wrong_turn(const Variant& v) { return std::string_view(v.name).starts_with("dense_wrong"); }

// The kernel's D, or what it is at fault with.
struct Given {
  std::vector<std::byte> d;
  std::string fault;
};
Given given(const DenseProblem& problem, const Variant& v, const run::Options& options = {},
            const test::Module& in_its_place = nullptr) {
  launch::Launch launch = problem.launch(v, build());
  launch.module = in_its_place;
  try {
    test::run_file(launch, options);
  } catch (const machine::Fault& f) {
    return {{}, f.what()};
  }
  return {launch.buffers[kDenseResult].bytes, ""};
}

// fp16 results against the contest's reference, alpha * A * B + beta * C, within its tolerance.
void check_tolerance(const DenseProblem& problem, const DenseSums& sums, const std::vector<std::byte>& d) {
  for (size_t i = 0; i < sums.sums.size(); ++i) {
    const auto sum = static_cast<double>(std::bit_cast<float>(sums.sums[i]));
    const double c = problem.spec.beta == 0 ? 0 : static_cast<double>(oracle::half(problem.c[i]));
    const double reference =
        static_cast<double>(problem.spec.alpha) * sum + static_cast<double>(problem.spec.beta) * c;
    if (!(std::fabs(reference) < 65504)) continue;  // beyond fp16, or no number
    uint16_t word = 0;
    std::memcpy(&word, &d[2 * i], 2);
    RC_ASSERT(std::fabs(static_cast<double>(oracle::half(word)) - reference) <=
              1e-3 + 1e-3 * std::fabs(reference));
  }
}

void check(const Variant& v, const DenseCase& c) {
  const DenseProblem problem(c);
  const std::vector<std::byte> want = problem.expected(v);
  const std::string who = std::string(v.name) + ", " + c.describe();
  for (const auto& policy : run::kPolicies) {
    Writes writes;
    run::Options options = policy.policy == run::Policy::lazy ? writes.options() : run::Options{};
    options.schedule = {policy.policy, c.seed};
    const Given got = given(problem, v, options);
    if (!got.fault.empty()) RC_FAIL(who + ", schedule " + std::string(policy.name) + ": " + got.fault);
    if (!same_bits(got.d, want)) RC_FAIL(who + ", schedule " + std::string(policy.name) + ": other bits");
    if (policy.policy == run::Policy::lazy && !writes.complaint(want.size()).empty())
      RC_FAIL(who + ": " + writes.complaint(want.size()));
  }
  const std::shared_ptr<const DenseSums> sums = problem.sums(v);
  if (c.contest) {
    if (v.output == Output::f16) check_tolerance(problem, *sums, want);
    return;
  }
  size_t i = 0;
  for (int batch = 0; batch < c.l; ++batch)
    for (int m = 0; m < c.m; ++m) {
      const Nvfp4Operand::Row row = problem.a.row(batch, m);
      for (int n = 0; n < c.n; ++n, ++i) {
        if (sums->exact[i].is_nan || i % 7 != 0) continue;
        const double exact = std::ldexp(static_cast<double>(sums->exact[i].units), -20);
        const auto sum = static_cast<double>(std::bit_cast<float>(sums->sums[i]));
        RC_ASSERT(std::fabs(sum - exact) <= nvfp4_bound(row, problem.b.row(batch, n), v.split));
      }
    }
}

RC_GTEST_PROP(Dense, ARandomLaunchGivesTheOraclesBitsOnceUnderEverySchedule, ()) {
  size_t i = *rc::gen::inRange<size_t>(0, std::size(dense::kVariants)).as("variant");
  while (wrong_turn(dense::kVariants[i])) --i;
  const Variant& v = dense::kVariants[i];
  DenseCase c = dense_random_case(v, *rc::gen::arbitrary<uint32_t>().as("seed"));
  if (c.m > 140) c.m = 129 + c.m % 12;
  if (c.n > 280) c.n = 16 * (1 + c.n % 17);
  if (c.k > 640) c.k = 32 * (1 + c.k % 19);
  if (c.seed % 3 == 0) {
    c.contest = true;
    c.k = dense::up(c.k, 64) * 64;
    c.l = 1;
  }
  check(v, c);
}

// Boundaries by name: each kernel where k ends inside a step, tiles are many and D's rows fall short of what
// TMA stores.
TEST(Dense, EveryKernelWritesEveryByteOfDOnce) {
  for (const Variant& v : dense::kVariants) {
    if (wrong_turn(v)) continue;
    const int n = v.output == Output::nvfp4 ? 208 : 201;
    for (const DenseCase& c : {DenseCase{257, n, 96, 2, OperandData::moderate, 1, 1, 1, 3},
                               DenseCase{1, 16, 32, 1, OperandData::moderate, 2, 1, 0, 5}}) {
      const DenseProblem problem(c);
      Writes writes;
      const Given got = given(problem, v, writes.options());
      EXPECT_EQ(got.fault, "") << v.name;
      EXPECT_EQ(writes.complaint(got.d.size()), "") << v.name << ", " << c.describe();
    }
  }
}

// A commit that gives a stage back may arrive after the one that says that the sums are done: a schedule that
// showed it.
TEST(Dense, NoCommitArrivesAtACtaThatHasEnded) {
  const uint64_t seed = 5439242518284448176;
  const DenseProblem problem({1, 1, 64, 1, OperandData::moderate, seed, -1, -2, 1});
  const Variant v = dense::variant("dense_m128_n128");
  run::Options options;
  options.schedule = {run::Policy::random, seed};
  EXPECT_EQ(given(problem, v, options).fault, "");
}

struct Mistake {
  const char* about;
  const char* kernel;
  const char *pattern, *by;  // in its PTX
  const char* says;          // part of the report
};
constexpr Mistake kMistakes[] = {
    {"scales past k's end are not trimmed", "dense_m128_n64", ", 65535;", ", -1;", "=> 0x7fff expected"},
    {"C is read where beta is 0", "dense_m128_n64", "(setp\\.neu\\.f32.*), 0f00000000;", "$1, 0f40A00000;",
     "=> 0x7fff expected"},
    {"alpha is not looked at", "dense_m128_n192_bf16", "ld\\.global\\.f32 (.*%f1), .*;",
     "mov.f32 $1, 0f3F800000;", "alpha 0.5 beta 2: output 0 => "},
    {"alpha times the sum is rounded before C is added", "dense_m128_n128_tma_f32",
     "fma\\.rn\\.f32 (%f\\d+), (%f\\d+), (%f\\d+), (%f\\d+);",
     "mul.rn.f32 $1, $2, $3; add.rn.f32 $1, $1, $4;", "expected 0x"},
    {"a box of D is staged while TMA still reads it", "dense_m128_n128_tma_f32", "wait_group\\.read 1;",
     "wait_group.read 7;", ""},
    {"a stage is given back to its own CTA alone", "dense_m128_n64_2x1",
     "\\.multicast::cluster\\.b64 (\\[%r\\d+\\]), %rs\\d+;", ".b64 $1;", "deadlock"},
    {"the multicast of A misses a CTA", "dense_m128_n64_1x2", "(bytes\\.multicast::cluster.*), %rs\\d+;",
     "$1, 1;", ""},
    {"the multicast of scales misses a CTA", "dense_m128_n128_2x2_scales",
     "(tensor\\.4d.*bytes\\.multicast::cluster.*), %rs\\d+;", "$1, 7;", "deadlock"},
    {"of each pair one CTA lacks B's scales", "dense_m256_n192_4x2_fixed_scales",
     "(tensor\\.4d.*bytes\\.multicast::cluster.*), %rs\\d+;", "$1, 85;", "never written"},
    {"every CTA fetches the first steps' scales", "dense_m128_n128_2x2_scales",
     "(tensor\\.4d.*bytes\\.multicast::cluster .*\\{%r\\d+), %r\\d+, ", "$1, 0, ", "expected"},
    {"codes of NVFP4 are divided by the scale before it is rounded", "dense_m128_n64_nvfp4",
     "cvt\\.f32\\.f16 (%f\\d+), (%rs\\d+);", "mov.f32 $1, 0f3F800000;", "expected 0x"},
};

TEST(DenseVerdict, AMistakeIsNamed) {
  for (const Mistake& m : kMistakes) {
    const std::string what = bugs::failure_of(
        "dense", m.kernel, bugs::replaced(text_of(dense::variant(m.kernel)), m.pattern, m.by));
    EXPECT_NE(what, "") << m.about;
    EXPECT_NE(what.find(m.says), std::string::npos) << m.about << ": " << what;
  }
}

// What the wait at `at` of a kernel's PTX is for, as its source says: "free(tile % kRooms)".
std::string waited_for(const std::string& text, size_t at) {
  const size_t caller = text.rfind("inlined_at ", at);  // of the wrapper around the instruction
  std::istringstream place(text.substr(caller + 11, 40));
  std::string file;
  size_t line = 0;
  place >> file >> line;
  std::smatch path;
  const std::regex named("\\.file\\s+" + file + " \"[^\"]*/kernels/([^\"]*)\"");
  EXPECT_TRUE(std::regex_search(text, path, named)) << file;
  std::istringstream source(launch::read_file(std::string(BITWELL_KERNELS) + "/" + path[1].str()));
  std::string code;
  for (size_t i = 0; i < line; ++i) std::getline(source, code);
  std::smatch barrier;
  const std::regex wait("mbarrier_wait\\w*\\(shared\\.(\\w+\\([^)]*\\))");
  EXPECT_TRUE(std::regex_search(code, barrier, wait)) << code;
  return barrier[1];
}

// Each wait for an mbarrier is there for something. Some do not show here: that for the last stages, which
// NoCommitArrives tells; where answers come two in turn, that of the thread that multiplies for room, as the
// thread that fetches a tile has waited until the sums of the one before the last were stored; and one for an
// answer of the hardware, which under the schedules of the suite has come before the warps that store are
// done with a tile.
// A kernel of one CTA and the one with most waits; with BITWELL_WAITS=all pairs and the split of k too.
TEST(DenseVerdict, NoWaitCanBeLeftOut) {
  const std::string last_stages = "empty(i % kStages)";
  const std::string room = "free(tile % kRooms)";
  const std::string answer = "answered(slot)";
  std::vector<std::pair<const char*, std::vector<std::string>>> kernels{
      {"dense_m128_n64_fixed", {last_stages}}, {"dense_m128_n128_asked", {answer, last_stages, room}}};
  if (std::getenv("BITWELL_WAITS") != nullptr)
    for (const char* more : {"dense_m256_n256_fixed", "dense_m256_n256_overlapped", "dense_m128_n64_split2"})
      kernels.push_back({more, {last_stages}});
  for (const auto& [name, can_be_left_out] : kernels) {
    const std::string text = text_of(dense::variant(name));
    const std::string wait = "mbarrier.try_wait";
    int waits = 0;
    std::vector<std::string> held;
    for (size_t at = text.find(wait); at != std::string::npos; at = text.find(wait, at + 1), ++waits) {
      std::string without = text;
      without.replace(at, text.find(';', at) - at, "mov.pred done, 1");
      if (bugs::failure_of("dense", name, without).empty()) held.push_back(waited_for(text, at));
    }
    EXPECT_EQ(held, can_be_left_out) << name;
    EXPECT_GE(waits, 5);
  }
}

// Where every CTA makes every tile, the bits are the same: only the count of writes shows it.
TEST(DenseVerdict, TilesMadeTwiceAreCounted) {
  const Variant v = dense::variant("dense_m128_n64_fixed");
  const test::Module changed =
      test::module_of(bugs::replaced(text_of(v), "mov\\.u32 (.*), %nctaid\\.x;", "mov.u32 $1, 1;"));
  const DenseProblem problem({200, 130, 64, 1, OperandData::moderate, 1, 1, 0, 2});
  Writes writes;
  const Given got = given(problem, v, writes.options(), changed);
  ASSERT_EQ(got.fault, "");
  EXPECT_TRUE(same_bits(got.d, problem.expected(v)));
  EXPECT_NE(writes.complaint(got.d.size()).find("written 2 times"), std::string::npos)
      << writes.complaint(got.d.size());
}

// Parts of k added in another order are other bits: the cases tell.
TEST(DenseVerdict, TheOrderOfASplitShows) {
  const DenseProblem problem({20, 64, 1024, 1, OperandData::all_codes, 3});
  Variant v = dense::variant("dense_m128_n64_split4_f32");
  const std::vector<std::byte> in_order = problem.expected(v);
  EXPECT_TRUE(same_bits(given(problem, v).d, in_order));
  for (const int split : {1, 2}) {
    v.split = split;
    EXPECT_FALSE(same_bits(problem.expected(v), in_order)) << split;
  }
}

// The seed's wrong turns. An MMA takes scales of B from an even column; and tiles of 64 columns that never
// start in the middle of an atom multiply every odd tile by the scales of the 64 rows before.
TEST(DenseWrongTurn, TilesOf32ColumnsFailByTheirColumn) {
  const Variant v = dense::variant("dense_wrong_n32");
  const DenseCase one_tile{8, 32, 128, 1, OperandData::moderate, 1};
  const DenseProblem first(one_tile);
  EXPECT_TRUE(same_bits(given(first, v).d, first.expected(v))) << "its first tile starts at an even column";
  DenseCase two = one_tile;
  two.n = 64;
  const Given got = given(DenseProblem(two), v);
  EXPECT_NE(got.fault.find("scale"), std::string::npos) << got.fault;
  EXPECT_NE(got.fault.find("multiple of 2"), std::string::npos) << got.fault;
}

TEST(DenseWrongTurn, WithoutTheShiftOddTilesHaveTheScalesOfEvenOnes) {
  const Variant v = dense::variant("dense_wrong_unshifted");
  const DenseCase c{8, 256, 128, 1, OperandData::moderate, 1};
  DenseProblem problem(c);
  const std::vector<std::byte> got = given(problem, v).d;
  EXPECT_FALSE(same_bits(got, problem.expected(v)));
  // Scales of B's row n become those of row n - 64 where n / 64 is odd.
  const auto place = [](size_t row, size_t atom) {
    return (row / 128 * 2 + atom) * 512 + row % 32 * 16 + row % 128 / 32 * 4;
  };
  for (size_t row = 0; row < 256; ++row)
    if (row / 64 % 2 == 1)
      for (size_t atom = 0; atom < 2; ++atom)
        std::memcpy(&problem.b.scales[place(row, atom)], &problem.b.scales[place(row - 64, atom)], 4);
  problem.spec.seed = 2;  // other operands: nothing that is known of the case holds
  EXPECT_TRUE(same_bits(got, problem.expected(v)));
}

TEST(Dense, WhatTheKernelsCannotTakeIsNamed) {
  const auto refusal = [](const DenseCase& c, const char* name) -> std::string {
    try {
      DenseProblem(c).launch(dense::variant(name), build());
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  DenseCase c{8, 16, 64, 1, OperandData::zeros, 1};
  EXPECT_EQ(refusal(c, "dense_m128_n64_nvfp4"), "");
  c.n = 24;
  EXPECT_EQ(refusal(c, "dense_m128_n64"), "");
  EXPECT_EQ(refusal(c, "dense_m128_n64_nvfp4"), "dense stores NVFP4 for n a multiple of 16; got n = 24");
  c.k = 48;
  EXPECT_EQ(refusal(c, "dense_m128_n64"), "dense takes k a positive multiple of 32; got k = 48");
  c.k = 0;
  EXPECT_NE(refusal(c, "dense_m128_n64"), "");
  c = {8, 16, 64, 1, OperandData::zeros, 1};
  c.clusters = 0;
  EXPECT_EQ(refusal(c, "dense_m128_n64_fixed"), "dense's clusters are 1 or more; got 0");
}

}  // namespace
}  // namespace bitwell::suite
