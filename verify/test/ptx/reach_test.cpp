// Of a file with many kernels only what one needs is read, and that as it stands there.
#include "model/ptx/reach.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "equal.h"
#include "model/ptx/parse.h"

namespace bitwell::ptx {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

std::string body(const std::string& inside) { return "\n{\n" + inside + "ret;\n}\n"; }

// The functions that have bodies with something in them.
std::set<std::string> filled(const Module& m) {
  std::set<std::string> out;
  for (const Function& f : m.functions)
    if (!f.body.empty()) out.insert(f.name);
  return out;
}

// What is kept of `text` for `entry` is what stands there, line by line, and nothing else is lost than
// bodies.
void expect_reached(const std::string& text, const std::string& entry, const std::set<std::string>& reached) {
  const std::string less = reached_from(text, entry);
  const Module whole = parse(text), part = parse(less);
  EXPECT_EQ(filled(part), reached) << less;
  ASSERT_EQ(whole.functions.size(), part.functions.size());
  EXPECT_EQ(whole.variables.size(), part.variables.size());
  for (size_t i = 0; i < whole.functions.size(); ++i) {
    const Function &a = whole.functions[i], &b = part.functions[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.has_body, b.has_body);
    EXPECT_EQ(a.at.line, b.at.line);
    EXPECT_EQ(a.directives, b.directives);
    if (b.body.empty()) continue;
    ASSERT_EQ(a.body.size(), b.body.size());
    for (size_t s = 0; s < a.body.size(); ++s) {
      EXPECT_TRUE(a.body[s] == b.body[s]);
      EXPECT_EQ(a.body[s].at.line, b.body[s].at.line);
    }
  }
}

TEST(Reach, AnEntryAndWhatItCallsAreKept) {
  const std::string text = kHead + ".func c();\n.visible .func (.param .b32 r) a(.param .b32 x)" +
                           body("call c, ();\n") + ".func b()" + body("call b, ();\n") + ".func c()" +
                           body("mov.u32 %r1, 1;\n") + ".visible .entry one(.param .u64 p)" +
                           body("call (r), a, (x);\n") + ".weak .entry two()" + body("@%p1 call b, ();\n") +
                           ".entry three()" + body("");
  EXPECT_EQ(entry_names(text), (std::vector<std::string>{"one", "two", "three"}));
  expect_reached(text, "one", {"one", "a", "c"});
  expect_reached(text, "two", {"two", "b"});
  expect_reached(text, "three", {"three"});
}

TEST(Reach, AFunctionWhoseAddressAVariableHoldsIsKeptWithIt) {
  const std::string text = kHead + ".func a()" + body("") + ".func b()" + body("") + ".func c()" + body("") +
                           ".global .align 8 .u64 table[2] = {a, b};\n.global .u64 other = generic(c);\n" +
                           ".global .u64 again[1] = {table};\n" + ".entry one()" +
                           body("mov.u64 %rd1, table;\n") + ".entry two()" + body("mov.u64 %rd1, other;\n") +
                           ".entry three()" + body("mov.u64 %rd1, again;\n") + ".entry four()" + body("");
  expect_reached(text, "one", {"one", "a", "b"});
  expect_reached(text, "two", {"two", "c"});
  expect_reached(text, "three", {"three", "a", "b"});
  expect_reached(text, "four", {"four"});
}

// A kernel may have stored the address that another calls.
TEST(Reach, WhoCallsAnAddressIsKeptWithTheWholeText) {
  const std::string text = kHead + ".func f()" + body("to: .callprototype _ ();\ncall %rd1, (), to;\n") +
                           ".func g()" + body("") + ".entry stores()" + body("mov.u64 %rd1, g;\n") +
                           ".entry calls()" + body("call f, ();\n") + ".entry among()" +
                           body("to: .calltargets g;\ncall %rd1, (), to;\n");
  EXPECT_EQ(reached_from(text, "calls"), text);
  expect_reached(text, "stores", {"stores", "g"});
  expect_reached(text, "among", {"among", "g"});
}

TEST(Reach, BracketsInCommentsStringsAndVectorsAreNone) {
  const std::string text = kHead + ".file 1 \"a{b.cu\"\n// } ;\n/* { \" */\n.func a()" +
                           body("// }\n/* } */ { .reg .b32 %r<2>; } // begin\nmov.b64 %rd1, {%r1, %r2};\n") +
                           ".entry one() .maxntid 32 .pragma \"nounroll }\";" +
                           body(".pragma \"x{\";\ncall a, ();\n") + ".entry two()" +
                           body("$L: bra $L; // call a\n") +
                           ".section .debug_str {\ninfo: .b8 \"x\"\n.b8 1, 2\n}\n";
  EXPECT_EQ(entry_names(text), (std::vector<std::string>{"one", "two"}));
  expect_reached(text, "one", {"one", "a"});
  expect_reached(text, "two", {"two"});
}

TEST(Reach, ATextThatIsNotPtxStaysAsItIs) {
  for (const std::string& text :
       {kHead + ".entry one()\n{\nret;\n", kHead + ".entry one() { ret; } }\n",
        kHead + ".entry one()\n{ /* ret; }\n", kHead + ".entry one() \" { }",
        kHead + ".entry one\1() { ret; }", std::string(), std::string("{"), kHead}) {
    EXPECT_EQ(reached_from(text, "one"), text);
    entry_names(text);
  }
  EXPECT_EQ(reached_from(kHead + ".entry one();", "one"), kHead + ".entry one();");
  EXPECT_EQ(entry_names(kHead + ".entry one();"), std::vector<std::string>{});
}

}  // namespace
}  // namespace bitwell::ptx
