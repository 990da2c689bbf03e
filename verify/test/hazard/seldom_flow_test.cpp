// Where an address comes from, as it seldom does: differences with what is not known, names that two
// variables have, functions that may be called with anything, lanes whose number was put there in another
// block.
#include <gtest/gtest.h>

#include "model/hazard/flow/local_pointers.h"
#include "model/hazard/flow/objects.h"
#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

const std::string kModule = ".version 8.7\n.target sm_90a\n.address_size 64\n";

int line_with(const std::string& text, const std::string& what) {
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n'));
}

// The variable of which the load into %r15 reads; "": not known. %r0 is one's address, %r1 two's.
std::string read_of(const std::string& body, const std::string& functions = "", const char* second = "two") {
  const std::string text = kModule + functions +
                           ".visible .entry k()\n{\n.reg .b32 %r<16>; .reg .b64 %a<4>; .reg .pred %q;\n"
                           ".shared .align 16 .b8 one[64]; .shared .align 16 .b8 two[64];\n"
                           "mov.u32 %r0, one; mov.u32 %r1, two; mov.u32 %r2, %tid.x;\n" +
                           body + "\nret;\n}\n";
  const Objects objects(isa::compile(ptx::parse(text), "k"), {{"one", 0, 64}, {second, 64, 64}});
  const Object* const found = objects.read_at(line_with(text, "ld.shared.u32 %r15"));
  return found == nullptr ? "" : found->name;
}
const std::string kRead = "add.u32 %r9, %r0, %r3;\nld.shared.u32 %r15, [%r9];";

TEST(SeldomFlow, ADifferenceIsAnIndexOfTwoPlacesOfOneVariable) {
  EXPECT_EQ(read_of("add.u32 %r4, %r0, 8; sub.u32 %r3, %r0, %r4;\n" + kRead), "one");
  EXPECT_EQ(read_of("sub.u32 %r3, %r0, %r1;\n" + kRead), "");
  for (const char* other :
       {"selp.b32 %r4, %r0, %r1, %q;", "selp.b32 %r4, %r0, %r2, %q;", "selp.b32 %r4, %r2, %r0, %q;"}) {
    EXPECT_EQ(read_of(other + std::string("sub.u32 %r3, %r0, %r4;\n") + kRead), "") << other;
    EXPECT_EQ(read_of(other + std::string("sub.u32 %r3, %r4, %r0;\n") + kRead), "") << other;
    EXPECT_EQ(read_of(other + std::string("sub.u32 %r3, %r4, %r4;\n") + kRead), "") << other;
  }
}

TEST(SeldomFlow, ANameOfTwoVariablesIsNeither) {
  const std::string read = "ld.shared.u32 %r15, [%r0];";
  EXPECT_EQ(read_of(read), "one");
  EXPECT_EQ(read_of(read, "", "one"), "");
  const auto none = [](const char* second) {
    const isa::Program program = isa::compile(
        ptx::parse(kModule +
                   ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %a<4>;\n.local .align 8 .b8 mine[64]; "
                   ".local .align 8 .b8 other[64];\nmov.u64 %a0, mine; ld.param.u64 %a2, [p];\n"
                   "st.global.u64 [%a2], %a0;\nret;\n}\n"),
        "k");
    return Objects(program, {{"mine", 0, 64, Object::Space::local}, {second, 64, 64, Object::Space::local}})
        .local_pointers()
        ->none();
  };
  EXPECT_FALSE(none("other"));
  EXPECT_TRUE(none("mine"));
}

// Each of its parameters may be anything where its address is taken.
TEST(SeldomFlow, AFunctionWhoseAddressIsTakenIsCalledWithAnything) {
  for (const char* which : {"a", "b"}) {
    const std::string function =
        ".func (.param .b32 s, .param .b32 t) reads(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<16>;\n"
        "ld.param.u32 %r1, [" +
        std::string(which) +
        "];\nld.shared.u32 %r15, [%r1];\nst.param.b32 [s], %r15; st.param.b32 [t], %r15;\nret;\n}\n";
    const std::string call =
        "{ .param .b32 x; .param .b32 y; .param .b32 u; .param .b32 v; st.param.b32 [x], %r0; st.param.b32 "
        "[y], "
        "%r0;\ncall.uni (u, v), reads, (x, y); }\n";
    EXPECT_EQ(read_of(call, function), "one") << which;
    EXPECT_EQ(read_of("mov.u64 %a3, reads;\n" + call, function), "") << which;
    EXPECT_EQ(read_of(call + "mov.u64 %a3, reads;\n", function), "") << which;
  }
}

// A lane by its number, which a register has from another block, where that is the only one that it ever has.
TEST(SeldomFlow, ALanesNumberMayComeFromAnotherBlock) {
  const auto lane = [](const std::string& before, const std::string& behind) -> int {
    const std::string text =
        kModule +
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<16>; .reg .b64 %a<8>; .reg .pred %q;\n"
        ".local .align 8 .b8 mine[64];\nmov.u64 %a0, mine; cvta.local.u64 %a0, %a0; mov.u32 %r0, %tid.x;\n" +
        before + "\nthere:\n" + behind +
        "mov.b64 {%r2, %r3}, %a0;\nshfl.sync.idx.b32 %r4, %r2, %r5, 31, -1;\nmov.b64 %a3, {%r4, %r3};\n"
        "st.u32 [%a3], 1;\nret;\n}\n";
    const auto p = Objects(isa::compile(ptx::parse(text), "k"), {{"mine", 0, 64, Object::Space::local}})
                       .local_pointers();
    const auto* const through = p->access_at(line_with(text, "st.u32 [%a3]"));
    if (through == nullptr) return -1;
    for (const size_t word : through->address.received)
      if (const auto* const s = p->shuffle_of(word)) return static_cast<int>(s->from(1));
    return -1;
  };
  EXPECT_EQ(lane("mov.u32 %r5, 7;", ""), 7);
  EXPECT_EQ(lane("", "mov.u32 %r5, 7;\n"), 7);
  EXPECT_EQ(lane("mov.u32 %r5, 3;", "mov.u32 %r5, 7;\n"), 7);
  EXPECT_EQ(lane("mov.u32 %r5, 3;\nmov.u32 %r5, 7;", ""), -1);
  EXPECT_EQ(lane("mov.u32 %r5, 3;\n@%q mov.u32 %r5, 7;", ""), -1);
  EXPECT_EQ(lane("mov.u32 %r5, %r0;", ""), -1);
  EXPECT_EQ(lane("@%q mov.u32 %r5, 7;", ""), -1);
}

}  // namespace
}  // namespace bitwell::hazard
