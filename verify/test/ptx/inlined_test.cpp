// The source lines of inlined functions: .loc names the line, and the line that it was inlined at.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/ptx/parse.h"

namespace bitwell::ptx {
namespace {

// The lines of each instruction of an entry, innermost first.
std::vector<std::vector<int>> chains(const std::string& body) {
  const Module m = parse(".version 9.0\n.target sm_90a\n.address_size 64\n" + body);
  std::vector<std::vector<int>> out;
  for (const Function& f : m.functions)
    for (const Statement& s : f.body) {
      out.emplace_back();
      const SourceLine* at = &s.instruction.source;
      while (true) {
        out.back().push_back(at->line);
        if (at->inlined_at < 0) break;
        at = &m.inlined_at[static_cast<size_t>(at->inlined_at)];
      }
    }
  return out;
}

std::string loc(int line, int from = 0) {
  return ".loc 1 " + std::to_string(line) + " 3" +
         (from == 0 ? "" : ", function_name $L__info_string0, inlined_at 1 " + std::to_string(from) + " 3") +
         "\n";
}
const std::string nop = "bar.sync 0;\n";
std::string entry(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + "()\n{\n" + body + "}\n";
}
using Chains = std::vector<std::vector<int>>;

// As nvcc writes a helper in a helper in a kernel, that the kernel calls twice.
TEST(Inlined, ALineKnowsTheCallsThatItIsUnder) {
  const std::string once = loc(11) + loc(6, 11) + loc(3, 6) + nop + loc(6, 11) + nop;
  EXPECT_EQ(chains(entry("k", once)), (Chains{{3, 6, 11}, {6, 11}}));
  const std::string twice = once + loc(12) + nop + loc(6, 12) + loc(3, 6) + nop + loc(14) + nop;
  EXPECT_EQ(chains(entry("k", twice)), (Chains{{3, 6, 11}, {6, 11}, {12}, {3, 6, 12}, {14}}));
}

// A caller that no .loc has named is a line all the same; what another function inlined there says nothing.
TEST(Inlined, ACallerIsOfTheSameFunction) {
  EXPECT_EQ(chains(entry("k", loc(3, 6) + nop)), (Chains{{3, 6}}));
  EXPECT_EQ(chains(entry("j", loc(11) + loc(6, 11) + nop) + entry("k", loc(3, 6) + nop)),
            (Chains{{6, 11}, {3, 6}}));
}

}  // namespace
}  // namespace bitwell::ptx
