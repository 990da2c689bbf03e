// Where an address comes from is known where it can be followed, and not known anywhere else.
#include "model/hazard/objects.h"

#include <gtest/gtest.h>

#include "model/hazard/local_pointers.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

// The variable that the load of the last line goes through, of two; "": not known.
std::string origin(const std::string& body, const std::string& functions = "") {
  const std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<16>;
.reg .b64 %a<16>;
.reg .pred %q<2>;
.shared .align 16 .b8 one[64];
.shared .align 16 .b8 two[64];
mov.u32 %r0, one;
mov.u32 %r1, two;
mov.u32 %r2, %tid.x;
)" + body;
  const auto line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  const Objects objects(ptx::parse(text + " ld.shared.u32 %r15, [%r9];\nret;\n}\n"),
                        {{"one", 0, 64}, {"two", 64, 64}});
  const Object* found = objects.read_at(line);
  return found == nullptr ? "" : found->name;
}

TEST(Origins, GoThroughSumsMasksAndChoices) {
  EXPECT_EQ(origin("mov.u32 %r9, %r0;"), "one");
  EXPECT_EQ(origin("mov.u32 %r9, two+4;"), "two");
  EXPECT_EQ(origin("mad.lo.u32 %r9, %r2, 4, %r0;"), "one");
  EXPECT_EQ(origin("add.u32 %r9, %r2, %r1;\nsub.u32 %r9, %r9, %r2;"), "two");
  EXPECT_EQ(origin("xor.b32 %r9, %r0, %r2;"), "one");
  EXPECT_EQ(origin("and.b32 %r9, %r0, -16;"), "one");
  EXPECT_EQ(origin("selp.b32 %r9, %r0, %r0, %q0;"), "one");
  EXPECT_EQ(origin("mov.b64 %a0, {%r0, 0};\ncvt.u32.u64 %r9, %a0;"), "one");
  EXPECT_EQ(origin("sub.u32 %r3, %r1, %r1;\nadd.u32 %r9, %r0, %r3;"), "one");  // an index
}

TEST(Origins, GoThroughRegistersHoweverTheirNumberIsWritten) {
  EXPECT_EQ(origin("mov.u32 %r09, %r00;"), "one");
  EXPECT_EQ(origin("mov.u32 %r003, %r01;\nadd.u32 %r9, %r3, %r2;"), "two");
}

TEST(Origins, AreNotKnownWhereTheyCannotBeFollowed) {
  EXPECT_EQ(origin("selp.b32 %r9, %r0, %r1, %q0;"), "");
  EXPECT_EQ(origin("sub.u32 %r3, %r1, %r0;\nadd.u32 %r9, %r0, %r3;"), "");
  EXPECT_EQ(origin("add.u32 %r9, %r0, %r1;"), "");
  EXPECT_EQ(origin("and.b32 %r3, %r0, 15;\nadd.u32 %r9, %r3, %r2;"), "");
  EXPECT_EQ(origin("shr.u32 %r3, %r0, 4;\nshl.b32 %r9, %r3, 4;"), "");
  EXPECT_EQ(origin("ld.shared.u32 %r9, [%r0];"), "");
  EXPECT_EQ(origin("ld.shared.u32 %r3, [%r0];\nselp.b32 %r9, %r0, %r3, %q0;"), "");
  EXPECT_EQ(origin("cvt.u32.u64 %r9, %a9;"), "");
}

TEST(Origins, AreOfTheLastAssignmentInABlockAndOfAllBehindALabel) {
  EXPECT_EQ(origin("mov.u32 %r9, %r1;\nmov.u32 %r9, %r0;"), "one");
  EXPECT_EQ(origin("mov.u32 %r9, %r1;\n@%q0 mov.u32 %r9, %r0;"), "");
  EXPECT_EQ(origin("mov.u32 %r9, %r1;\n@%q0 bra there;\nmov.u32 %r9, %r0;\nthere:"), "");
  EXPECT_EQ(origin("mov.u32 %r9, %r0;\nagain:\nadd.u32 %r9, %r9, 4;\n@%q0 bra again;\n"), "one");
  EXPECT_EQ(origin("{\n.reg .b32 %r<16>;\nmov.u32 %r9, two;\n}\nmov.u32 %r9, %r0;\nhere:"), "one");
}

constexpr const char* kFunction = R"(.func (.param .b32 out) same(.param .b32 place)
{
.reg .b32 %r<4>;
ld.param.u32 %r1, [place];
mov.u32 %r2, %tid.x;
add.u32 %r1, %r1, %r2;
st.param.b32 [out], %r1;
ret;
}
)";
std::string called(const std::string& with) {
  return "{\n.param .b32 in0;\n.param .b32 out0;\nst.param.b32 [in0], " + with +
         ";\ncall.uni (out0), same, (in0);\nld.param.b32 %r9, [out0];\n}\n";
}

TEST(Origins, GoThroughCalls) {
  EXPECT_EQ(origin(called("%r0"), kFunction), "one");
  EXPECT_EQ(origin("{\n.reg .b32 %s;\nadd.u32 %s, %r0, %r2;\n" + called("%s") + "}\n", kFunction), "one");
  EXPECT_EQ(origin(called("%r1") + called("%r0"), kFunction), "");  // what it returns is of both
  EXPECT_EQ(origin("mov.u64 %a3, same;\n" + called("%r0"), kFunction), "");
}

// PTX ISA 9.0, 9.7.9.7.
TEST(Shuffles, TakeTheLaneOfTheManualOrTheirOwn) {
  const auto from = [](char mode, uint32_t lane, uint32_t clamp, uint32_t to) {
    return LocalPointers::Shuffle{1, mode, lane, clamp, {}}.from(to);
  };
  constexpr uint32_t kWhole = 31, kUp = 0, kFour = 0x1C1F, kFourUp = 0x1C00;
  EXPECT_EQ(from('i', 5, kWhole, 0), 5u);
  EXPECT_EQ(from('i', 5, kWhole, 5), 5u);
  EXPECT_EQ(from('i', 0, kFour, 6), 4u);
  EXPECT_EQ(from('i', 5, kFour, 2), 1u);
  EXPECT_EQ(from('u', 1, kUp, 0), 0u);
  EXPECT_EQ(from('u', 1, kUp, 31), 30u);
  EXPECT_EQ(from('u', 1, kFourUp, 4), 4u);
  EXPECT_EQ(from('d', 1, kWhole, 31), 31u);
  EXPECT_EQ(from('d', 2, kWhole, 29), 31u);
  EXPECT_EQ(from('d', 1, kFour, 7), 7u);
  EXPECT_EQ(from('b', 1, kWhole, 6), 7u);
  EXPECT_EQ(from('b', 16, 15, 3), 3u);
}

}  // namespace
}  // namespace bitwell::hazard
