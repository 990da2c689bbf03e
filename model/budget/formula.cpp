#include "model/budget/formula.h"

#include <cctype>
#include <charconv>

namespace bitwell::budget {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const Names& names) : text_(text), names_(names) {}

  int64_t whole() {
    const int64_t v = comparison();
    blanks();
    if (at_ < text_.size()) fail("expected an operator or the end");
    return v;
  }

 private:
  [[noreturn]] void error(size_t at, const std::string& what) const {
    throw BudgetError("formula '" + std::string(text_) + "', column " + std::to_string(at + 1) + ": " + what);
  }
  [[noreturn]] void fail(const std::string& expected) const {
    error(at_,
          expected + ", found " + (at_ < text_.size() ? "'" + std::string(1, text_[at_]) + "'" : "the end"));
  }

  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool accept(std::string_view token) {
    blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }

  // One side of an if() is read but not computed: `skipping_` then counts, and nothing is an error but
  // syntax.
  int64_t checked(size_t at, char op, int64_t a, int64_t b) {
    if (skipping_ > 0) return 0;
    int64_t r = 0;
    bool over = false;
    switch (op) {
      case '+': over = __builtin_add_overflow(a, b, &r); break;
      case '-': over = __builtin_sub_overflow(a, b, &r); break;
      case '*': over = __builtin_mul_overflow(a, b, &r); break;
      default:
        if (b == 0) error(at, "division by zero");
        over = a == INT64_MIN && b == -1;
        if (!over) r = op == '/' ? a / b : a % b;
    }
    if (over) error(at, "a value beyond 63 bits");
    return r;
  }

  int64_t comparison() {
    if (++depth_ > 64) error(at_, "nested too deep");
    const int64_t a = sum();
    int64_t out = a;
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!accept(op)) continue;
      const int64_t b = sum();
      out = op == "=="   ? a == b
            : op == "!=" ? a != b
            : op == "<=" ? a <= b
            : op == ">=" ? a >= b
            : op == "<"  ? a < b
                         : a > b;
      break;
    }
    --depth_;
    return out;
  }

  int64_t sum() {
    int64_t v = term();
    for (;;) {
      blanks();
      const size_t at = at_;
      if (accept("+"))
        v = checked(at, '+', v, term());
      else if (accept("-"))
        v = checked(at, '-', v, term());
      else
        return v;
    }
  }

  int64_t term() {
    int64_t v = factor();
    for (;;) {
      blanks();
      const size_t at = at_;
      if (accept("*"))
        v = checked(at, '*', v, factor());
      else if (accept("//") || accept("/"))
        v = checked(at, '/', v, factor());
      else if (accept("%"))
        v = checked(at, '%', v, factor());
      else
        return v;
    }
  }

  int64_t factor() {
    blanks();
    const size_t at = at_;
    if (accept("-")) {
      if (++depth_ > 64) error(at, "nested too deep");
      const int64_t v = checked(at, '-', 0, factor());
      --depth_;
      return v;
    }
    if (accept("(")) {
      const int64_t v = comparison();
      expect(")");
      return v;
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      int64_t v = 0;
      const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
      if (r.ec != std::errc()) error(at, "a value beyond 63 bits");
      at_ = static_cast<size_t>(r.ptr - text_.data());
      return v;
    }
    std::string name;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      name += text_[at_++];
    if (name.empty()) fail("expected a number, a name or '('");
    if (accept("(")) return call(at, name);
    if (skipping_ > 0) return 0;
    const auto found = names_.find(name);
    if (found == names_.end()) {
      std::string known;
      for (const auto& [n, v] : names_) known += (known.empty() ? "" : ", ") + n;
      error(at, "unknown name '" + name + "'; there are " + (known.empty() ? "none" : known));
    }
    return found->second;
  }

  int64_t call(size_t at, const std::string& name) {
    if (name == "if") {
      const int64_t condition = comparison();
      expect(",");
      const bool second = condition == 0;
      skipping_ += second ? 1 : 0;
      const int64_t a = comparison();
      skipping_ += second ? -1 : 1;
      expect(",");
      const int64_t b = comparison();
      skipping_ -= second ? 0 : 1;
      expect(")");
      return second ? b : a;
    }
    const int64_t a = comparison();
    expect(",");
    const int64_t b = comparison();
    expect(")");
    if (name == "min") return a < b ? a : b;
    if (name == "max") return a < b ? b : a;
    if (name != "ceil_div" && name != "round_up")
      error(at, "unknown function '" + name + "'; there are min, max, ceil_div, round_up, if");
    if (skipping_ > 0) return 0;
    if (b == 0) error(at, "division by zero");
    if (a < 0 || b < 0) error(at, name + " of a negative number");
    const int64_t n = a / b + (a % b != 0 ? 1 : 0);
    return name == "ceil_div" ? n : checked(at, '*', n, b);
  }

  std::string_view text_;
  const Names& names_;
  size_t at_ = 0;
  int depth_ = 0;
  int skipping_ = 0;
};

}  // namespace

int64_t evaluate(std::string_view formula, const Names& names) { return Parser(formula, names).whole(); }

}  // namespace bitwell::budget
