// The source lines of inline assembly: LLVM may count .loc up inside it, to lines that the source does not
// have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/ptx/parse.h"

namespace bitwell::ptx {
namespace {

// The source line of each instruction, in order.
std::vector<int> lines(const std::vector<Statement>& body) {
  std::vector<int> out;
  for (const Statement& s : body) {
    if (s.kind == Statement::Kind::block)
      for (const int line : lines(s.body)) out.push_back(line);
    if (s.kind == Statement::Kind::instruction) out.push_back(s.instruction.source.line);
  }
  return out;
}

std::vector<int> lines_of(const std::string& body) {
  const Module m =
      parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n" + body + "}\n");
  return lines(m.functions[0].body);
}

TEST(InlineAssembly, AllOfItHasTheLineOfItsFirstInstruction) {
  const std::string begin = "\t// begin inline asm\n";
  const std::string end = "\t// end inline asm\n";
  const std::string nop = "bar.sync 0;\n";
  const auto loc = [](int line) { return ".loc 1 " + std::to_string(line) + " 3\n"; };
  using V = std::vector<int>;
  // The line in front of it, or one inside in front of its first instruction.
  EXPECT_EQ(lines_of(loc(40) + begin + nop + loc(41) + nop + loc(42) + nop + end), (V{40, 40, 40}));
  EXPECT_EQ(lines_of(loc(39) + begin + loc(40) + nop + loc(41) + "{\n" + nop + loc(42) + nop + "}\n" + end),
            (V{40, 40, 40}));
  // Behind it lines are lines again; the next has its own.
  EXPECT_EQ(lines_of(loc(40) + begin + nop + loc(41) + nop + end + nop + loc(50) + nop + begin + nop +
                     loc(51) + nop + end + loc(52) + nop),
            (V{40, 40, 40, 50, 50, 50, 52}));
  EXPECT_EQ(
      lines_of(loc(40) + begin + nop + loc(41) + nop + end + begin + loc(60) + nop + loc(61) + nop + end),
      (V{40, 40, 60, 60}));
  // Without comments, and without an end.
  EXPECT_EQ(lines_of(loc(40) + nop + loc(41) + nop), (V{40, 41}));
  EXPECT_EQ(lines_of(loc(40) + begin + nop + loc(41) + nop), (V{40, 40}));
}

}  // namespace
}  // namespace bitwell::ptx
