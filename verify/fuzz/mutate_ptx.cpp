// How PTX changes from one input to the next: by tokens, statements and instruction forms rather than bytes.
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "model/isa/form.h"
#include "model/ptx/token.h"
#include "verify/fuzz/outcome.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

namespace isa = bitwell::isa;
namespace ptx = bitwell::ptx;
using Random = std::minstd_rand;
using ptx::Token;
using ptx::TokenKind;

constexpr const char* kIntegers[] = {"0",
                                     "1",
                                     "2",
                                     "3",
                                     "7",
                                     "16",
                                     "31",
                                     "32",
                                     "64",
                                     "128",
                                     "255",
                                     "256",
                                     "1024",
                                     "4096",
                                     "65535",
                                     "65536",
                                     "-1",
                                     "2147483647",
                                     "2147483648",
                                     "4294967295",
                                     "4294967296",
                                     "0U",
                                     "1048576",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "18446744073709551615"};

size_t below(Random& random, size_t n) { return random() % n; }

// The opcode and modifiers of any form, one alternative of each group.
std::string spelling(Random& random) {
  static const std::vector<const isa::Form*> forms = isa::all_forms();
  const isa::Form& form = *forms[below(random, forms.size())];
  std::string out(isa::opcode_of(form));
  for (const isa::Element& e : isa::elements_of(form)) {
    if (e.alternatives.empty() || (e.optional && below(random, 2) == 0)) continue;
    out += e.alternatives[below(random, e.alternatives.size())];
  }
  return out;
}

struct Source {  // never copied: tokens point into the text
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  explicit Source(std::string t) : text(std::move(t)), tokens(ptx::tokenize(text)) { tokens.pop_back(); }
  std::string text;
  std::vector<Token> tokens;

  size_t begin(size_t token) const { return static_cast<size_t>(tokens[token].text.data() - text.data()); }
  size_t end(size_t token) const { return begin(token) + tokens[token].text.size(); }
  std::string part(size_t from, size_t to) const { return text.substr(begin(from), end(to) - begin(from)); }
  // The last token of the statement that `token` is in, the first one of it.
  size_t statement_end(size_t token) const {
    while (token + 1 < tokens.size() && tokens[token].text != ";") ++token;
    return token;
  }
  size_t statement_begin(size_t token) const {
    while (token > 0 && tokens[token - 1].text != ";" && tokens[token - 1].text != "{" &&
           tokens[token - 1].text != "}")
      --token;
    return token;
  }
};

struct Edit {
  size_t at, length;
  std::string with;
};

Edit edit(const Source& s, const Source& other, Random& random) {
  const size_t i = below(random, s.tokens.size());
  const Token& t = s.tokens[i];
  const std::string self(t.text);
  const size_t at = s.begin(i);
  const auto replace = [&](std::string with) { return Edit{at, self.size(), std::move(with)}; };
  switch (below(random, 14)) {
    case 0: return replace("");
    case 1: return replace(self + " " + self);
    case 2:
      if (i + 1 == s.tokens.size()) return replace("");
      return {at, s.end(i + 1) - at, std::string(s.tokens[i + 1].text) + " " + self};
    case 3: {  // a statement deleted
      const size_t from = s.statement_begin(i);
      return {s.begin(from), s.end(s.statement_end(i)) - s.begin(from), ""};
    }
    case 4:
    case 5: {  // a statement of this or another module put before this one
      const size_t j = below(random, other.tokens.size());
      const size_t from = other.statement_begin(j);
      return {s.begin(s.statement_begin(i)), 0, other.part(from, other.statement_end(j)) + "\n"};
    }
    case 6:
    case 7: {  // another instruction with these operands
      size_t first = s.statement_begin(i);
      if (s.tokens[first].text == "@") first = std::min(first + 2, s.tokens.size() - 1);
      if (s.tokens[first].text == "!") ++first;
      size_t last = std::min(first, s.tokens.size() - 1);
      first = last;
      while (last + 1 < s.tokens.size() && s.tokens[last + 1].kind == TokenKind::dotted) ++last;
      return {s.begin(first), s.end(last) - s.begin(first), spelling(random)};
    }
    default: {
      if (t.kind == TokenKind::integer && below(random, 3) == 0)
        return replace(kIntegers[below(random, std::size(kIntegers))]);
      const Source& pool = below(random, 4) == 0 ? other : s;
      for (int tries = 0; tries < 50; ++tries) {
        const Token& u = pool.tokens[below(random, pool.tokens.size())];
        if (u.kind == t.kind && u.text != t.text) return replace(std::string(u.text));
      }
      return replace("");
    }
  }
}

// The input with some edits, or "" where it has no tokens. `from`: where words and statements may come from.
std::string edited(const std::string& text, const std::string& from, Random& random) {
  try {
    const Source s(text);
    if (s.tokens.empty()) return "";
    const Source* other = &s;
    std::optional<Source> crossed;
    if (!from.empty()) {
      crossed.emplace(from);
      if (!crossed->tokens.empty()) other = &*crossed;
    }
    std::vector<Edit> edits;
    for (size_t n = 1 + below(random, 3); n > 0; --n) edits.push_back(edit(s, *other, random));
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at > b.at; });
    std::string out = text;
    size_t limit = out.size();
    for (const Edit& e : edits) {
      if (e.at + e.length > limit) continue;  // what another edit has changed
      out.replace(e.at, e.length, e.with);
      limit = e.at;
    }
    return out;
  } catch (const ptx::SyntaxError&) {
    return "";
  }
}

size_t put(const std::string& text, uint8_t* data, size_t max_size) {
  const size_t size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  Random random(seed);
  std::string text = bitwell::fuzz::text_of(data, size);
  if (below(random, 16) == 0) return LLVMFuzzerMutate(data, size, max_size);
  if (text.starts_with("//") && below(random, 8) == 0) {  // a choice of the launch (ptx_run.cpp)
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 2) text[2 + below(random, end - 2)] = "0123456789abcdef"[below(random, 16)];
    return put(text, data, max_size);
  }
  const std::string out = edited(text, "", random);
  return out.empty() ? LLVMFuzzerMutate(data, size, max_size) : put(out, data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                            uint8_t* out, size_t max_size, unsigned seed) {
  Random random(seed);
  return put(edited(bitwell::fuzz::text_of(a, a_size), bitwell::fuzz::text_of(b, b_size), random), out,
             max_size);
}
