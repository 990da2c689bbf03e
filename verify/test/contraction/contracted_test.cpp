// Guards, comments and counts of what is fused, by hand.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "model/ptx/parse.h"
#include "verify/contraction/contract.h"

namespace bitwell::contraction::contracted_test {
namespace {

constexpr int kHead = 5;  // lines in front of the body
// What machine code does in a line of the body, from 1: 'f' a product and a sum at once, '*' and '+' one of
// them.
Contracted contracted_by(const std::vector<std::string>& body, const std::map<int, std::string>& does) {
  std::string text = ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n";
  for (const std::string& line : body) text += line + "\n";
  text += "}\n";
  std::map<int64_t, LineCode> code;
  for (const auto& [line, all] : does)
    for (const char what : all) {
      Rounded& at = code[kHead + line].single;
      ++(what == '*' ? at.products : what == '+' ? at.sums : at.fused);
    }
  return contracted(text, ptx::parse(text), code);
}
// The body's lines.
std::vector<std::string> body_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    out.push_back(text.substr(at, end - at));
  return {out.begin() + kHead, out.end() - 1};
}

// Each instruction that stands for a guarded sum has its guard.
TEST(ContractedByHand, WhatStandsForAGuardedSumIsGuarded) {
  using Lines = std::vector<std::string>;
  for (const std::string guard : {"@%q ", "@!%q "}) {
    EXPECT_EQ(body_of(contracted_by({"mul.f32 %p, %a, %b;", guard + "add.f32 %s, %p, %c;"}, {{2, "f"}}).text),
              (Lines{"", guard + "fma.rn.f32 %s, %a, %b, %c;"}));
    EXPECT_EQ(body_of(contracted_by({"mul.f32 %p, %a, %b;", guard + "sub.f32 %s, %p, %c;"}, {{2, "f"}}).text),
              (Lines{"", guard + "neg.f32 %bitwell_fused0, %c; " + guard +
                             "fma.rn.f32 %s, %a, %b, %bitwell_fused0;"}));
    EXPECT_EQ(body_of(contracted_by({"mul.f32 %p, %a, %b;", guard + "sub.f32 %s, %c, %p;"}, {{2, "f"}}).text),
              (Lines{"", guard + "neg.f32 %bitwell_fused0, %a; " + guard +
                             "fma.rn.f32 %s, %bitwell_fused0, %b, %c;"}));
  }
}

// Nor is a comment part of an operand, or a comma in it between two.
TEST(ContractedByHand, CommentsAreInNoOperand) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(
      body_of(contracted_by({"mul.f32 %p, %a, %b;", "add.f32 // s, %x", " %s, %p, %c;"}, {{2, "f"}}).text),
      (Lines{"", "fma.rn.f32 %s, %a, %b, %c;", ""}));
  EXPECT_EQ(
      body_of(contracted_by({"mul.f32 %p, %a /* x, y; */, %b;", "add.f32 %s, %p, %c;"}, {{2, "f"}}).text),
      (Lines{"", "fma.rn.f32 %s, %a, %b, %c;"}));
  EXPECT_EQ(
      body_of(contracted_by({"mul.f32/* of , */ %p, %a, %b/**/;", "add.f32/*/ two */%s,%p,%c;"}, {{2, "f"}})
                  .text),
      (Lines{"", "fma.rn.f32 %s, %a, %b, %c;"}));
}

// A semicolon in a comment ends no instruction.
TEST(ContractedByHand, CommentsEndNothing) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(body_of(contracted_by({"mul.f32 /* ; */ %p, %a, %b;", "add.f32 %s, %p, %c;"}, {{2, "f"}}).text),
            (Lines{"", "fma.rn.f32 %s, %a, %b, %c;"}));
  EXPECT_EQ(
      body_of(
          contracted_by({"mul.f32 /**/ %p, %a, %b; /* ; */", "add.f32 %s, %p, %c; // ;"}, {{2, "f"}}).text),
      (Lines{" /* ; */", "fma.rn.f32 %s, %a, %b, %c; // ;"}));
  EXPECT_EQ(
      body_of(contracted_by({"mul.f32 // ; /*", "%p, %a, %b;", "add.f32 %s, %p, %c;"}, {{3, "f"}}).text),
      (Lines{"", "", "fma.rn.f32 %s, %a, %b, %c;"}));
}

// Sums that could be fused are counted where machine code does something for them, fused or not.
TEST(ContractedByHand, SumsOfMachineCodeAreCounted) {
  struct Case {
    std::map<int, std::string> does;
    size_t sums, fused, unclear;
  };
  const Case cases[] = {
      {{}, 0, 0, 0},
      {{{1, "*"}}, 0, 0, 0},
      {{{1, "*"}, {2, "+"}}, 1, 0, 0},
      {{{2, "f"}}, 1, 1, 0},
      {{{2, "ff"}}, 1, 1, 0},           // a loop that was unrolled
      {{{2, "f+"}}, 1, 0, 1},           // some are fused, some not
      {{{1, "*"}, {2, "f"}}, 1, 0, 1},  // its product is there too
      {{{1, "f"}, {2, "f"}}, 1, 0, 1},  // in whatever
      {{{1, "*f"}, {2, "f"}}, 1, 0, 1},
      {{{2, "f"}, {4, "+"}, {3, "*"}}, 2, 1, 0},
      {{{2, "f"}, {4, "f"}}, 2, 2, 0},
  };
  for (const Case& c : cases) {
    const Contracted out = contracted_by(
        {"mul.f32 %p, %a, %b;", "add.f32 %s, %p, %c;", "mul.f32 %t, %s, %b;", "add.f32 %u, %t, %c;"}, c.does);
    EXPECT_EQ(out.sums, c.sums) << &c - cases;
    EXPECT_EQ(out.fused.size(), c.fused) << &c - cases;
    EXPECT_EQ(out.unclear.size(), c.unclear) << &c - cases;
    for (const Pair& pair : out.fused) EXPECT_EQ(pair.product, pair.sum - 1);
  }
}

}  // namespace
}  // namespace bitwell::contraction::contracted_test
