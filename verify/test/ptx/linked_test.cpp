// What joins modules and what does not, whose definition is taken of three, and which names and files a
// joined text has.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/ptx/link.h"
#include "model/ptx/parse.h"

namespace bitwell::ptx::linked {
namespace {

const std::string kHead = ".version 8.0\n.target sm_90a\n.address_size 64\n";

std::string with(const std::string& text) { return kHead + text; }
// A function of that linkage, which begins with an instruction that tells it from others.
std::string f(const std::string& linkage, const std::string& first, const std::string& name = "f") {
  return linkage + " .func " + name + "()\n{\n" + first + ";\nret;\n}\n";
}
std::string kernel(const std::string& linkage, const std::string& name, const std::string& inside = "") {
  return linkage + " .entry " + name + "()\n{\n" + inside + "ret;\n}\n";
}
const std::string kWants = ".extern .func f();\n";

std::string said(const std::vector<std::string>& modules) {
  try {
    return std::to_string(link(modules).size());
  } catch (const LinkError& e) {
    return e.what();
  }
}
// The first instruction of the only body that a name has.
std::string begins(const Module& m, const std::string& name) {
  std::vector<std::string> out;
  for (const Function& of : m.functions)
    if (of.name == name && of.has_body) out.push_back(of.body.front().instruction.opcode);
  return out.size() == 1 ? out.front() : std::to_string(out.size()) + " bodies";
}

// A definition that nobody wants joins nobody: of functions not even where two modules have it; of variables
// that linkers make one of, it does.
TEST(Linked, WhoWantsNothingAndHasNothingInCommonStaysAlone) {
  struct Case {
    std::string one, other;
    size_t modules;
  };
  const Case cases[] = {
      {f(".weak", "exit"), f(".weak", "trap"), 2},
      {f(".visible", "exit"), f(".visible", "trap"), 2},
      {f(".weak", "exit"), f(".visible", "trap"), 2},
      {".weak .func f();\n" + f(".weak", "exit"), ".weak .func f();\n" + f(".weak", "exit"), 2},
      {".visible .func f();\n", f(".visible", "exit"), 2},
      {".extern .global .u32 x;\n", ".extern .global .u32 x;\n", 2},  // that nobody has
      {".extern .global .u32 x;\n", ".weak .global .u32 y;\n", 2},
      {kWants, kWants, 2},
      {".extern .shared .align 4 .b8 pool[];\n", ".visible .shared .align 4 .b8 pool[16];\n", 2},
      {".visible .shared .b8 pool[16];\n", ".visible .shared .b8 pool[16];\n", 2},
      {".global .u32 x;\n", ".weak .global .u32 x;\n", 2},  // one is its module's own
      {".weak .global .u32 x;\n", ".weak .global .u32 x;\n", 1},
      {".weak .const .u32 x;\n", ".weak .const .u32 x;\n", 1},
      {".extern .const .u32 x;\n", ".visible .const .u32 x;\n", 1},
      {".common .global .u32 x;\n", ".weak .global .u32 x;\n", 1},
      {kWants, f(".weak", "exit"), 1},
      {kWants, f("", "exit"), 2},  // known in its module alone
  };
  for (const Case& c : cases)
    for (const bool swapped : {false, true}) {
      const std::string one = with((swapped ? c.other : c.one) + kernel(".visible", "a")),
                        other = with((swapped ? c.one : c.other) + kernel(".visible", "b"));
      EXPECT_EQ(said({one, other}), std::to_string(c.modules)) << c.one << c.other << swapped;
    }
}

// Who needs another is joined with whoever that one needs, wherever they stand.
TEST(Linked, AChainOfModulesIsOne) {
  std::vector<std::string> chain;
  for (int i = 0; i < 5; ++i)
    chain.push_back(with(f(".visible", "exit", "f" + std::to_string(i)) +
                         (i == 4 ? "" : ".extern .func f" + std::to_string(i + 1) + "();\n")));
  std::vector<int> order{0, 1, 2, 3, 4};
  do {
    std::vector<std::string> modules;
    for (const int i : order) modules.push_back(chain[static_cast<size_t>(i)]);
    ASSERT_EQ(said(modules), "1");
    modules.insert(modules.begin() + 2, with(kernel(".visible", "alone")));
    ASSERT_EQ(said(modules), "2");
  } while (std::next_permutation(order.begin(), order.end()));
}

// Of definitions the visible one is taken, else the first; declarations give way to all.
TEST(Linked, OfThreeDefinitionsOneIsTaken) {
  struct Case {
    std::array<std::string, 3> linkages;  // "": a declaration
    std::string taken;
  };
  const std::string weak = ".weak", visible = ".visible";
  const Case cases[] = {{{weak, weak, weak}, "exit"},      {{weak, visible, weak}, "trap"},
                        {{weak, weak, visible}, "brkpt"},  {{visible, weak, weak}, "exit"},
                        {{"", weak, weak}, "trap"},        {{"", "", visible}, "brkpt"},
                        {{"", visible, ""}, "trap"},       {{weak, "", weak}, "exit"},
                        {{visible, visible, ""}, "twice"}, {{visible, weak, visible}, "twice"},
                        {{"", visible, visible}, "twice"}};
  const std::array<std::string, 3> first{"exit", "trap", "brkpt"};
  for (const Case& c : cases) {
    std::vector<std::string> modules;
    for (size_t i = 0; i < 3; ++i)
      modules.push_back(with((c.linkages[i].empty() ? kWants : f(c.linkages[i], first[i])) +
                             kernel(".visible", "k" + std::to_string(i))));
    modules.push_back(with(kWants));
    if (c.taken == "twice") {
      EXPECT_EQ(said(modules), "two modules define 'f'");
      continue;
    }
    const std::vector<std::string> out = link(modules);
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(begins(parse(out[0]), "f"), c.taken) << c.linkages[0] << c.linkages[1] << c.linkages[2];
  }
}

// A function that its module declares first, as nvcc does, is defined once.
TEST(Linked, WhatIsDeclaredBeforeItsDefinitionIsOne) {
  for (const std::string linkage : {".visible", ".weak"})
    for (const bool first : {false, true})
      for (const int declared : {0, 1, 2}) {
        const std::string declaration = linkage + " .func f();\n";
        const std::string caller = with(kWants + kernel(".visible", "k", "call f, ();\n"));
        const std::string callee =
            with((declared > 0 ? declaration : "") + (declared > 1 ? declaration : "") + f(linkage, "trap"));
        const std::vector<std::string> out =
            link(first ? std::vector{callee, caller} : std::vector{caller, callee});
        ASSERT_EQ(out.size(), 1U) << linkage << declared;
        EXPECT_EQ(begins(parse(out[0]), "f"), "trap");
      }
}

TEST(Linked, OfVariablesTheStrongestDefinitionIsTaken) {
  struct Case {
    std::string one, other;
    std::string said;  // the linkage of the one that is taken, or why none is
  };
  const Case cases[] = {
      {".weak", ".visible", ".visible"},   {".common", ".weak", ".weak"},
      {".common", ".visible", ".visible"}, {".extern", ".common", ".common"},
      {".common", ".common", ".common"},   {".visible", ".visible", "two modules define 'x'"},
  };
  for (const Case& c : cases)
    for (const bool swapped : {false, true}) {
      const auto x = [](const std::string& linkage) { return with(linkage + " .global .align 4 .u32 x;\n"); };
      const std::vector<std::string> modules{x(swapped ? c.other : c.one), x(swapped ? c.one : c.other)};
      if (c.said.starts_with("two")) {
        EXPECT_EQ(said(modules), c.said);
        continue;
      }
      const Module m = parse(joined(modules));
      ASSERT_EQ(m.variables.size(), 1U) << c.one << c.other;
      EXPECT_EQ(m.variables[0].linkage, c.said) << swapped;
    }
  // Common ones are one only where they are the same.
  EXPECT_EQ(said({with(".common .global .u32 x;\n"), with(".weak .global .u64 x;\n")}), "1");
}

// Memory that a launch gives is aligned as whoever of all wants most, in any order.
TEST(Linked, OfThreePoolsTheWidestAlignmentHolds) {
  std::vector<int> aligns{4, 16, 64};
  do {
    std::vector<std::string> modules{with(f(".visible", "exit"))};
    for (const int align : aligns)
      modules.push_back(with(".extern .shared .align " + std::to_string(align) + " .b8 pool[];\n" + kWants));
    const Module m = parse(joined(modules));
    ASSERT_EQ(m.variables.size(), 1U);
    EXPECT_EQ(m.variables[0].align, 64U) << aligns[0] << " " << aligns[1];
  } while (std::next_permutation(aligns.begin(), aligns.end()));
  // Of those that want the same the first stays.
  const Module same =
      parse(joined({with(".extern .shared .align 4 .b8 pool[];\n" + kWants),
                    with(".extern .shared .align 4 .b32 pool[];\n" + f(".visible", "exit"))}));
  EXPECT_EQ(same.variables.at(0).type, ".b8");
}

// A kernel is known to the host without a word of its module, and a weak one may be there twice.
TEST(Linked, KernelsAreKnownWhateverTheirModuleSays) {
  const auto modules = [](const std::string& one, const std::string& other) {
    return std::vector{with(kernel(one, "k", "trap;\n") + kWants),
                       with(kernel(other, "k", "brkpt;\n") + f(".visible", "exit"))};
  };
  for (const std::string one : {"", ".visible"})
    for (const std::string other : {"", ".visible"})
      EXPECT_EQ(said(modules(one, other)), "two modules define 'k'");
  EXPECT_EQ(begins(parse(link(modules(".weak", "")).at(0)), "k"), "brkpt");
  EXPECT_EQ(begins(parse(link(modules(".weak", ".weak")).at(0)), "k"), "trap");
}

// Names of one module alone: as many as modules have one get others, none of which is taken already.
TEST(Linked, NamesOfOneModuleGetOthersThatNobodyHas) {
  for (const bool known : {false, true}) {  // one of the others is known to all
    std::vector<std::string> modules{with(f(".visible", "exit"))};
    for (int i = 0; i < 3; ++i)
      modules.push_back(
          with(kWants + ".global .u32 x = " + std::to_string(10 + i) + ";\n" +
               (i == 1 ? std::string(known ? ".visible" : "") + " .global .u32 x_1 = 20;\n" : "") +
               kernel(".visible", "k" + std::to_string(i), "mov.u32 %r1, x;\n")));
    const Module m = parse(joined(modules));
    std::map<std::string, uint64_t> values;
    for (const Variable& v : m.variables) {
      EXPECT_FALSE(values.contains(v.name)) << v.name;
      values[v.name] = v.initializers.at(0).value.integer;
    }
    EXPECT_EQ(values.size(), 4U);
    EXPECT_EQ(values["x"], 10U);
    EXPECT_EQ(values["x_1"], 20U);
    for (int i = 0; i < 3; ++i)
      for (const Function& of : m.functions)
        if (of.has_body && of.name == "k" + std::to_string(i)) {
          EXPECT_EQ(values[of.body.front().instruction.operands.at(1).name], static_cast<uint64_t>(10 + i));
        }
  }
}

TEST(Linked, TargetsOptionsAndFilesAreReadToTheirEnds) {
  const std::string head = ".version 8.0\n.target sm_90a, texmode_independent, debug\n.address_size 64\n";
  for (const bool behind : {false, true}) {  // the directives stand at the end of the text
    const std::string files = ".file 1 \"a.cu\", 1234, 567\n.file 2 \"b.h\"\n.file 3 \"c.h\", 8, 9\n";
    const std::string lines = ".loc 1 7 0\nexit;\n.loc 2 8 0\nexit;\n.loc 3 9 0\nexit;\n";
    const std::string k = kernel(".visible", "k", lines);
    const Module m = parse(joined({with(".file 1 \"other.cu\", 1, 2\n" + f(".visible", ".loc 1 3 0\ntrap")),
                                   head + (behind ? kWants + k + files : files + kWants + k)}));
    EXPECT_EQ(m.target, "sm_90a");
    EXPECT_EQ(m.target_options, (std::vector<std::string>{"texmode_independent", "debug"}));
    EXPECT_EQ(m.files.size(), 4U);
    for (const Function& of : m.functions) {
      if (!of.has_body) continue;
      const std::vector<std::string> names = of.name == "k" ? std::vector<std::string>{"a.cu", "b.h", "c.h"}
                                                            : std::vector<std::string>{"other.cu"};
      for (size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(m.files.at(of.body.at(i).instruction.source.file), names[i]) << behind;
    }
  }
}

}  // namespace
}  // namespace bitwell::ptx::linked
