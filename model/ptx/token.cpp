#include "model/ptx/token.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace bitwell::ptx {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (skip_blanks(); at_ < source_.size(); skip_blanks()) tokens.push_back(next());
    tokens.push_back({TokenKind::end, source_.substr(source_.size()), where_});
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void advance() {
    if (source_[at_] == '\n') {
      ++where_.line;
      where_.column = 0;
    }
    ++at_;
    ++where_.column;
  }

  void skip_blanks() {
    while (at_ < source_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
        advance();
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < source_.size() && peek() != '\n') advance();
      } else if (peek() == '/' && peek(1) == '*') {
        const Position start = where_;
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
    const Position start = where_;
    const size_t begin = at_;
    const TokenKind kind = scan(start);
    return {kind, source_.substr(begin, at_ - begin), start};
  }

  void words() {
    while (is_word(peek())) advance();
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
    static constexpr std::array<std::string_view, 8> pairs{"<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};
    const std::string_view two = source_.substr(at_, 2);
    if (std::find(pairs.begin(), pairs.end(), two) != pairs.end())
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
  Position where_{1, 1};
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
