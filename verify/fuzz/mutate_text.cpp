// How a text changes from one input to the next: by words and the items of its lists rather than by bytes. It
// knows no language; strings, names, numbers, brackets and separators look alike in all that bitwell reads.
#include "verify/fuzz/mutate_text.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "verify/fuzz/outcome.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace bitwell::fuzz {
namespace {

constexpr const char* kWords[] = {"0",
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
                                  "0.5",
                                  "2147483648",
                                  "4294967295",
                                  "4294967296",
                                  "0U",
                                  "1048576",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "18446744073709551615",
                                  "18446744073709551616",
                                  "1e999",
                                  "true",
                                  "null",
                                  "\"\"",
                                  "[]",
                                  "{}",
                                  "()",
                                  "/*",
                                  "*/",
                                  "//"};

enum class Kind : uint8_t { name, dotted, number, string, mark };
struct Word {
  size_t at, length;
  Kind kind;
};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> out;
  out.reserve(text.size() / 3);
  size_t i =
      text.starts_with("//") ? std::min(text.find('\n'), text.size()) : 0;  // the choices of ptx_run.cpp
  while (i < text.size()) {
    const char c = text[i];
    const size_t at = i++;
    if (c == ' ' || c == '\n' || c == '\t') continue;
    Kind kind = Kind::mark;
    if (c == '"') {
      kind = Kind::string;
      while (i < text.size() && text[i] != '"' && text[i] != '\n') ++i;
      i = std::min(i + 1, text.size());
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      kind = Kind::number;
      while (i < text.size() && (in_word(text[i]) || text[i] == '.')) ++i;
    } else if (in_word(c) || (c == '.' && i < text.size() && in_word(text[i]))) {
      kind = c == '.' ? Kind::dotted : Kind::name;
      while (i < text.size() &&
             (in_word(text[i]) || (kind == Kind::dotted && text[i] == ':' && text.substr(i, 2) == "::") ||
              (kind == Kind::dotted && text[i] == ':' && text[i - 1] == ':')))
        ++i;
    }
    out.push_back({at, i - at, kind});
  }
  return out;
}

struct Source {
  explicit Source(std::string_view t) : text(t), words(words_of(t)) {}
  std::string_view text;
  std::vector<Word> words;

  char mark(size_t i) const { return words[i].kind == Kind::mark ? text[words[i].at] : '\0'; }
  std::string_view word(size_t i) const { return text.substr(words[i].at, words[i].length); }
  size_t end(size_t i) const { return words[i].at + words[i].length; }
};

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

// Words first to last, between separators or the brackets around them.
struct Item {
  size_t first, last;
};
Item item_of(const Source& s, size_t i, std::string_view separators) {
  const auto separates = [&](char c) { return c != '\0' && separators.find(c) != std::string_view::npos; };
  Item out{i, i};
  for (int depth = 0; out.first > 0; --out.first) {
    const char c = s.mark(out.first - 1);
    if (closes(c)) ++depth;
    if (depth == 0 && (separates(c) || opens(c))) break;
    if (opens(c)) --depth;
  }
  for (int depth = opens(s.mark(i)) ? 1 : 0; out.last + 1 < s.words.size(); ++out.last) {
    const char c = s.mark(out.last + 1);
    if (depth == 0 && (separates(c) || closes(c))) break;
    depth += opens(c) ? 1 : closes(c) ? -1 : 0;
  }
  return out;
}

struct Edit {
  size_t at, length;
  std::string with;
};

Edit edit(const Source& s, const Source& other, Random& random) {
  const size_t i = below(random, s.words.size());
  const Word& w = s.words[i];
  const std::string self(s.word(i));
  const auto replace = [&](std::string with) { return Edit{w.at, w.length, std::move(with)}; };
  const bool statements = s.text.find(';') != std::string_view::npos && below(random, 2) == 0;
  const std::string separator = statements ? ";" : s.text.find('|') != std::string_view::npos ? "|" : ",";
  switch (below(random, 16)) {
    case 0: return replace("");
    case 1: return replace(self + " " + self);
    case 2:
      if (i + 1 == s.words.size()) return replace("");
      return {w.at, s.end(i + 1) - w.at, std::string(s.word(i + 1)) + " " + self};
    case 3: {  // an item deleted, with its separator
      const Item item = item_of(s, i, separator);
      const size_t last =
          item.last + 1 < s.words.size() && s.mark(item.last + 1) == separator[0] ? item.last + 1 : item.last;
      return {s.words[item.first].at, s.end(last) - s.words[item.first].at, ""};
    }
    case 4:
    case 5:
    case 6: {  // an item of this or another text put before this one, or in its place
      const Item here = item_of(s, i, separator);
      const Item there = item_of(other, below(random, other.words.size()), separator);
      const size_t from = other.words[there.first].at;
      const std::string text(other.text.substr(from, other.end(there.last) - from));
      const size_t at = s.words[here.first].at;
      if (below(random, 3) == 0) return {at, s.end(here.last) - at, text};
      return {at, 0, text + separator + (statements ? "\n" : " ")};
    }
    case 7:
    case 8:
      if (std::string text = statement(random); !text.empty())
        return {s.words[item_of(s, i, ";").first].at, 0, std::move(text)};
      [[fallthrough]];
    case 9: return replace(kWords[below(random, std::size(kWords))]);
    default: {
      // A name with all that hangs on it, such as add.rn.f32.
      size_t last = i;
      while (last + 1 < s.words.size() && s.words[last + 1].kind == Kind::dotted &&
             s.words[last + 1].at == s.end(last))
        ++last;
      if (w.kind == Kind::name && last > i)
        if (std::string other_name = compound_name(random); !other_name.empty())
          return {w.at, s.end(last) - w.at, std::move(other_name)};
      if (w.kind == Kind::number && below(random, 3) == 0)
        return replace(kWords[below(random, std::size(kWords))]);
      const Source& pool = below(random, 4) == 0 ? other : s;
      for (int tries = 0; tries < 50; ++tries) {
        const size_t j = below(random, pool.words.size());
        if (pool.words[j].kind == w.kind && pool.word(j) != self) return replace(std::string(pool.word(j)));
      }
      return replace("");
    }
  }
}

// `text` with some edits; words and items may come from `from` too.
std::string edited(const std::string& text, const std::string& from, Random& random) {
  const Source s(text);
  if (s.words.empty()) return text;
  const Source crossed(from);
  const Source& other = crossed.words.empty() ? s : crossed;
  std::vector<Edit> edits;
  for (size_t n = 1 + below(random, 3); n > 0; --n) edits.push_back(edit(s, other, random));
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at > b.at; });
  std::string out = text;
  size_t limit = out.size();
  for (const Edit& e : edits) {
    if (e.at + e.length > limit) continue;  // what another edit has changed
    out.replace(e.at, e.length, e.with);
    limit = e.at;
  }
  return out;
}

size_t put(const std::string& text, uint8_t* data, size_t max_size) {
  const size_t size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}

}  // namespace
}  // namespace bitwell::fuzz

namespace fuzz = bitwell::fuzz;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  if (fuzz::below(random, fuzz::kBytes) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text = fuzz::text_of(data, size);
  if (text.starts_with("//") && fuzz::below(random, 8) == 0) {  // a choice of ptx_run.cpp
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 2) text[2 + fuzz::below(random, end - 2)] = "0123456789abcdef"[fuzz::below(random, 16)];
    return fuzz::put(text, data, max_size);
  }
  return fuzz::put(fuzz::edited(text, "", random), data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                            uint8_t* out, size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  return fuzz::put(fuzz::edited(fuzz::text_of(a, a_size), fuzz::text_of(b, b_size), random), out, max_size);
}
