// What 16-bit arithmetic loses, lane by lane: of operands that were never written, of lanes that a guard
// leaves out, of subnormals, and of instructions at which nothing is looked.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "../kernel.h"
#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "model/run/watch/numeric.h"

namespace bitwell::run {
namespace {

struct Seen {
  std::vector<Losses> losses;
  std::vector<uint32_t> words;  // of the lanes
};
// A warp: %r0 is the lane, %a0 where it may store a word, %p1 holds in odd lanes, %p2 in lanes from 4 on.
Seen seen(const std::string& body, bool checked = true, const std::string& target = "sm_90a") {
  test::Kernel k;
  k.target = target;
  k.parameters = ".param .u64 out";
  k.registers =
      ".reg .b64 %a<2>;\n.reg .b32 %r<8>;\n.reg .b32 %v<8>;\n.reg .f32 %f<8>;\n.reg .b16 %h<8>;\n.reg .pred "
      "%p<4>;\n";
  k.start =
      "ld.param.u64 %a0, [out];\nmov.u32 %r0, %laneid;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a0, %a0, %a1;\n"
      "and.b32 %r1, %r0, 1;\nsetp.ne.u32 %p1, %r1, 0;\nsetp.ge.u32 %p2, %r0, 4;\n";
  k.body = body;
  k.buffers = {test::output(128)};
  const auto program = std::make_shared<isa::Program>(isa::compile(ptx::parse(k.text()), "k"));
  const NumericWatch watch(*program);
  launch::Launch l = k.launch();
  Options options;
  options.checked = checked;
  test::run_ptx(std::make_shared<const isa::Module>(program), l, options, false);
  Seen out{watch.losses(), std::vector<uint32_t>(32)};
  std::memcpy(out.words.data(), l.buffers[0].bytes.data(), 128);
  return out;
}

// 65504 + 65504 and 65504 * 1 + 65504 overflow. Each operand is written in lanes 4 to 31 alone, the others
// everywhere: 28 lanes are looked at, and have their result.
TEST(NumericLanes, OperandsThatWereNeverWrittenGiveNoResult) {
  const std::string all = "mov.b16 %h1, 0x7BFF;\nmov.b16 %h2, 0x3C00;\nmov.b16 %h3, 0x7BFF;\n";
  for (const char* some : {"%h1", "%h2", "%h3"}) {
    std::string load = all;
    load.insert(load.find("mov.b16 " + std::string(some)), "@%p2 ");
    const Seen s = seen(load + "fma.rn.f16 %h4, %h1, %h2, %h3;\n@%p2 st.global.u16 [%a0], %h4;\n");
    ASSERT_EQ(s.losses.size(), 1u) << some;
    EXPECT_EQ(s.losses[0].results, 28u) << some;
    EXPECT_EQ(s.losses[0].overflowed.count, 28u) << some;
    EXPECT_EQ(s.losses[0].overflowed.first.thread[0], 4u) << some;
    EXPECT_EQ(s.words[4], 0x7C00u) << some;
    EXPECT_EQ(s.words[31], 0x7C00u) << some;
  }
}

// Also where only the first lane's was not: its result is none, and may not be stored.
TEST(NumericLanes, AResultOfWhatWasNeverWrittenIsNotWritten) {
  const std::string but_first =
      "setp.ne.u32 %p3, %r0, 0;\nmov.b16 %h1, 0x7BFF;\n@%p3 mov.b16 %h2, 0x7BFF;\nadd.rn.f16 %h4, %h1, "
      "%h2;\n";
  const Seen s = seen(but_first + "@%p3 st.global.u16 [%a0], %h4;\n");
  ASSERT_EQ(s.losses.size(), 1u);
  EXPECT_EQ(s.losses[0].results, 31u);
  EXPECT_THROW(seen(but_first + "cvt.u32.u16 %r2, %h4;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 exit;\n"),
               machine::Fault);
}

// Whether launches are checked or not.
TEST(NumericLanes, EveryLaneIsLookedAt) {
  for (const bool checked : {true, false}) {
    const Seen s =
        seen("mov.b16 %h1, 0x7BFF;\nadd.rn.f16 %h4, %h1, %h1;\nst.global.u16 [%a0], %h4;\n", checked);
    ASSERT_EQ(s.losses.size(), 1u);
    EXPECT_EQ(s.losses[0].results, 32u) << checked;
    EXPECT_EQ(s.losses[0].overflowed.count, 32u) << checked;
    EXPECT_EQ(s.losses[0].overflowed.first.thread[0], 0u) << checked;
    EXPECT_EQ(s.words[0], 0x7C00u) << checked;
  }
}

TEST(NumericLanes, LanesThatAGuardLeavesOutLoseNothing) {
  const Seen s = seen(
      "mov.b16 %h1, 0x7BFF;\nmov.b16 %h4, 0;\n@%p1 add.rn.f16 %h4, %h1, %h1;\nst.global.u16 [%a0], %h4;\n");
  ASSERT_EQ(s.losses.size(), 1u);
  EXPECT_EQ(s.losses[0].results, 16u);
  EXPECT_EQ(s.losses[0].overflowed.count, 16u);
  EXPECT_EQ(s.losses[0].overflowed.first.thread[0], 1u);
  EXPECT_EQ(s.words[0], 0u);
  EXPECT_EQ(s.words[1], 0x7C00u);
}

// 2048 - 0.5 is 2047.5, which becomes 2048; 1 - 0.5 is exact. The operands are told as terms.
TEST(NumericLanes, ADifferenceLosesAsASumDoes) {
  const std::string operands = "mov.b16 %h1, 0x6800;\n@!%p2 mov.b16 %h1, 0x3C00;\nmov.b16 %h2, 0x3800;\n";
  const Seen s = seen(operands + "sub.rn.f16 %h4, %h1, %h2;\nst.global.u16 [%a0], %h4;\n");
  ASSERT_EQ(s.losses.size(), 1u);
  EXPECT_EQ(s.losses[0].absorbed.count, 28u);
  EXPECT_EQ(s.losses[0].absorbed.operands, (std::vector<float>{2048, 0.5F}));
  // 0.5 - 2048: the second is the larger one, and what remains has its sign turned.
  const Seen turned = seen(operands + "sub.rn.f16 %h4, %h2, %h1;\nst.global.u16 [%a0], %h4;\n");
  ASSERT_EQ(turned.losses.size(), 1u);
  EXPECT_EQ(turned.losses[0].absorbed.count, 28u);
  EXPECT_EQ(turned.losses[0].absorbed.result, -2048);
}

// 1 + 2^-24 loses the smallest number there is; .ftz makes it 0 before, and 1 + 0 loses nothing. What is no
// subnormal it leaves alone.
TEST(NumericLanes, SubnormalsAreLostUnlessTheyAreFlushed) {
  const std::string small = "mov.b16 %h1, 0x3C00;\nmov.b16 %h2, 1;\n";
  const std::string store = "\nst.global.u16 [%a0], %h4;\n";
  const Seen lost = seen(small + "add.rn.f16 %h4, %h1, %h2;" + store);
  ASSERT_EQ(lost.losses.size(), 1u);
  EXPECT_EQ(lost.losses[0].absorbed.operands, (std::vector<float>{1, 0x1p-24F}));
  EXPECT_TRUE(seen(small + "add.rn.ftz.f16 %h4, %h1, %h2;" + store).losses.empty());
  const Seen normal =
      seen("mov.b16 %h1, 0x6800;\nmov.b16 %h2, 0x3800;\nadd.rn.ftz.f16 %h4, %h1, %h2;" + store);
  ASSERT_EQ(normal.losses.size(), 1u);
  EXPECT_EQ(normal.losses[0].absorbed.count, 32u);
  // bf16 has an exponent of eight bits: 2^-126 is its least normal number, 0x0080.
  const Seen brain = seen(
      "mov.b16 %h1, 0x3F80;\nmov.b16 %h2, 0x0080;\nmov.b16 %h3, 0x3F80;\n"
      "fma.rn.bf16 %h4, %h1, %h3, %h2;" +
      store);
  ASSERT_EQ(brain.losses.size(), 1u);
  EXPECT_EQ(brain.losses[0].absorbed.count, 32u);
}

// (1 + 2^-7) * 1.5 lies half way between two bf16, and rounds up to the even one. With a little more the sum
// is that one too, which it was without: the little is lost. With a little less it is the one below.
TEST(NumericLanes, AProductThatLiesHalfWayRoundsToTheEvenOne) {
  const auto with = [](const std::string& a, const std::string& little) {
    return seen("mov.b16 %h1, " + a + ";\nmov.b16 %h2, 0x3FC0;\nmov.b16 %h3, " + little +
                ";\nfma.rn.bf16 %h4, %h1, %h2, %h3;\nst.global.u16 [%a0], %h4;\n");
  };
  const Seen more = with("0x3F81", "0x3080");  // 2^-30
  ASSERT_EQ(more.losses.size(), 1u);
  EXPECT_EQ(more.words[0], 0x3FC2u);
  EXPECT_EQ(more.losses[0].absorbed.count, 32u);
  const Seen less = with("0x3F81", "0xB080");
  EXPECT_EQ(less.words[0], 0x3FC1u);
  EXPECT_TRUE(less.losses.empty());
  // (1 + 3 * 2^-7) * 1.5: of 196.5 places the even one is below.
  EXPECT_TRUE(with("0x3F83", "0x3080").losses.empty());
  const Seen below = with("0x3F83", "0xB080");
  ASSERT_EQ(below.losses.size(), 1u);
  EXPECT_EQ(below.words[0], 0x3FC4u);
}

// Of fp32 into bytes nothing is looked at: the two codes are no half, though 0x7C00 would be an infinite one.
TEST(NumericLanes, BytesAreNoHalves) {
  const Seen s = seen(
      "mov.f32 %f0, 0f43C00000;\nmov.f32 %f1, 0f00000000;\ncvt.rn.satfinite.e4m3x2.f32 %h4, %f0, %f1;\n"
      "st.global.u16 [%a0], %h4;\n");
  EXPECT_EQ(s.words[0], 0x7C00u);
  EXPECT_TRUE(s.losses.empty());
}

// What is cut off below 0, or at 1, has no term that was lost.
TEST(NumericLanes, BoundedSumsLoseNothing) {
  for (const char* how : {".relu", ".sat"}) {
    const Seen s = seen("mov.b16 %h1, 0x6800;\nmov.b16 %h2, 0x3C00;\nmov.b16 %h3, 0x3800;\nfma.rn" +
                        std::string(how) + ".f16 %h4, %h1, %h2, %h3;\nst.global.u16 [%a0], %h4;\n");
    EXPECT_TRUE(s.losses.empty()) << how;
  }
}

// A product whose results are fp32 loses no halves, whatever it adds up: 16 and 65504.
TEST(NumericLanes, ProductsInSinglePrecisionLoseNoHalves) {
  const std::string start = "mov.b32 %v0, 0x3C003C00;\nmov.f32 %f0, 0f4B800000;\nmov.f32 %f1, 0f477FE000;\n";
  EXPECT_TRUE(
      seen(start +
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%v0, %v0, %v0, %v0}, "
           "{%v0, %v0}, {%f0, %f1, %f0, %f1};\nst.global.f32 [%a0], %f2;\n")
          .losses.empty());
}

TEST(NumericLanes, TwoInstructionsAreToldInTheOrderOfTheirLines) {
  const Seen s = seen(
      "mov.b16 %h1, 0x7BFF;\nbra second;\nfirst: add.rn.f16 %h4, %h1, %h1;\nst.global.u16 [%a0], %h4;\nbra "
      "end;\nsecond: mul.rn.f16 %h5, %h1, %h1;\nst.global.u16 [%a0+2], %h5;\nbra first;\nend:\n");
  ASSERT_EQ(s.losses.size(), 2u);
  EXPECT_LT(s.losses[0].ptx_line, s.losses[1].ptx_line);
  EXPECT_EQ(s.losses[0].form, Losses::Form::sum);
  EXPECT_EQ(s.losses[1].form, Losses::Form::product);
}

// Two products of matrices, each by its line.
TEST(NumericLanes, ProductsAreToldByTheirLines) {
  const std::string mma =
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%v2, %v3}, {%v0, %v0, %v0, %v0}, {%v0, %v0}, {%v1, "
      "%v1};\nst.global.b32 [%a0], %v2;\n";
  const Seen s = seen("mov.b32 %v0, 0x3C003C00;\nmov.b32 %v1, 0x7BFF7BFF;\n" + mma + mma);
  ASSERT_EQ(s.losses.size(), 2u);
  EXPECT_EQ(s.losses[0].overflowed.count, 128u);
  EXPECT_EQ(s.losses[0].ptx_line + 2, s.losses[1].ptx_line);
  EXPECT_EQ(s.losses[0].overflowed.first.ptx_line, s.losses[0].ptx_line);
}

// Of infinite terms no bit is lost.
TEST(NumericLanes, InfiniteTermsHaveNoBits) {
  const float infinite = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool brain : {false, true}) {
    EXPECT_EQ(lost_bits(infinite, infinite, infinite, brain), 0);
    EXPECT_EQ(lost_bits(infinite, -infinite, 1, brain), 0);
    EXPECT_EQ(lost_bits(nan, nan, 1, brain), 0);
  }
}

}  // namespace
}  // namespace bitwell::run
