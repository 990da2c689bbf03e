#include "verify/launch/file/names.h"

#include <algorithm>
#include <cctype>

#include "model/machine/failure.h"
#include "model/run/stuck/nearby.h"

namespace bitwell::launch {
namespace {

constexpr size_t kShown = 8;        // names in a refusal
constexpr size_t kMostInside = 24;  // characters between brackets that are shown
// Of a word that is longer than kLongestWord: its beginning and its end.
constexpr size_t kLongestWord = 80, kFirst = 48, kLast = 16;

bool of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// Where the bracket that opens at `open` closes; npos where it does not.
size_t closing(std::string_view text, size_t open) {
  const char from = text[open];
  const char to = from == '<' ? '>' : ')';
  size_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\n') break;
    if (text[i] == from) ++depth;
    if (text[i] == to && --depth == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string as_written(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) != "_Z" || (i > 0 && of_a_name(text[i - 1]))) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && of_a_name(text[end])) ++end;
    out += run::readable(std::string(text.substr(i, end - i)));
    i = end;
  }
  return out;
}

size_t name_among(const std::vector<std::string>& names, const std::string& wanted, const std::string& what) {
  if (const auto same = std::find(names.begin(), names.end(), wanted); same != names.end())
    return static_cast<size_t>(same - names.begin());
  std::vector<size_t> alike;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string plain = run::readable(names[i]);
    if (plain == wanted) return i;
    if (plain.find(wanted) != std::string::npos || names[i].find(wanted) != std::string::npos)
      alike.push_back(i);
  }
  if (alike.size() == 1 && !wanted.empty()) return alike[0];
  const bool none = alike.empty();
  std::string text = none ? "no " + what + " '" + wanted + "'"
                          : what + " '" + wanted + "' may be any of " + std::to_string(alike.size());
  if (none)
    for (size_t i = 0; i < names.size(); ++i) alike.push_back(i);
  for (size_t i = 0; i < std::min(alike.size(), kShown); ++i)
    text += (i != 0              ? ", "
             : !none             ? ": "
             : alike.size() == 1 ? "; there is "
                                 : "; there are ") +
            names[alike[i]];
  if (alike.size() > kShown) text += " and " + std::to_string(alike.size() - kShown) + " more";
  throw machine::InputError(text);
}

// A text with its long words cut, but for those of paths: Python's kernels carry their types in names that
// nothing demangles.
static std::string with_short_words(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && of_a_name(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    const bool of_a_path =
        (i > 0 && text[i - 1] == '/') || (end < text.size() && (text[end] == '/' || text[end] == '.'));
    if (word.size() > kLongestWord && !of_a_path)
      (out += word.substr(0, kFirst)).append("...") += word.substr(word.size() - kLast);
    else
      out += word;
    if (end < text.size()) out += text[end++];
    i = end;
  }
  return out;
}

std::string shortened(std::string_view message) {
  const std::string text = with_short_words(as_written(message));
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const bool bracket =
        text[i] == '<' || (text[i] == '(' && i > 0 && (of_a_name(text[i - 1]) || text[i - 1] == '>'));
    if (!bracket) continue;
    const size_t end = closing(text, i);
    if (end == std::string::npos || end - i - 1 <= kMostInside) continue;
    out += "...";
    i = end - 1;
  }
  return out;
}

}  // namespace bitwell::launch
