// The loops of a program and its epilogue, of programs of a few lines.
#include "model/timing/loops.h"

#include <gtest/gtest.h>

#include "one_kernel.h"

namespace bitwell::timing {
namespace {

std::shared_ptr<const isa::Program> program(const std::string& body) {
  return std::make_shared<const isa::Module>(kernel(body))->program("k");
}
// The PTX line on which that stands, of the first that does.
int line_of(const isa::Program& p, const std::string& text) {
  for (const isa::Function& f : p.functions)
    for (const isa::Line& line : f.lines)
      if (line.text.find(text) != std::string::npos) return line.ptx;
  ADD_FAILURE() << text;
  return 0;
}
std::string times(int n, const std::string& text) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

const std::string kAgain = "sub.s32 %r1, %r1, 1;\nsetp.gt.s32 %p0, %r1, 0;\n@%p0 bra again;\n";

// A loop of one operation, one within another, one that two places go back to: each from its label to the
// last that goes back.
TEST(Loops, FromTheirLabelToWhatGoesBack) {
  EXPECT_TRUE(loops_of(*program("bra over;\nmov.u32 %r1, 5;\nover: add.u32 %r1, %r1, 1;\n")).empty());
  const auto p = program(
      "mov.u32 %r1, 9;\nouter: mov.u32 %r2, 3;\ninner: add.f32 %f0, %f0, %f0;\nsub.s32 %r2, %r2, 1;\n"
      "setp.gt.s32 %p1, %r2, 0;\n@%p1 bra inner;\nmul.f32 %f1, %f0, %f0;\nsub.s32 %r1, %r1, 1;\n"
      "setp.gt.s32 %p0, %r1, 0;\n@%p0 bra outer;\nst.global.f32 [%a0], %f1;\n");
  const std::vector<Loop> two = loops_of(*p);
  ASSERT_EQ(two.size(), 2U);
  const int sum = line_of(*p, "add.f32"), store = line_of(*p, "st.global.f32");
  EXPECT_EQ(two[0].first, sum - 1);
  EXPECT_EQ(two[0].last, store - 1);
  EXPECT_FALSE(two[0].innermost);
  EXPECT_EQ(two[1].first, sum);
  EXPECT_EQ(two[1].last, sum + 3);
  EXPECT_TRUE(two[1].innermost);
  for (const Loop& l : two) {
    EXPECT_FALSE(l.spins);
    EXPECT_TRUE(std::is_sorted(l.ops.begin(), l.ops.end()));
  }
  EXPECT_EQ(two[0].ops.size(), 9U);
  EXPECT_EQ(two[1].ops.size(), 4U);

  const auto twice = program(
      "mov.u32 %r1, 9;\nmov.u32 %r2, 0;\nagain: add.u32 %r2, %r2, 7;\nsub.s32 %r1, %r1, 1;\n"
      "setp.eq.s32 %p1, %r1, 5;\n@%p1 bra again;\nmul.lo.u32 %r2, %r2, %r2;\nsetp.gt.s32 %p0, %r1, 0;\n"
      "@%p0 bra again;\nst.global.u32 [%a0], %r2;\n");
  const std::vector<Loop> one = loops_of(*twice);
  ASSERT_EQ(one.size(), 1U) << "two ways back to one label";
  EXPECT_EQ(one[0].last, line_of(*twice, "st.global.u32") - 1);
  EXPECT_EQ(one[0].ops.size(), 7U);
}

// What jumps to itself.
TEST(Loops, OfOneOperation) {
  const auto p = program("setp.gt.u32 %p0, %r0, 64;\nself: @%p0 bra self;\n");
  const std::vector<Loop> one = loops_of(*p);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].ops.size(), 1U);
  EXPECT_EQ(one[0].first, one[0].last);
}

// A loop that only waits spins: with 16 operations at most, none of which arrives, stores or works. The loop
// around it is an innermost one nonetheless.
TEST(Loops, WhatOnlyWaitsSpins) {
  const std::string wait = "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n";
  const auto spins = [](const std::string& body) {
    const auto p = program("again: " + body);
    const std::vector<Loop> all = loops_of(*p);
    EXPECT_EQ(all.size(), 1U) << body;
    EXPECT_EQ(all.at(0).innermost, !all.at(0).spins);
    return all.at(0).spins;
  };
  const std::string back = "@!%p1 bra again;\n", sum = "add.u32 %r1, %r1, 1;\n";
  EXPECT_TRUE(spins(wait + back));
  EXPECT_TRUE(spins("mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n" + back));
  EXPECT_TRUE(
      spins("ld.volatile.global.u32 %r2, [%a0];\nsetp.ne.u32 %p1, %r2, 0;\nnanosleep.u32 20;\n" + back));
  EXPECT_FALSE(spins("ld.volatile.global.u32 %r2, [%a0];\nsetp.ne.u32 %p1, %r2, 0;\n" + back));
  EXPECT_TRUE(spins(wait + times(14, sum) + back)) << "16 operations";
  EXPECT_FALSE(spins(wait + times(15, sum) + back)) << "17";
  EXPECT_FALSE(spins(wait + "mbarrier.arrive.shared.b64 _, [bar];\n" + back));
  EXPECT_FALSE(spins(wait + "st.shared.u32 [tile], %r0;\n" + back));

  const auto p = program("mov.u32 %r1, 9;\nagain: " + times(16, "add.f32 %f0, %f0, %f0;\n") +
                         "wait: " + wait + "@!%p1 bra wait;\n" + kAgain + "st.global.f32 [%a0], %f0;\n");
  const std::vector<Loop> all = loops_of(*p);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].innermost);
  EXPECT_FALSE(all[0].spins);
  EXPECT_TRUE(all[1].spins);
}

const std::string kProduct =
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3}, {%r4}, "
    "{%f0, %f1, %f2, %f3};\n";

// Behind the products: not what comes before them, nor the loop that multiplies with what is in it, nor a
// product behind it; what both ways of a branch lead to is.
TEST(Loops, AnEpilogueIsWhatComesBehindTheProducts) {
  const auto p = program("mov.u32 %r1, 9;\nmax.s32 %r5, %r0, 1;\nagain: " + kProduct +
                         "min.s32 %r6, %r0, 1;\n" + kAgain + "mul.f32 %f4, %f0, %f0;\n" + kProduct +
                         "setp.gt.u32 %p1, %r0, 5;\n@%p1 bra over;\nsub.f32 %f4, %f4, %f0;\nover: "
                         "st.global.f32 [%a0], %f4;\n");
  const std::set<int> lines = epilogue_of(*p);
  for (const char* const behind : {"mul.f32", "setp.gt.u32", "sub.f32", "st.global.f32", "ret"})
    EXPECT_TRUE(lines.contains(line_of(*p, behind))) << behind;
  for (const char* const before : {"max.s32", "min.s32", "mma.sync", "sub.s32", "setp.gt.s32"})
    EXPECT_FALSE(lines.contains(line_of(*p, before))) << before;
  EXPECT_FALSE(lines.contains(line_of(*p, "mul.f32") + 1)) << "the second product";
  EXPECT_TRUE(epilogue_of(*program("st.global.u32 [%a0], %r0;\n")).empty());
}

}  // namespace
}  // namespace bitwell::timing
