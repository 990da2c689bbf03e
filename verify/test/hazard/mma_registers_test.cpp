// Which instructions reach the registers of a wgmma, whatever a run does.
#include "model/hazard/flow/mma_registers.h"

#include <gtest/gtest.h>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

using As = MmaRegisters::Reach::As;

// Of a kernel with these lines, the first of which is line 10.
MmaRegisters of(const std::string& body) {
  return MmaRegisters(isa::compile(ptx::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k()
{
.reg .f32 %f<12>;
.reg .b32 %g<8>;
.reg .b64 %a<4>;
.reg .pred %p;
)" + body + "\nret;\n}\n"),
                                   "k"));
}

const std::string kMma =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%g0,%g1,%g2,%g3}, %a1, 1, 1, 1, "
    "0;\n";

std::vector<std::string> names(const std::vector<MmaRegisters::Reach>& reaches) {
  std::vector<std::string> out;
  for (const auto& r : reaches)
    out.push_back(r.name + (r.accumulator ? " of D" : " of A") + (r.written ? " written" : " read"));
  return out;
}

TEST(MmaRegisters, AreReachedByWhatReadsAndWritesThem) {
  const MmaRegisters m = of(kMma +
                            "add.f32 %f8, %f2, %f9;\n"
                            "mov.b32 %g3, 0;\n"
                            "st.global.v2.f32 [%a0], {%f9, %f1};\n"
                            "add.f32 %f0, %f0, %f0;\n"
                            "mov.b32 %g4, 0;\n"
                            "add.s64 %a1, %a1, 32;\n");
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(m.at(11)), Names{"%f2 of D read"});
  EXPECT_EQ(names(m.at(12)), Names{"%g3 of A written"});
  EXPECT_EQ(names(m.at(13)), Names{"%f1 of D read"});
  EXPECT_EQ(names(m.at(14)), (Names{"%f0 of D written", "%f0 of D read"}));
  EXPECT_EQ(names(m.at(15)), Names{});
  EXPECT_EQ(names(m.at(16)), Names{});  // a descriptor is read when the wgmma is issued
  // Nor are descriptors registers of A.
  EXPECT_TRUE(
      of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %a0, %a1, 1, 1, 1, 0, 0;\n"
         "add.s64 %a0, %a0, 32;\n")
          .lines()
          .empty());
  EXPECT_EQ(m.lines(), (std::vector<int>{11, 12, 13, 14}));
  EXPECT_EQ(m.at(11)[0].mma, 10);
  EXPECT_EQ(m.at(11)[0].as, As::thread);
}

// What stands on the line of a wgmma is not told apart from it.
TEST(MmaRegisters, AreNotReachedByWhatSharesALineWithAWgmma) {
  const MmaRegisters m = of("mov.f32 %f8, %f1; " + kMma + "mov.f32 %f8, %f1;\n");
  EXPECT_TRUE(m.at(10).empty());
  EXPECT_EQ(names(m.at(11)), std::vector<std::string>{"%f1 of D read"});
}

// ptxas takes %f01 for %f1 where a range declares it.
TEST(MmaRegisters, AreTheSameHoweverTheirNumberIsWritten) {
  const MmaRegisters m = of(kMma +
                            "mov.f32 %f8, %f01;\n"
                            "mov.f32 %f8, %f10;\n"
                            "mov.b32 %g003, 0;\n");
  EXPECT_EQ(names(m.at(11)), std::vector<std::string>{"%f1 of D read"});
  EXPECT_TRUE(m.at(12).empty());
  EXPECT_EQ(names(m.at(13)), std::vector<std::string>{"%g3 of A written"});
}

TEST(MmaRegisters, OfAnInnerScopeAreOthers) {
  const MmaRegisters m =
      of("{\n.reg .f32 %f0;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, 0f00000000;\n}\n" + kMma);
  EXPECT_TRUE(m.at(12).empty());
  EXPECT_EQ(names(m.at(13)), std::vector<std::string>{"%f1 of D written"});
}

// `.reg .f32 %f<12>` declares %f0 to %f11, and neither %f nor %fa.
TEST(MmaRegisters, AreOfTheScopeThatDeclaresThem) {
  const MmaRegisters m =
      of("{\n.reg .f32 %f;\n.reg .f32 %f1a;\n.reg .f32 %e<4>;\n.shared .b32 %f2;\n"
         "mov.f32 %f0, %f;\nmov.f32 %f1a, %f1;\nmov.f32 %e0, %f3;\nmov.f32 %e1, %e2;\n}\n" +
         kMma);
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(m.at(15)), Names{"%f0 of D written"});
  EXPECT_EQ(names(m.at(16)), Names{"%f1 of D read"});
  EXPECT_EQ(names(m.at(17)), Names{"%f3 of D read"});
  EXPECT_EQ(names(m.at(18)), Names{});
  // Of a scope that is over.
  EXPECT_EQ(names(of("{\n.reg .f32 %f0;\n}\nmov.f32 %f0, %f9;\n" + kMma).at(13)), Names{"%f0 of D written"});
}

TEST(MmaRegisters, WgmmasOfOneShapeNeedNothingBetweenThem) {
  EXPECT_TRUE(of(kMma + kMma).lines().empty());
  const MmaRegisters m =
      of(kMma + "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0,%f1,%f2,%f3}, %a0, %a1, 1, 1, 1;\n");
  ASSERT_EQ(m.at(10).size(), 1u);
  EXPECT_EQ(names(m.at(10)), std::vector<std::string>{"%f0 of D written"});
  EXPECT_EQ(names(m.at(11)), std::vector<std::string>{"%f0 of D written"});
  EXPECT_EQ(m.at(10)[0].as, As::other_shape);
  EXPECT_EQ(m.at(10)[0].mma, 11);
  ASSERT_EQ(m.at(11).size(), 1u);
  EXPECT_EQ(m.at(11)[0].mma, 10);
}

// D of one as A of another, which wgmma does not order.
TEST(MmaRegisters, OfDAreReadAsA) {
  const MmaRegisters m =
      of("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%g0,%g1}, %a0, %a1, 1, 1, 1, 0, 0;\n" + kMma);
  ASSERT_EQ(m.at(11).size(), 1u);
  EXPECT_EQ(m.at(11)[0].as, As::operand);
  EXPECT_EQ(m.at(11)[0].mma, 10);
  EXPECT_FALSE(m.at(11)[0].written);
  ASSERT_EQ(m.at(10).size(), 1u);  // and the other way round: D is written while A may be read
  EXPECT_TRUE(m.at(10)[0].written);
  EXPECT_FALSE(m.at(10)[0].accumulator);
}

TEST(MmaRegisters, FencesAreSaid) {
  const MmaRegisters m = of("wgmma.fence.sync.aligned;\n" + kMma);
  EXPECT_TRUE(m.fences(10));
  EXPECT_FALSE(m.fences(11));
  EXPECT_EQ(m.lines(), std::vector<int>{10});
  const MmaRegisters others =
      of(kMma + "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
  EXPECT_TRUE(others.lines().empty());
}

// A wgmma whose shape is the same but for N has accumulators of another shape.
TEST(MmaRegisters, TheShapeIsAllThatIsCompared) {
  const auto shaped = [](const std::string& shape, const std::string& types) {
    return "wgmma.mma_async.sync.aligned." + shape + "." + types + " {%f0,%f1,%f2,%f3" +
           (shape == "m64n16k16" ? ",%f4,%f5,%f6,%f7" : "") + "}, %a0, %a1, 1, 1, 1, 0, 0;\n";
  };
  EXPECT_TRUE(of(shaped("m64n8k16", "f32.f16.f16") + shaped("m64n8k16", "f32.bf16.bf16")).lines().empty());
  EXPECT_EQ(of(shaped("m64n8k16", "f32.f16.f16") + shaped("m64n16k16", "f32.f16.f16")).lines(),
            (std::vector<int>{10, 11}));
}

}  // namespace
}  // namespace bitwell::hazard
