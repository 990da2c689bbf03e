#include "model/ptx/token.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace bitwell::ptx {
namespace {

// A table, as modules have millions of characters.
enum : uint8_t { kWord = 1, kDigit = 2, kBlank = 4 };
constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> out{};
  for (unsigned char c = 'a'; c <= 'z'; ++c) out[c] = kWord;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) out[c] = kWord;
  for (unsigned char c = '0'; c <= '9'; ++c) out[c] = kWord | kDigit;
  for (const unsigned char c : {'_', '$'}) out[c] = kWord;
  for (const unsigned char c : {' ', '\t', '\n', '\v', '\f', '\r'}) out[c] = kBlank;
  return out;
}();
bool is(uint8_t kind, char c) { return (kClasses[static_cast<unsigned char>(c)] & kind) != 0; }
bool is_word(char c) { return is(kWord, c); }
bool is_digit(char c) { return is(kDigit, c); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(source_.size() / 3);  // compiled PTX has a token in 3 to 6 characters
    for (skip_blanks(); at_ < source_.size(); skip_blanks()) tokens.push_back(next());
    tokens.push_back({TokenKind::end, source_.substr(source_.size()), where()});
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  Position where() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }

  void advance() {
    if (source_[at_++] != '\n') return;
    ++line_;
    line_start_ = at_;
  }

  void skip_blanks() {
    while (at_ < source_.size()) {
      if (is(kBlank, peek())) {
        advance();
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const Position start = where();
        advance();
        advance();
        while (peek() != '*' || peek(1) != '/') {
          if (at_ >= source_.size()) throw SyntaxError(start, "comment without end");
          advance();
        }
        advance();
        advance();
      } else {
        return;
      }
    }
  }

  Token next() {
    const Position start = where();
    const size_t begin = at_;
    const TokenKind kind = scan(start);
    return {kind, source_.substr(begin, at_ - begin), start};
  }

  void words() {
    while (at_ < source_.size() && is_word(source_[at_])) ++at_;
  }

  TokenKind scan(Position start) {
    const char c = peek();
    if (c == '"') {
      advance();
      while (peek() != '"') {
        if (at_ >= source_.size() || peek() == '\n') throw SyntaxError(start, "string without end");
        advance();
      }
      advance();
      return TokenKind::string;
    }
    if (c == '.' && is_word(peek(1))) {
      advance();
      words();
      while (peek() == ':' && peek(1) == ':' && is_word(peek(2))) {
        advance();
        advance();
        words();
      }
      return TokenKind::dotted;
    }
    if (is_digit(c)) return number();
    if (is_word(c) || (c == '%' && is_word(peek(1)))) {
      advance();
      words();
      return TokenKind::identifier;
    }
    const char second = peek(1);
    const bool doubled = second == c && (c == '<' || c == '>' || c == '=' || c == '&' || c == '|');
    if (doubled || (second == '=' && (c == '!' || c == '<' || c == '>')))
      advance();
    else if (std::string_view("{}[]()<>,;:=+-*/%!~&|^?@.").find(c) == std::string_view::npos)
      throw SyntaxError(start, std::string("character '") + c + "' is not PTX");
    advance();
    return TokenKind::punctuation;
  }

  TokenKind number() {
    const char kind = peek(1);
    if (peek() == '0' && (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D')) {
      words();
      return TokenKind::floating;
    }
    if (peek() == '0' && (kind == 'x' || kind == 'X' || kind == 'b' || kind == 'B')) {
      words();
      return TokenKind::integer;
    }
    while (is_digit(peek())) advance();
    bool floating = false;
    if (peek() == '.' && is_digit(peek(1))) {
      floating = true;
      advance();
      while (is_digit(peek())) advance();
    }
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '-' || peek(1) == '+') && is_digit(peek(2))))) {
      floating = true;
      advance();
      advance();
      while (is_digit(peek())) advance();
    }
    words();
    return floating ? TokenKind::floating : TokenKind::integer;
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;  // where it begins
};

}  // namespace

SyntaxError::SyntaxError(Position where, const std::string& message)
    : std::runtime_error("line " + std::to_string(where.line) + ", column " + std::to_string(where.column) +
                         ": " + message),
      at(where) {}

std::vector<Token> tokenize(std::string_view source) {
  // NVRTC's text ends in the NUL that cuModuleLoadData reads up to.
  return Lexer(source.substr(0, source.find_last_not_of('\0') + 1)).run();
}

}  // namespace bitwell::ptx
