// Characters -> tokens, with line and column (PTX ISA 9.0, chapter 4, "Syntax").
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::ptx {

struct Position {
  int line = 0;  // from 1
  int column = 0;
};

// The text is not PTX. what() is "line L, column C: ...".
struct SyntaxError : std::runtime_error {
  SyntaxError(Position where, const std::string& message);
  Position at;
};

enum class TokenKind {
  identifier,   // %r1, $L__BB3_2, add
  dotted,       // .reg, .f32, .mbarrier::complete_tx::bytes, .32x32b: a dot and all that belongs to it
  integer,      // 12, 0x1F, 017, 0b11, with or without U
  floating,     // 0f3F800000, 0d3FF0000000000000, 1.5
  string,       // "...", quotes included
  punctuation,  // one character, or << >> == != <= >= && ||
  end
};

struct Token {
  TokenKind kind;
  std::string_view text;  // points into the source
  Position at;
};

// The tokens of `source`, ending with one of kind end. `source` must outlive them. Throws SyntaxError.
std::vector<Token> tokenize(std::string_view source);

}  // namespace bitwell::ptx
