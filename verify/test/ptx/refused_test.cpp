// Text that is no PTX, or that says what no PTX says, is refused by what is wrong and where; what stands
// beside it, and is right, is taken.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "model/ptx/parse.h"

namespace bitwell::ptx {
namespace {

constexpr const char* kFirstLines = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string said(const std::string& text) {
  try {
    parse(text);
  } catch (const SyntaxError& e) {
    return e.what();
  }
  return "taken";
}
std::string whole_kernel(const std::string& text) {
  return kFirstLines +
         (".visible .entry k() {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; "
          ".reg .f64 %d<4>; .reg .b64 %q<4>;\n" +
          text + "\nret;\n}\n");
}

TEST(Refused, AVersionThatIsNone) {
  for (const char* const version : {"9.", "9.00", "9.12", "900.0", "100.0", "9.e1"})
    EXPECT_NE(said(std::string(".version ") + version + "\n.target sm_90\n").find("a version such as 9.0"),
              std::string::npos)
        << version << ": " << said(std::string(".version ") + version + "\n.target sm_90\n");
  for (const char* const version : {"9.0", "8.7", "10.1"})
    EXPECT_EQ(said(std::string(".version ") + version + "\n.target sm_90\n"), "taken");
}

struct Refusal {
  const char* text;
  const char* says;
};

TEST(Refused, BodiesAndCommentsWithoutEnd) {
  for (const Refusal& c : {Refusal{".visible .entry k() {", "expected '}'"},
                           {".visible .entry k() { { ret;", "expected '}'"},
                           {".visible .entry k() { { ret; }", "expected '}'"},
                           {".visible .entry k(.param .u64 x", "expected"},
                           {".visible .entry k() { ret; } /* no end", "comment without end"},
                           {"/*", "comment without end"},
                           {"/* *", "comment without end"}})
    EXPECT_NE(said(kFirstLines + std::string(c.text)).find(c.says), std::string::npos)
        << c.text << ": " << said(kFirstLines + std::string(c.text));
  for (const char* const text : {"// no line behind it", "/**/", "/* * / **/", "//", "/// /* "})
    EXPECT_EQ(said(kFirstLines + std::string(text)), "taken") << text;
}

TEST(Refused, LiteralsOfFloatingPoint) {
  for (const Refusal& c : {Refusal{"mov.f32 %f1, 0f3F8000;", "0f with 8"},
                           {"mov.f32 %f1, 0f3F80000;", "0f with 8"},
                           {"mov.f32 %f1, 0f3F8000000;", "0f with 8"},
                           {"mov.f32 %f1, 0f3F80000G;", "0f with 8"},
                           {"mov.f32 %f1, 0fG;", "0f with 8"},
                           {"mov.f64 %d1, 0d3FF000000000000;", "0d with 16"},
                           {"mov.f64 %d1, 0d3FF00000;", "0d with 16"},
                           {"mov.f64 %d1, 0d3FF00000000000000;", "0d with 16"},
                           {"mov.f64 %d1, 1.5e400;", "a normal double"}})
    EXPECT_NE(said(whole_kernel(c.text)).find(c.says), std::string::npos)
        << c.text << ": " << said(whole_kernel(c.text));
}

// The bits of a literal, as C++ has them.
TEST(Refused, AndLiteralsThatAreTaken) {
  struct Literal {
    const char* text;
    double value;
  };
  for (const Literal& l : {Literal{"1.5e3", 1.5e3},
                           {"1.5E3", 1.5e3},
                           {"1.5e-3", 1.5e-3},
                           {"1.5E+3", 1.5e3},
                           {"1.5", 1.5},
                           {"0.0", 0.0},
                           {"0d3FF8000000000000", 1.5},
                           {"0D3FF8000000000000", 1.5}}) {
    const Module m = parse(whole_kernel(std::string("mov.f64 %d1, ") + l.text + ";"));
    const auto& body = m.functions.at(0).body;
    bool met = false;
    for (const Statement& s : body)
      if (s.kind == Statement::Kind::instruction && s.instruction.opcode == "mov") {
        EXPECT_EQ(s.instruction.operands.at(1).integer, std::bit_cast<uint64_t>(l.value)) << l.text;
        met = true;
      }
    EXPECT_TRUE(met);
  }
}

// Comparisons of doubles, where each relation tells two of the three orders.
TEST(Refused, NotComparisonsOfDoubles) {
  struct Comparison {
    const char* op;
    bool less, same, greater;
  };
  for (const Comparison& c : {Comparison{"<", true, false, false},
                              {">", false, false, true},
                              {"<=", true, true, false},
                              {">=", false, true, true},
                              {"==", false, true, false},
                              {"!=", true, false, true}})
    for (const auto& [x, y, expected] :
         {std::tuple{"1.0", "2.0", c.less}, {"2.0", "2.0", c.same}, {"3.0", "2.0", c.greater}}) {
      const Module m = parse(whole_kernel(std::string("mov.u32 %r1, (") + x + c.op + y + ");"));
      for (const Statement& s : m.functions.at(0).body)
        if (s.kind == Statement::Kind::instruction && s.instruction.opcode == "mov") {
          EXPECT_EQ(s.instruction.operands.at(1).integer, expected ? 1U : 0U) << x << c.op << y;
        }
    }
  for (const char* const text : {"1.0 < 2", "1 == 1.0", "0f3F800000 + 0f3F800000", "1.0 + 0f3F800000"})
    EXPECT_NE(
        said(whole_kernel(std::string("mov.u32 %r1, (") + text + ");")).find("two doubles or two integers"),
        std::string::npos)
        << text;
}

TEST(Refused, OffsetsThatAreNoIntegers) {
  for (const char* const text :
       {"ld.global.u32 %r1, [%q1+1.5];", "ld.global.u32 %r1, [%q1-1.5];", "mov.u64 %q1, x+1.5;"})
    EXPECT_NE(said(whole_kernel(text)).find("an integer offset"), std::string::npos)
        << text << ": " << said(whole_kernel(text));
  EXPECT_EQ(said(whole_kernel("ld.global.u32 %r1, [%q1+(1+3)];")), "taken");
}

TEST(Refused, TypesThatAKindOfVariableCannotHave) {
  EXPECT_NE(said(kFirstLines + std::string(".visible .entry k(.param .f16x2 x) { ret; }"))
                .find("a .param cannot be .f16x2"),
            std::string::npos);
  EXPECT_NE(said(kFirstLines + std::string(".global .pred x;")).find("a .pred variable must be a register"),
            std::string::npos);
  EXPECT_EQ(said(kFirstLines + std::string(".visible .entry k(.param .b32 x) { ret; }")), "taken");
}

}  // namespace
}  // namespace bitwell::ptx
