#include "model/ptx/expression.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace bitwell::ptx {
namespace {

Operand integer_operand(uint64_t value, bool is_unsigned, Position at) {
  Operand out;
  out.kind = OperandKind::integer;
  out.integer = value;
  out.is_unsigned = is_unsigned;
  out.at = at;
  return out;
}

}  // namespace

Operand parse_integer(Reader& reader) {
  const Token token = reader.peek();
  std::string_view digits = token.text;
  bool is_unsigned = false;
  if (digits.ends_with('U')) {
    is_unsigned = true;
    digits.remove_suffix(1);
  }
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X"))
    base = 16;
  else if (digits.starts_with("0b") || digits.starts_with("0B"))
    base = 2;
  if (base != 10)
    digits.remove_prefix(2);
  else if (digits.size() > 1 && digits.starts_with('0'))
    base = 8;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
    reader.fail("expected an integer of at most 64 bits");
  reader.next();
  return integer_operand(value, is_unsigned || value > static_cast<uint64_t>(INT64_MAX), token.at);
}

uint32_t parse_count(Reader& reader) {
  if (reader.accept("WARP_SZ")) return 32;
  const uint64_t value = parse_integer(reader).integer;
  if (value > UINT32_MAX)
    reader.fail("a number below 2^32 is needed, not " + std::to_string(value) + ", before");
  return static_cast<uint32_t>(value);
}

namespace {

Operand floating_literal(Reader& reader) {
  const Token token = reader.peek();
  Operand out;
  out.kind = OperandKind::floating;
  out.at = token.at;
  const std::string text(token.text);
  const bool hex =
      text.size() > 2 && text[0] == '0' && std::string_view("fFdD").find(text[1]) != std::string::npos;
  if (hex) {
    out.is_single = text[1] == 'f' || text[1] == 'F';
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 2, last, out.integer, 16);
    if (error != std::errc{} || end != last || text.size() != (out.is_single ? 10u : 18u))
      reader.fail("expected 0f with 8 or 0d with 16 hexadecimal digits");
  } else {
    char* end = nullptr;
    errno = 0;
    out.integer = std::bit_cast<uint64_t>(std::strtod(text.c_str(), &end));
    if (*end != '\0') reader.fail("expected a floating-point literal");
    if (errno == ERANGE) reader.fail("expected a literal that a normal double can hold");
  }
  reader.next();
  return out;
}

Operand ternary(Reader& reader);

Operand needs_integer(const Reader& reader, Operand v) {
  if (v.kind == OperandKind::floating) reader.fail("expected an integer before");
  return v;
}

// "+" or "-" of `v`.
Operand with_sign(const Reader& reader, Operand v, bool minus) {
  if (v.is_single) reader.fail("an 0f literal stands alone, found it before");
  if (minus && v.kind == OperandKind::floating)
    v.integer ^= uint64_t{1} << 63;
  else if (minus)
    v.integer = 0 - v.integer;
  return v;
}

// unary = ("+" | "-" | "!" | "~") unary | "(" [".s64" | ".u64" ")"] ternary ")" | literal
Operand unary(Reader& reader) {
  const Reader::Nest nest(reader);
  const Position at = reader.peek().at;
  if (reader.is("-") || reader.is("+")) {
    const bool minus = reader.next().text == "-";
    return with_sign(reader, unary(reader), minus);
  }
  if (reader.accept("~")) return integer_operand(~needs_integer(reader, unary(reader)).integer, true, at);
  if (reader.accept("!"))
    return integer_operand(needs_integer(reader, unary(reader)).integer == 0 ? 1 : 0, false, at);
  if (reader.accept("(")) {
    if (reader.is(".s64") || reader.is(".u64")) {
      const bool is_unsigned = reader.next().text == ".u64";
      reader.expect(")");
      return integer_operand(needs_integer(reader, unary(reader)).integer, is_unsigned, at);
    }
    Operand v = ternary(reader);
    reader.expect(")");
    return v;
  }
  if (reader.accept("WARP_SZ")) return integer_operand(32, false, at);
  if (reader.peek().kind == TokenKind::integer) return parse_integer(reader);
  if (reader.peek().kind == TokenKind::floating) return floating_literal(reader);
  reader.fail("expected a constant");
}

int precedence(std::string_view op) {
  if (op == "," || op == ";" || op == "]") return 0;  // what mostly stands behind a constant
  if (op == "*" || op == "/" || op == "%") return 10;
  if (op == "+" || op == "-") return 9;
  if (op == "<<" || op == ">>") return 8;
  if (op == "<" || op == ">" || op == "<=" || op == ">=") return 7;
  if (op == "==" || op == "!=") return 6;
  if (op == "&") return 5;
  if (op == "^") return 4;
  if (op == "|") return 3;
  if (op == "&&") return 2;
  if (op == "||") return 1;
  return 0;
}

Operand truth(bool value, Position at) { return integer_operand(value ? 1 : 0, false, at); }

// x op y of doubles; ptxas knows arithmetic and comparisons of them.
Operand apply_floating(const Reader& reader, std::string_view op, const Operand& a, const Operand& b) {
  if (a.kind != b.kind || a.is_single || b.is_single)
    reader.fail("expected two doubles or two integers around an operator, before");
  const auto x = std::bit_cast<double>(a.integer);
  const auto y = std::bit_cast<double>(b.integer);
  if (op == "/" && y == 0) reader.fail("constant division overflows before");
  if (op == "<") return truth(x < y, a.at);
  if (op == ">") return truth(x > y, a.at);
  if (op == "<=") return truth(x <= y, a.at);
  if (op == ">=") return truth(x >= y, a.at);
  if (op == "==") return truth(x == y, a.at);
  if (op == "!=") return truth(x != y, a.at);
  Operand out = a;
  if (op == "+")
    out.integer = std::bit_cast<uint64_t>(x + y);
  else if (op == "-")
    out.integer = std::bit_cast<uint64_t>(x - y);
  else if (op == "*")
    out.integer = std::bit_cast<uint64_t>(x * y);
  else if (op == "/")
    out.integer = std::bit_cast<uint64_t>(x / y);
  else
    reader.fail("'" + std::string(op) + "' takes integers, before");
  return out;
}

// x op y in 64 bits. Arithmetic and & ^ | are unsigned where either operand is, % always, shifts where the
// first is; comparisons and logic give a signed 0 or 1. Shift counts are taken modulo 64, as ptxas 13.0 does.
Operand apply(const Reader& reader, std::string_view op, const Operand& a, const Operand& b) {
  if (a.kind == OperandKind::floating || b.kind == OperandKind::floating)
    return apply_floating(reader, op, a, b);
  const uint64_t x = a.integer;
  const uint64_t y = b.integer;
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto sx = static_cast<int64_t>(x);
  const auto sy = static_cast<int64_t>(y);
  if (op == "<") return truth(is_unsigned ? x < y : sx < sy, a.at);
  if (op == ">") return truth(is_unsigned ? x > y : sx > sy, a.at);
  if (op == "<=") return truth(is_unsigned ? x <= y : sx <= sy, a.at);
  if (op == ">=") return truth(is_unsigned ? x >= y : sx >= sy, a.at);
  if (op == "==") return truth(x == y, a.at);
  if (op == "!=") return truth(x != y, a.at);
  if (op == "&&") return truth(x != 0 && y != 0, a.at);
  if (op == "||") return truth(x != 0 || y != 0, a.at);
  const auto result = [&](uint64_t value) { return integer_operand(value, is_unsigned, a.at); };
  if ((op == "/" || op == "%") && y == 0) reader.fail("constant division overflows before");
  if (op == "%") return integer_operand(x % y, true, a.at);
  if (op == "/") {
    if (is_unsigned) return result(x / y);
    if (sx == INT64_MIN && sy == -1) reader.fail("constant division overflows before");
    return result(static_cast<uint64_t>(sx / sy));
  }
  if (op == "<<") return integer_operand(x << (y & 63), a.is_unsigned, a.at);
  if (op == ">>")
    return integer_operand(a.is_unsigned ? x >> (y & 63) : static_cast<uint64_t>(sx >> (y & 63)),
                           a.is_unsigned, a.at);
  if (op == "*") return result(x * y);
  if (op == "+") return result(x + y);
  if (op == "-") return result(x - y);
  if (op == "&") return result(x & y);
  if (op == "^") return result(x ^ y);
  return result(x | y);
}

// binary = unary (operator unary)*, by precedence climbing
Operand binary(Reader& reader, int least) {
  Operand left = unary(reader);
  while (reader.peek().kind == TokenKind::punctuation) {
    const std::string_view op = reader.peek().text;
    const int level = precedence(op);
    if (level < least || level == 0) break;
    reader.next();
    left = apply(reader, op, left, binary(reader, level + 1));
  }
  return left;
}

// ternary = binary ["?" ternary ":" ternary]
Operand ternary(Reader& reader) {
  const Reader::Nest nest(reader);
  const Operand condition = binary(reader, 1);
  if (!reader.accept("?")) return condition;
  const Operand yes = needs_integer(reader, ternary(reader));
  reader.expect(":");
  const Operand no = needs_integer(reader, ternary(reader));
  return needs_integer(reader, condition).integer != 0 ? yes : no;
}

}  // namespace

Operand parse_constant(Reader& reader) { return ternary(reader); }

bool starts_constant(const Reader& reader) {
  const Token& token = reader.peek();
  if (token.kind == TokenKind::integer || token.kind == TokenKind::floating) return true;
  if (token.kind == TokenKind::identifier) return token.text == "WARP_SZ";
  return token.text == "-" || token.text == "+" || token.text == "~" || token.text == "(";
}

}  // namespace bitwell::ptx
