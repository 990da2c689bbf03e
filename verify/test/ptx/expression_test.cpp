// Constant expressions (PTX ISA 9.0, 4.5): values that ptxas 13.0 computed, and a law that an evaluator of
// the test's own judges. It shares no code with the parser: it reduces the leftmost operator of the highest
// rank again and again.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ptx/parse.h"

namespace bitwell::ptx {
namespace {

// What the parser makes of a constant; nothing where it refuses.
std::optional<Operand> parsed(const std::string& text) {
  try {
    const Module m = parse(".version 9.0\n.target sm_90a\n.func f() { mov.b64 q, " + text + "; }");
    return m.functions.at(0).body.at(0).instruction.operands.at(1);
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

struct Recorded {
  const char* text;
  int64_t value;
};
// As ptxas 13.0 writes them into a .global .u64 array of sm_90a.
constexpr Recorded kRecorded[] = {
    {"(100 - 30 - 5)", 65},
    {"(1 + 2 * 3 << 1)", 14},
    {"(1 << 2 + 3)", 32},
    // Each rank beside the next one: grouped the other way these give another value.
    {"(6 - 2 * 3)", 0},
    {"(1 << 1 + 1)", 4},
    {"(1 < 1 << 1)", 1},
    {"(0 == 0 < 0)", 1},
    {"(2 & 2 == 2)", 0},
    {"(1 ^ 1 & 0)", 1},
    {"(1 | 1 ^ 1)", 1},
    {"(0 && 0 | 1)", 0},
    {"(1 || 1 && 0)", 1},
    {"(1 ? 0 : 1 || 1)", 0},
    {"(1 > 2 < 1)", 1},
    {"((5 > 4 > 3) == 0)", 1},
    {"(2 != 3 != 1)", 0},
    {"(8 >> 1 << 2)", 16},
    {"(3 / 5 * 2)", 0},
    {"(0 ? 1 : 0 ? 2 : 3)", 3},
    {"(1 ? 2 : 0 ? 3 : 4)", 2},
    {"(1 ? 0 ? 5 : 6 : 7)", 6},
    {"1 ? 2 : 3", 2},
    {"(10 - -3)", 13},
    {"(! ! 5)", 1},
    {"(-~5)", 6},
    {"(017 + 0x1F + 0b101)", 51},
    {"(WARP_SZ * 2)", 64},
    {"((WARP_SZ - 64) >> 1)", -16},
    // Which of s64 and u64 a result is shows in what follows.
    {"(-1 >> 1)", -1},
    {"(-1U >> 1)", INT64_MAX},
    {"(~0 >> 1)", INT64_MAX},
    {"(~8 / 2)", 9223372036854775803},
    {"(-7 / 2)", -3},
    {"(-7 % 3)", 0},
    {"(-7 % -3)", -7},
    {"((-7 % -3) >> 1)", 9223372036854775804},
    {"((7 % 3) - 2 >> 1)", INT64_MAX},
    {"(5U / -1)", 0},
    {"(-1 < 0U)", 0},
    {"((-1 < 0U) - 1 >> 1)", -1},
    {"((0U < 1) - 2 >> 1)", -1},
    {"((1U == 1U) - 2 >> 1)", -1},
    {"((1U && 1U) - 2 >> 1)", -1},
    {"(!5U - 2 >> 1)", -1},
    {"(-8 >> 1U >> 1)", -2},
    {"((-1 << 1U) >> 1)", -1},
    {"((-1U << 1) >> 1)", INT64_MAX},
    {"((-8 & -1U) >> 1)", 9223372036854775804},
    {"((-8 | 0) >> 1)", -4},
    {"((1 ? -8 : 1U) >> 1)", -4},
    {"((.u64) -8 >> 1)", 9223372036854775804},
    {"((.s64)0xfffffffffffffff8 >> 1)", -4},
    {"(0xfffffffffffffff8 >> 1)", 9223372036854775804},
    {"((.s64)-1U / 2)", 0},
    {"(9223372036854775808 >> 1)", 4611686018427387904},
    {"(-9223372036854775807 - 1)", INT64_MIN},
    {"((-9223372036854775807 - 1) % -1)", INT64_MIN},
    // Shift counts are taken modulo 64.
    {"(1 << 63)", INT64_MIN},
    {"(1 << 64)", 1},
    {"(1 << 65)", 2},
    {"(8U >> 65)", 4},
    {"(-1 >> 64)", -1},
    {"(1 << -1)", INT64_MIN},
    // Doubles.
    {"(1.5 < 2.5)", 1},
    {"(1.5 > 2.5) + 3", 3},
    {"(2.5 - 1.5 == 1.0)", 1},
    {"((1.5 < 2.5) - 2 >> 1)", -1},
};

TEST(Constant, IsWhatPtxasMakesOfIt) {
  for (const Recorded& r : kRecorded) {
    const std::optional<Operand> got = parsed(r.text);
    ASSERT_TRUE(got) << r.text;
    EXPECT_EQ(static_cast<int64_t>(got->integer), r.value) << r.text;
  }
}

TEST(Constant, OfDoublesIsFolded) {
  struct Row {
    const char* text;
    double value;
  };
  for (const Row& r : {Row{"(1.5 + 2.5)", 4},
                       {"10.0 - 3.0 - 2.0", 5},
                       {"(1.5*2.0-0.25/3.0)", 0x1.7555555555555p+1},
                       {"(0d3FF0000000000000 + 1.5)", 2.5},
                       {"- -1.5", 1.5},
                       {"-0d3FF0000000000000", -1},
                       {"1.7976931348623157e308", 0x1.FFFFFFFFFFFFFp1023}}) {
    const std::optional<Operand> got = parsed(r.text);
    ASSERT_TRUE(got) << r.text;
    EXPECT_EQ(got->kind, OperandKind::floating) << r.text;
    EXPECT_EQ(std::bit_cast<double>(got->integer), r.value) << r.text;
  }
}

TEST(Constant, ThatPtxasRefusesIsNoConstant) {
  for (const char* text : {"(5 / 0)",
                           "(5 % 0)",
                           "(0 ? 1/0 : 2)",
                           "(0 && 1/0)",
                           "((-9223372036854775807 - 1) / -1)",
                           "08",
                           "18446744073709551616",
                           "1e400",
                           "1e-400",
                           "1e-310",
                           "1.0/0.0",
                           "~1.5",
                           "(!1.5)",
                           "(.s64)1.5",
                           "(1.5 % 2.0)",
                           "(1.5 && 1.5)",
                           "(2 * 1.5)",
                           "(1.0 - 1)",
                           "(1 ? 1.5 : 2.5)",
                           "(1 ? 2 : 1.5)",
                           "(1.5 ? 2 : 1)",
                           "-0f3F800000",
                           "+0f3F800000",
                           "(0f3F800000 + 1.5)",
                           "(0f3F800000 == 1.0)",
                           "(0f3F800000 ? 1 : 2)",
                           "(1 +)",
                           "(1 2)",
                           "()"})
    EXPECT_FALSE(parsed(text)) << text;
}

// ---- The law
// -----------------------------------------------------------------------------------------------

struct Value {
  uint64_t bits = 0;
  bool is_unsigned = false;
};
using Result = std::optional<Value>;  // nothing: it divides by zero, or INT64_MIN by -1

struct Expression;
struct Term {
  std::vector<std::string> before;      // unary operators and casts, outermost first
  std::string literal;                  // or, where it is empty:
  std::vector<Expression> parentheses;  // one
};
struct Expression {
  std::vector<Term> terms;
  std::vector<std::string> operators;  // one less
  std::vector<Expression> choices;     // none, or what stands before and after ':'
};

std::string text(const Expression& e) {
  std::string out;
  for (size_t i = 0; i < e.terms.size(); ++i) {
    if (i > 0) out += " " + e.operators[i - 1] + " ";
    for (const std::string& b : e.terms[i].before) out += b + " ";
    out += e.terms[i].literal.empty() ? "(" + text(e.terms[i].parentheses[0]) + ")" : e.terms[i].literal;
  }
  if (!e.choices.empty()) out += " ? " + text(e.choices[0]) + " : " + text(e.choices[1]);
  return out;
}

__extension__ using Wide = __int128;

Value literal(std::string t) {
  const bool marked = t.back() == 'U';
  if (marked) t.pop_back();
  const bool hex = t.starts_with("0x");
  const bool binary = t.starts_with("0b");
  const uint64_t base = hex ? 16 : binary ? 2 : t[0] == '0' ? 8 : 10;
  uint64_t value = 0;
  for (const char c : t.substr(hex || binary ? 2 : 0))
    value = value * base + static_cast<uint64_t>(c >= 'a' ? c - 'a' + 10 : c - '0');
  return {value, marked || value >> 63 == 1};
}

Result evaluated(const Expression& e);

Result evaluated(const Term& t) {
  Result v = t.literal.empty() ? evaluated(t.parentheses[0]) : literal(t.literal);
  for (auto op = t.before.rbegin(); v && op != t.before.rend(); ++op) {
    if (*op == "-") v->bits = 1 + ~v->bits;
    if (*op == "~") v = Value{~v->bits, true};
    if (*op == "!") v = Value{v->bits == 0 ? uint64_t{1} : 0, false};
    if (*op == "(.s64)") v->is_unsigned = false;
    if (*op == "(.u64)") v->is_unsigned = true;
  }
  return v;
}

Result combined(const std::string& op, Value a, Value b) {
  const bool u = a.is_unsigned || b.is_unsigned;
  const auto x = static_cast<Wide>(a.bits) - (!u && a.bits >> 63 == 1 ? static_cast<Wide>(1) << 64 : 0);
  const auto y = static_cast<Wide>(b.bits) - (!u && b.bits >> 63 == 1 ? static_cast<Wide>(1) << 64 : 0);
  const auto number = [&](Wide v) { return Value{static_cast<uint64_t>(v), u}; };
  const auto yes_or_no = [](bool v) { return Value{v ? uint64_t{1} : 0, false}; };
  if (op == "/" && (y == 0 || (y == -1 && x == INT64_MIN))) return std::nullopt;
  if (op == "%" && b.bits == 0) return std::nullopt;
  if (op == "+") return number(x + y);
  if (op == "-") return number(x - y);
  if (op == "*") return Value{a.bits * b.bits, u};
  if (op == "/") return number(x / y);
  if (op == "%") return Value{a.bits % b.bits, true};
  if (op == "<") return yes_or_no(x < y);
  if (op == ">") return yes_or_no(x > y);
  if (op == "<=") return yes_or_no(x <= y);
  if (op == ">=") return yes_or_no(x >= y);
  if (op == "==") return yes_or_no(a.bits == b.bits);
  if (op == "!=") return yes_or_no(a.bits != b.bits);
  if (op == "&&") return yes_or_no(a.bits != 0 && b.bits != 0);
  if (op == "||") return yes_or_no(a.bits != 0 || b.bits != 0);
  if (op == "&") return number(static_cast<Wide>(a.bits & b.bits));
  if (op == "|") return number(static_cast<Wide>(a.bits | b.bits));
  if (op == "^") return number(static_cast<Wide>(a.bits ^ b.bits));
  // Shifts, bit by bit.
  for (uint64_t n = b.bits % 64; n > 0; --n)
    a.bits = op == "<<" ? a.bits + a.bits
                        : a.bits / 2 + (!a.is_unsigned && a.bits >> 63 == 1 ? uint64_t{1} << 63 : 0);
  return a;
}

const std::vector<std::vector<std::string>> kRanks{
    {"*", "/", "%"}, {"+", "-"}, {"<<", ">>"}, {"<", ">", "<=", ">="}, {"==", "!="}, {"&"}, {"^"},
    {"|"},           {"&&"},     {"||"}};

Result evaluated(const Expression& e) {
  std::vector<Value> values;
  for (const Term& t : e.terms) {
    const Result v = evaluated(t);
    if (!v) return v;
    values.push_back(*v);
  }
  std::vector<std::string> operators = e.operators;
  for (const auto& rank : kRanks)
    for (size_t i = 0; i < operators.size();) {
      if (std::find(rank.begin(), rank.end(), operators[i]) == rank.end()) {
        ++i;
        continue;
      }
      const Result v = combined(operators[i], values[i], values[i + 1]);
      if (!v) return v;
      values[i] = *v;
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(i));
    }
  if (e.choices.empty()) return values[0];
  const Result yes = evaluated(e.choices[0]);
  const Result no = evaluated(e.choices[1]);
  return !yes || !no ? std::nullopt : values[0].bits != 0 ? yes : no;
}

// Values at the boundaries and small ones, in any spelling.
std::string drawn_literal() {
  const auto value = *rc::gen::oneOf(
      rc::gen::element<uint64_t>(0, 1, 2, 3, 7, 31, 63, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, INT64_MAX,
                                 uint64_t{1} << 63, (uint64_t{1} << 63) + 1, ~uint64_t{0}),
      rc::gen::inRange<uint64_t>(0, 100), rc::gen::arbitrary<uint64_t>());
  const std::string suffix = *rc::gen::weightedElement<std::string>({{3, ""}, {1, "U"}});
  const auto digits = [&](unsigned base) {
    std::string out;
    for (uint64_t rest = value; rest != 0 || out.empty(); rest /= base)
      out.insert(out.begin(), "0123456789abcdef"[rest % base]);
    return out;
  };
  const std::array<std::string, 4> spellings{digits(10), "0" + digits(8), "0x" + digits(16),
                                             "0b" + digits(2)};
  return *rc::gen::elementOf(spellings) + suffix;
}

Expression drawn(int depth) {
  const auto every = rc::gen::weightedOneOf<std::string>(
      {{1, rc::gen::element<std::string>("-", "+", "<<", ">>")},
       {2, rc::gen::element<std::string>("*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&",
                                         "||")}});
  Expression e;
  const int terms = *rc::gen::inRange(1, 7);
  for (int i = 0; i < terms; ++i) {
    Term t;
    for (int n = *rc::gen::weightedElement<int>({{6, 0}, {2, 1}, {1, 2}}); n > 0; --n)
      t.before.push_back(*rc::gen::element<std::string>("-", "+", "~", "!", "(.s64)", "(.u64)"));
    if (depth > 0 && *rc::gen::inRange(0, 3) == 0)
      t.parentheses.push_back(drawn(depth - 1));
    else
      t.literal = drawn_literal();
    e.terms.push_back(t);
    if (i > 0) e.operators.push_back(*every);
  }
  if (depth > 0 && *rc::gen::inRange(0, 6) == 0) e.choices = {drawn(depth - 1), drawn(depth - 1)};
  return e;
}

RC_GTEST_PROP(Constant, IsWhatReducingTheHighestLeftmostOperatorGives, ()) {
  for (int n = 0; n < 20; ++n) {
    const Expression e = drawn(3);
    const std::string t = "(" + text(e) + ")";
    RC_LOG() << t << "\n";
    const Result expected = evaluated(e);
    const std::optional<Operand> got = parsed(t);
    RC_ASSERT(got.has_value() == expected.has_value());
    if (!expected) continue;
    RC_ASSERT(got->integer == expected->bits);
    RC_ASSERT(got->is_unsigned == expected->is_unsigned);
  }
}

}  // namespace
}  // namespace bitwell::ptx
