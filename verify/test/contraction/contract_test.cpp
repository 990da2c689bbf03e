// What a text becomes when machine code has products and sums fused, and what is left apart.
#include "verify/contraction/contract.h"

#include <gtest/gtest.h>

#include <sstream>

#include "model/ptx/parse.h"

namespace bitwell::contraction {
namespace {

// An instruction of machine code by the line of the body, from 1, that it is of.
struct Code {
  int line;
  char what;  // '*' a product alone, '+' a sum alone, 'f' both
};

struct Case {
  const char* name;
  std::vector<std::string> body;
  std::vector<Code> code;
  Rounded LineCode::*kind;
  std::vector<std::string> becomes;     // the body's lines; empty: what they were
  std::vector<int> fused{}, unclear{};  // by line of the sum
  const char* declared = "";            // behind the function's brace
};

constexpr int kHead = 6;  // lines in front of the body, the first of them empty
std::string text_of(const std::vector<std::string>& body, const std::string& declared = "") {
  std::string out =
      "\n.version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{" + declared + "\n";
  for (const std::string& line : body) out += line + "\n";
  return out + "}\n";
}

std::vector<int> sums(const std::vector<Pair>& pairs) {
  std::vector<int> out;
  for (const Pair& p : pairs) out.push_back(p.sum - kHead);
  return out;
}

constexpr auto kSingle = &LineCode::single, kTwice = &LineCode::twice, kHalf = &LineCode::half;

const Case kCases[] = {
    {"nothing is fused", {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"}, {{1, '*'}, {2, '+'}}, kSingle, {}},
    {"the product is the first operand",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"},
     {{2, 'f'}},
     kSingle,
     {"", "fma.rn.f32 %s, %a, %b, %c;"},
     {2}},
    {"the product is the second operand, with a constant",
     {"mul.ftz.f32 %p, %a, 0f3F000000;", "add.ftz.sat.f32 %s, 0f3F800000, %p;"},
     {{2, 'f'}},
     kSingle,
     {"", "fma.rn.ftz.sat.f32 %s, %a, 0f3F000000, 0f3F800000;"},
     {2}},
    {"a product less something",
     {"mul.f64 %p, %a, %b;", "sub.f64 %s, %p, %c;"},
     {{2, 'f'}},
     kTwice,
     {"", "neg.f64 %bitwell_fused0, %c; fma.rn.f64 %s, %a, %b, %bitwell_fused0;"},
     {2},
     {},
     " .reg .f64 %bitwell_fused0;"},
    {"something less a product",
     {"mul.f16x2 %p, %a, %b;", "sub.f16x2 %s, %c, %p;"},
     {{2, 'f'}},
     kHalf,
     {"", "neg.f16x2 %bitwell_fused0, %a; fma.rn.f16x2 %s, %bitwell_fused0, %b, %c;"},
     {2},
     {},
     " .reg .b32 %bitwell_fused0;"},
    {"something less a product's negative",
     {"mul.bf16 %p, %a, %b;", "neg.bf16 %n, %p;", "sub.bf16 %s, %c, %n;"},
     {{3, 'f'}},
     kHalf,
     {"mul.bf16 %p, %a, %b;", "neg.bf16 %n, %p;", "fma.rn.bf16 %s, %a, %b, %c;"},
     {3}},
    {"pairs that .rn is to keep apart",
     {"mul.rn.f32x2 %p, %a, %b;", "sub.rn.f32x2 %s, %p, %c;"},
     {{2, 'f'}},
     kSingle,
     {"", "xor.b64 %bitwell_fused0, %c, 0x8000000080000000; fma.rn.f32x2 %s, %a, %b, %bitwell_fused0;"},
     {2},
     {},
     " .reg .b64 %bitwell_fused0;"},
    {"of two products one is gone",
     {"mul.f32 %p, %a, %b;", "mul.f32 %q, %c, %d;", "add.f32 %s, %p, %q;"},
     {{2, '*'}, {3, 'f'}},
     kSingle,
     {"", "mul.f32 %q, %c, %d;", "fma.rn.f32 %s, %a, %b, %q;"},
     {3}},
    {"of two products the other one is gone",
     {"mul.f32 %p, %a, %b;", "mul.f32 %q, %c, %d;", "add.f32 %s, %p, %q;"},
     {{1, '*'}, {3, 'f'}},
     kSingle,
     {"mul.f32 %p, %a, %b;", "", "fma.rn.f32 %s, %c, %d, %p;"},
     {3}},
    {"two sums take one product",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;", "add.f32 %t, %d, %p;"},
     {{2, 'f'}, {3, 'f'}},
     kSingle,
     {"", "fma.rn.f32 %s, %a, %b, %c;", "fma.rn.f32 %t, %a, %b, %d;"},
     {2, 3}},
    {"the product is used elsewhere too",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;", "st.shared.f32 [%r], %p;"},
     {{2, 'f'}},
     kSingle,
     {"mul.f32 %p, %a, %b;", "fma.rn.f32 %s, %a, %b, %c;", "st.shared.f32 [%r], %p;"},
     {2}},
    {"a factor is written between",
     {"mul.f32 %p, %a, 0f40000000;", "mov.f32 %a, %c;", "add.f32 %s, %p, %a;"},
     {{3, 'f'}},
     kSingle,
     {"mov.f32 %bitwell_fused0, %a; ", "mov.f32 %a, %c;", "fma.rn.f32 %s, %bitwell_fused0, 0f40000000, %a;"},
     {3},
     {},
     " .reg .f32 %bitwell_fused0;"},
    {"a label stands between, and a guard before",
     {"@!%q mul.f32 %p, %a, %b;", "L:", "@%q add.f32 %s, %p, %c;"},
     {{3, 'f'}},
     kSingle,
     {"@!%q mov.f32 %bitwell_fused0, %a; @!%q mov.f32 %bitwell_fused1, %b; @!%q mul.f32 %p, %a, %b;",
      "L:", "@%q fma.rn.f32 %s, %bitwell_fused0, %bitwell_fused1, %c;"},
     {3},
     {},
     " .reg .f32 %bitwell_fused0; .reg .f32 %bitwell_fused1;"},
    {"a branch stands between",
     {"mul.f32 %p, %a, 0f40000000;", "@%q bra L;", "add.f32 %s, %p, %c;", "L:"},
     {{3, 'f'}},
     kSingle,
     {"mov.f32 %bitwell_fused0, %a; ", "@%q bra L;", "fma.rn.f32 %s, %bitwell_fused0, 0f40000000, %c;", "L:"},
     {3},
     {},
     " .reg .f32 %bitwell_fused0;"},
    {"the sum of a loop's turn takes the product of the turn before",
     {"L:", "add.f32 %s, %p, %c;", "mul.f32 %p, %a, 0f40000000;", "bra L;"},
     {{2, 'f'}},
     kSingle,
     {"L:", "fma.rn.f32 %s, %bitwell_fused0, 0f40000000, %c;", "mov.f32 %bitwell_fused0, %a; ", "bra L;"},
     {2},
     {},
     " .reg .f32 %bitwell_fused0;"},
    {"an instruction of several lines keeps them",
     {"mul.f32 // a; b", "  %p, %a, %b;", "add.f32 %s,", "  %p, %c;"},
     {{3, 'f'}},
     kSingle,
     {"", "", "fma.rn.f32 %s, %a, %b, %c;", ""},
     {3}},
    {"a copy of a loop is fused and another is not",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"},
     {{1, '*'}, {2, 'f'}, {2, '+'}},
     kSingle,
     {},
     {},
     {2}},
    {"one copy of the sum is fused and another takes something else",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"},
     {{2, 'f'}, {2, '+'}},
     kSingle,
     {},
     {},
     {2}},
    {"the product is there and the sum is fused",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"},
     {{1, '*'}, {2, 'f'}},
     kSingle,
     {},
     {},
     {2}},
    {"halves are added as a product with 1",
     {"mul.bf16x2 %p, %a, %b;", "add.bf16x2 %s, %p, %c;"},
     {{1, 'f'}, {2, 'f'}},
     kHalf,
     {}},
    {"the register has two writers",
     {"mul.f32 %p, %a, %b;", "@%q mov.f32 %p, %d;", "add.f32 %s, %p, %c;"},
     {{3, 'f'}},
     kSingle,
     {},
     {},
     {3}},
    {"a register takes one product behind the other",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;", "mul.f32 %p, %c, %d;", "add.f32 %t, %p, %a;"},
     {{2, 'f'}, {4, 'f'}},
     kSingle,
     {"mul.f32 %p, %a, %b;", "fma.rn.f32 %s, %a, %b, %c;", "mul.f32 %p, %c, %d;",
      "fma.rn.f32 %t, %c, %d, %a;"},
     {2, 4}},
    {"one product of a register is fused and the other is not",
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;", "mul.f32 %p, %c, %d;", "add.f32 %t, %p, %a;"},
     {{1, '*'}, {2, '+'}, {4, 'f'}},
     kSingle,
     {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;", "mul.f32 %p, %c, %d;", "fma.rn.f32 %t, %c, %d, %a;"},
     {4}},
    {"the product is written over its factor",
     {"mul.f32 %p, %p, 0f40000000;", "sub.f32 %p, %c, %p;"},
     {{2, 'f'}},
     kSingle,
     {"mov.f32 %bitwell_fused0, %p; mul.f32 %p, %p, 0f40000000;",
      "neg.f32 %bitwell_fused1, %bitwell_fused0; fma.rn.f32 %p, %bitwell_fused1, 0f40000000, %c;"},
     {2},
     {},
     " .reg .f32 %bitwell_fused0; .reg .f32 %bitwell_fused1;"},
    {"a register of several writers comes from another block",
     {"mov.f32 %p, %d;", "mul.f32 %p, %a, %b;", "L:", "add.f32 %s, %p, %c;"},
     {{4, 'f'}},
     kSingle,
     {},
     {},
     {4}},
    {"both products are gone",
     {"mul.f32 %p, %a, %b;", "mul.f32 %q, %c, %d;", "add.f32 %s, %p, %q;"},
     {{3, 'f'}},
     kSingle,
     {},
     {},
     {3}},
    {"denormals are flushed by one of them",
     {"mul.ftz.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"},
     {{2, 'f'}},
     kSingle,
     {}},
    {"rounded by the text", {"mul.rn.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"}, {{2, 'f'}}, kSingle, {}},
    {"nobody takes the sum", {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;"}, {}, kSingle, {}},
};

TEST(Contract, ATextBecomesWhatItsMachineCodeDoes) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    std::map<int64_t, LineCode> code;
    for (const Code& i : c.code) {
      Rounded& at = code[i.line + kHead].*c.kind;
      ++(i.what == '*' ? at.products : i.what == '+' ? at.sums : at.fused);
    }
    const std::string text = text_of(c.body);
    const Contracted out = contracted(text, ptx::parse(text), code);
    EXPECT_EQ(out.text, text_of(c.becomes.empty() ? c.body : c.becomes, c.declared));
    EXPECT_EQ(sums(out.fused), c.fused);
    EXPECT_EQ(sums(out.unclear), c.unclear);
    EXPECT_NO_THROW(ptx::parse(out.text));
  }
}

}  // namespace
}  // namespace bitwell::contraction
