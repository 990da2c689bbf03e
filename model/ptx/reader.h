// A cursor over tokens with the expectations that every grammar rule shares.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "model/ptx/token.h"

namespace bitwell::ptx {

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is(std::string_view text, size_t ahead = 0) const {
    return peek(ahead).kind != TokenKind::string && peek(ahead).text == text;
  }
  bool at_end() const { return peek().kind == TokenKind::end; }
  // How many of the characters `counted` stand outside of brackets between the cursor and `end`: modules have
  // millions of operands, so that a list is allocated once.
  size_t count_ahead(std::string_view counted, char end) const {
    size_t out = 0;
    int depth = 0;
    for (size_t at = at_; at < tokens_.size(); ++at) {
      if (tokens_[at].kind != TokenKind::punctuation) continue;
      const char c = tokens_[at].text.front();
      if (depth == 0 && c == end) break;
      if (c == '{' || c == '[' || c == '(')
        ++depth;
      else if (c == '}' || c == ']' || c == ')')
        --depth;
      else if (depth == 0 && counted.find(c) != std::string_view::npos)
        ++out;
    }
    return out;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    next();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "'");
  }
  std::string expect_kind(TokenKind kind, std::string_view what) {
    if (peek().kind != kind) fail("expected " + std::string(what));
    return std::string(next().text);
  }
  std::string identifier() { return expect_kind(TokenKind::identifier, "a name"); }

  // Held while a rule that may contain itself is read: hostile nesting must not exhaust the stack.
  class Nest {
   public:
    explicit Nest(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > 256) reader_.fail("nested too deep");
    }
    ~Nest() { --reader_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

   private:
    Reader& reader_;
  };

  [[noreturn]] void fail(const std::string& message) const {
    const std::string found = at_end() ? "the end of the file" : "'" + std::string(peek().text) + "'";
    throw SyntaxError(peek().at, message + ", found " + found);
  }

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace bitwell::ptx
