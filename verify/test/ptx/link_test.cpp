// Modules of one program are joined as a linker of device code joins them, and no further.
#include "model/ptx/link.h"

#include <gtest/gtest.h>

#include "model/ptx/parse.h"

namespace bitwell::ptx {
namespace {

const std::string kLinkHead = ".version 8.0\n.target sm_90a\n.address_size 64\n";

std::string module_of(const std::string& text) { return kLinkHead + text; }
std::string entry_of(const std::string& name, const std::string& inside = "") {
  return ".visible .entry " + name + "()\n{\n" + inside + "ret;\n}\n";
}
std::string function(const std::string& head, const std::string& inside = "") {
  return head + "()\n{\n" + inside + "ret;\n}\n";
}

Module one(const std::vector<std::string>& modules) {
  const std::vector<std::string> out = link(modules);
  EXPECT_EQ(out.size(), 1U);
  return parse(out.at(0));
}

// The functions with a body under that name.
std::vector<const Function*> bodies(const Module& m, const std::string& name) {
  std::vector<const Function*> out;
  for (const Function& f : m.functions)
    if (f.name == name && f.has_body) out.push_back(&f);
  return out;
}
std::vector<const Variable*> variables(const Module& m, const std::string& name) {
  std::vector<const Variable*> out;
  for (const Variable& v : m.variables)
    if (v.name == name) out.push_back(&v);
  return out;
}

std::string refusal(const std::vector<std::string>& modules) {
  try {
    link(modules);
    return "taken";
  } catch (const LinkError& e) {
    return e.what();
  }
}

TEST(Link, WhatDoesNotNeedAnotherStaysAsItIs) {
  const std::vector<std::string> alone{module_of(entry_of("a") + ".global .u32 same;\n"),
                                       module_of(entry_of("b") + ".global .u32 same;\n"),
                                       module_of(".extern .func nobody();\n" + entry_of("c")),
                                       module_of(".extern .shared .b8 pool[];\n" + entry_of("d")),
                                       module_of(".extern .shared .b8 pool[];\n" + entry_of("e")),
                                       "no PTX {"};
  EXPECT_EQ(link(alone), alone);
}

TEST(Link, AFunctionOfAnotherModuleMakesOneOfBothInAnyOrder) {
  const std::string caller = module_of(".extern .func f\n()\n;\n" + entry_of("a", "call f, ();\n"));
  const std::string callee = module_of(function(".visible .func f", "exit;\n"));
  for (const auto& modules : {std::vector{caller, callee}, std::vector{callee, caller}}) {
    const Module m = one(modules);
    ASSERT_EQ(bodies(m, "f").size(), 1U);
    EXPECT_EQ(bodies(m, "f").front()->body.size(), 2U);
    EXPECT_EQ(bodies(m, "a").size(), 1U);
    for (const Function& f : m.functions) EXPECT_NE(f.linkage, ".extern");
  }
}

TEST(Link, WhoNeedsNobodyIsLeftBesideThoseThatDo) {
  const std::string caller = module_of(".extern .func f();\n" + entry_of("a", "call f, ();\n"));
  const std::string other = module_of(entry_of("b"));
  const std::vector<std::string> out = link({caller, other, module_of(function(".visible .func f"))});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1], other);
}

TEST(Link, AVariableIsOneForAllAndStandsBeforeWhoNamesIt) {
  for (const std::string linkage : {".visible", ".weak", ".common"}) {
    const Module m =
        one({module_of(".extern .global .align 4 .u32 x;\n.global .u64 at = x;\n" + entry_of("a")),
             module_of(linkage + " .global .align 4 .u32 x;\n" + entry_of("b"))});
    ASSERT_EQ(variables(m, "x").size(), 1U);
    EXPECT_EQ(variables(m, "x").front()->linkage, linkage);
    EXPECT_LT(variables(m, "x").front(), variables(m, "at").front());
  }
}

TEST(Link, WeakVariablesOfTwoModulesAreOne) {
  const std::string x = ".weak .global .align 4 .u32 x;\n";
  EXPECT_EQ(variables(one({module_of(x + entry_of("a")), module_of(x + entry_of("b"))}), "x").size(), 1U);
}

TEST(Link, VisibleGoesBeforeWeakAndOfSeveralWeakTheFirst) {
  const std::string weak = module_of(function(".weak .func f", "trap;\n") + entry_of("a", "call f, ();\n") +
                                     ".extern .func g();\n");
  const std::string visible =
      module_of(function(".visible .func f", "exit;\n") + function(".visible .func g"));
  const Module m = one({weak, visible});
  ASSERT_EQ(bodies(m, "f").size(), 1U);
  EXPECT_EQ(bodies(m, "f").front()->body.front().instruction.opcode, "exit");
  const Module n = one({module_of(function(".weak .func f", "trap;\n") + ".extern .func g();\n"),
                        module_of(function(".weak .func f", "exit;\n") + function(".visible .func g"))});
  EXPECT_EQ(bodies(n, "f").front()->body.front().instruction.opcode, "trap");
}

TEST(Link, WhatOneModuleKeepsToItselfIsEachOnesOwn) {
  // A function calls what stands before it.
  const auto with = [&](const std::string& value, const std::string& rest) {
    return module_of(".global .u32 mine = " + value + ";\n" + function(".func own", "mov.u32 %r1, mine;\n") +
                     rest);
  };
  const Module m = one({with("3", ".extern .func f();\n" + entry_of("a", "call own, ();\n")),
                        with("4", function(".visible .func f", "call own, ();\n"))});
  const auto callee = [&](const std::string& name) {
    return bodies(m, name).front()->body.front().instruction.operands.front().name;
  };
  ASSERT_NE(callee("a"), callee("f"));
  const auto value = [&](const std::string& function) {
    const std::string variable = bodies(m, function).front()->body.front().instruction.operands[1].name;
    return variables(m, variable).front()->initializers.front().value.integer;
  };
  EXPECT_EQ(value(callee("a")), 3U);
  EXPECT_EQ(value(callee("f")), 4U);
}

TEST(Link, MemoryOfALaunchIsOneAlignedAsWhoWantsMost) {
  const std::string pool = ".extern .shared .align ", end = " .b8 pool[];\n";
  for (const auto& [a, b] : {std::pair{"4", "16"}, std::pair{"16", "4"}}) {
    const Module m = one({module_of(pool + a + end + ".extern .func f();\n"),
                          module_of(pool + b + end + function(".visible .func f"))});
    ASSERT_EQ(variables(m, "pool").size(), 1U);
    EXPECT_EQ(variables(m, "pool").front()->align, 16U);
  }
}

TEST(Link, LinesAreOfTheFilesTheyWereOf) {
  const auto with = [](const std::string& name, const std::string& rest) {
    return module_of(rest + ".file 1 \"" + name + "\"\n.file 2 \"both.h\"\n");
  };
  const std::string lines =
      ".loc 1 7 0\nbar.sync 0;\n.loc 2 9 0, function_name $L__info_string0, inlined_at 1 7 0\nbar.sync 1;\n";
  const Module m = one({with("a.cu", ".extern .func f();\n" + entry_of("a", lines)),
                        with("b.cu", function(".visible .func f", lines))});
  for (const auto& [name, file] : {std::pair{"a", "a.cu"}, std::pair{"f", "b.cu"}}) {
    const auto& body = bodies(m, name).front()->body;
    EXPECT_EQ(m.files.at(body[0].instruction.source.file), file);
    EXPECT_EQ(m.files.at(body[1].instruction.source.file), "both.h");
    const SourceLine at = m.inlined_at.at(static_cast<size_t>(body[1].instruction.source.inlined_at));
    EXPECT_EQ(m.files.at(at.file), file);
  }
}

TEST(Link, TheNewestVersionAndAllOptionsHold) {
  std::string newer = module_of(function(".visible .func f"));
  newer.replace(newer.find("8.0"), 3, "8.7").replace(newer.find("sm_90a"), 6, "sm_90a, debug");
  const Module m = one({module_of(".extern .func f();\n"), newer});
  EXPECT_EQ(m.version, 87);
  EXPECT_EQ(m.target_options, std::vector<std::string>{"debug"});
}

TEST(Link, TwoOfOneNameAreRefusedByName) {
  const std::string f = function(".visible .func f");
  EXPECT_EQ(refusal({module_of(f + ".extern .func g();\n"), module_of(f + function(".visible .func g"))}),
            "two modules define 'f'");
  EXPECT_EQ(refusal({module_of(entry_of("k") + ".extern .func g();\n"),
                     module_of(entry_of("k") + function(".visible .func g"))}),
            "two modules define 'k'");
  EXPECT_EQ(refusal({module_of(".common .global .u32 x;\n"), module_of(".common .global .u64 x;\n")}),
            "two modules have a '.common' variable 'x', which are not the same");
  EXPECT_EQ(refusal({module_of(".weak .global .u32 x, y;\n"), module_of(".weak .global .u32 x;\n")}),
            "taken");
  EXPECT_EQ(refusal({module_of(".weak .global .u32 x;\n"), module_of(".weak .global .u32 x, y;\n")}),
            "'x' is declared with other names in one statement, and two modules have it");
}

// A text that ends anywhere is linked or refused, and reads nothing behind its end.
TEST(Link, TextsThatEndAnywhereAreTakenOrRefused) {
  const std::string whole = module_of(
      ".file 1 \"a.cu\", 1, 2\n.extern .func (.param .b32 r) f(.param .align 4 .b32 p) .noreturn;\n.weak "
      ".global .align 0x10 "
      ".u32 x[2] = {1, 2};\n" +
      entry_of("a", ".loc 1 7 0, function_name $L__info_string0, inlined_at 1 7 0\ncall f, ();\n") +
      ".section .debug_str { $L__info_string0: .b8 0 }\n.alias a, b;\n.target sm_90a, debug\n");
  const std::string other =
      module_of(entry_of("b") + ".weak .global .align 4 .u32 x[2];\n" +
                ".visible .func (.param .b32 r) f(.param .align 4 .b32 p)\n{\nret;\n}\n");
  for (size_t end = 0; end <= whole.size(); ++end) {
    const std::string part = whole.substr(0, end);
    try {
      EXPECT_FALSE(link({part, other}).empty());
      EXPECT_FALSE(joined({part, other}).empty());
    } catch (const LinkError&) {
    } catch (const SyntaxError&) {
    }
  }
}

TEST(Link, ModulesOf32BitAddressesAreRefused) {
  std::string narrow = module_of(entry_of("a"));
  narrow.replace(narrow.find("64"), 2, "32");
  EXPECT_THROW(joined({narrow, module_of(entry_of("b"))}), LinkError);
}

TEST(Link, ModulesForTwoTargetsAreNotJoined) {
  std::string other = module_of(function(".visible .func f"));
  other.replace(other.find("sm_90a"), 6, "sm_80");
  EXPECT_EQ(refusal({module_of(".extern .func f();\n"), other}),
            "modules for sm_90a and for sm_80 are not linked");
  EXPECT_EQ(parse(joined({module_of(entry_of("a")), module_of(entry_of("b"))})).functions.size(), 2U);
}

}  // namespace
}  // namespace bitwell::ptx
