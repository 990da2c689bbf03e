// mma.sync of fp8, fp6 and fp4, with scales and without: every kind, pair of formats, scale vector and
// selector on random registers against an oracle that shares no code (verify/oracle/warp_mma.h), and what the
// selectors and the threads' words of scales must be.
#include <gtest/gtest.h>

#include "../../kernel.h"
#include "verify/probe/warp_mma.h"

namespace bitwell::isa {
namespace {

using oracle::ScaleIds;
using oracle::WarpOperands;

constexpr const probe::MmaType* kNarrow[] = {&probe::kE4m3, &probe::kE5m2, &probe::kE2m3, &probe::kE3m2,
                                             &probe::kE2m1};

// "held", or why not.
std::string run(const std::string& text, launch::Launch& launch) {
  try {
    test::run_ptx(text, launch);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "held";
}

void compare(const probe::WarpKind& kind, const probe::MmaType& a, const probe::MmaType& b,
             const probe::WarpText& text, const std::vector<WarpOperands>& warps) {
  launch::Launch launch = probe::warp_launch(kind, warps);
  ASSERT_EQ(run(probe::warp_kernel(kind, a, b, text), launch), "held") << probe::describe(kind, a, b);
  for (size_t w = 0; w < warps.size(); ++w) {
    WarpOperands in = warps[w];
    in.ids_a = text.ids_a;
    in.ids_b = text.ids_b;
    EXPECT_EQ(probe::warp_sums(kind, launch, w), oracle::warp_mma(probe::rule_of(kind, a, b), in))
        << probe::describe(kind, a, b) << " {" << text.ids_a.byte << "," << text.ids_a.thread << "} {"
        << text.ids_b.byte << "," << text.ids_b.thread << "} warp " << w;
  }
}
// Two warps of moderate operands, two of any bits.
void compare(const probe::WarpKind& kind, const probe::MmaType& a, const probe::MmaType& b,
             const probe::WarpText& text, std::mt19937& random) {
  std::vector<WarpOperands> warps;
  for (const bool wild : {false, false, true, true}) warps.push_back(probe::draw_warp(kind, random, wild));
  compare(kind, a, b, text, warps);
}

TEST(NarrowMma, EveryPairOfFormatsEqualsTheOracle) {
  std::mt19937 random(1);
  for (const probe::MmaType* a : kNarrow)
    for (const probe::MmaType* b : kNarrow) {
      compare(probe::kWarpF8f6f4, *a, *b, {"sm_120a"}, random);
      compare(probe::kWarpF8f6f4Half, *a, *b, {"sm_121a"}, random);
      compare(probe::kWarpMxf8f6f4, *a, *b, {"sm_120f"}, random);
    }
  for (const probe::MmaType* a : {&probe::kE4m3, &probe::kE5m2})
    for (const probe::MmaType* b : {&probe::kE4m3, &probe::kE5m2})
      for (const bool half : {false, true})
        for (const int k : {16, 32}) {
          compare({"", k, 0, "", half}, *a, *b, {"sm_120"}, random);
          compare({".kind::f8f6f4", k, 0, "", half}, *a, *b, {"sm_121f"}, random);
        }
}

TEST(NarrowMma, EveryScaleVectorAndSelectorEqualsTheOracle) {
  std::mt19937 random(2);
  const probe::WarpKind of_16{".kind::mxf4nvf4.block_scale.scale_vec::4X", 64, 4, ".ue8m0"};  // PTX 9.1
  for (const probe::WarpKind& kind :
       {probe::kWarpMxf8f6f4, probe::kWarpMxf4, probe::kWarpNvf4, probe::kWarpMxf4By2, of_16,
        probe::WarpKind{".kind::mxf8f6f4.block_scale", 32, 1, ".ue8m0"},
        probe::WarpKind{".kind::mxf4.block_scale", 64, 2, ".ue8m0"}}) {
    const probe::MmaType& format = kind.k == 64 ? probe::kE2m1 : probe::kE3m2;
    const auto each = static_cast<unsigned>(kind.scales);
    for (const bool selectors : {false, true})
      for (unsigned byte = 0; byte < 4; byte += each)
        for (unsigned thread = 0; thread < 4; ++thread)
          compare(kind, format, format,
                  {"sm_120a", 91, {byte, thread % 2}, {4 - each - byte, thread}, selectors}, random);
  }
}

TEST(NarrowMma, AGroupThatCancelsUnderTheLargestScalesKeepsItsExponent) {
  std::mt19937 random(3);
  std::vector<WarpOperands> warps;
  for (int i = 0; i < 8; ++i) warps.push_back(probe::cancelling_warp(random));
  compare(probe::kWarpNvf4, probe::kE2m1, probe::kE2m1, {}, warps);
}

std::string told(const probe::WarpKind& kind, const probe::WarpText& text) {
  std::mt19937 random(4);
  const probe::MmaType& format = kind.k == 64 ? probe::kE2m1 : probe::kE4m3;
  launch::Launch launch = probe::warp_launch(kind, std::vector{probe::draw_warp(kind, random, false)});
  return run(probe::warp_kernel(kind, format, format, text), launch);
}

TEST(NarrowMma, ASelectorBeyondItsBoundsIsAFault) {
  struct Row {
    const probe::WarpKind& kind;
    ScaleIds a, b;
    const char* says;
  };
  for (const Row& r : {Row{probe::kWarpNvf4, {1, 0}, {0, 0}, "byte-id-a is 1, not 0"},
                       Row{probe::kWarpNvf4, {0, 2}, {0, 0}, "thread-id-a is 2, not 0 or 1"},
                       Row{probe::kWarpMxf4, {0, 0}, {1, 0}, "byte-id-b is 1, not 0 or 2"},
                       Row{probe::kWarpMxf4, {0, 0}, {4, 0}, "byte-id-b is 4, not 0 or 2"},
                       Row{probe::kWarpMxf8f6f4, {4, 0}, {0, 0}, "byte-id-a is 4, not 0 to 3"},
                       Row{probe::kWarpMxf8f6f4, {3, 0}, {0, 4}, "thread-id-b is 4, not 0 to 3"},
                       Row{probe::kWarpMxf8f6f4, {65535, 0}, {0, 0}, "byte-id-a is 65535, not 0 to 3"}}) {
    const std::string what = told(r.kind, {"sm_120a", 90, r.a, r.b, true});
    EXPECT_NE(what.find(r.says), std::string::npos) << what;
  }
}

// Only the threads that thread-id names give scales: the others' words need not be there.
TEST(NarrowMma, WordsOfScalesAreWantedOfTheThreadsThatGiveThem) {
  for (const probe::WarpKind& kind : {probe::kWarpNvf4, probe::kWarpMxf4, probe::kWarpMxf8f6f4})
    for (unsigned thread = 0; thread < 2; ++thread)
      for (int skip = 0; skip < 8; ++skip) {
        const std::string what = told(kind, {"sm_120a", 90, {0, thread}, {}, false, skip});
        if (static_cast<unsigned>(skip) % 4 / 2 == thread)
          EXPECT_NE(what.find("used as an output"), std::string::npos) << skip << what;
        else
          EXPECT_EQ(what, "held") << skip;
      }
}

// Where nobody has published how a target computes it, it is refused by name.
TEST(NarrowMma, AShapeOfFp8WhoseArithmeticIsUnknownIsRefused) {
  for (const char* target : {"sm_90a", "sm_100a"}) {
    const std::string what = told({"", 16}, {target});
    EXPECT_NE(what.find("the arithmetic of mma.sync.aligned.m16n8k16"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace bitwell::isa
