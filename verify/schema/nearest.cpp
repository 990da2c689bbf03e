#include "verify/schema/nearest.h"

#include <algorithm>
#include <vector>

namespace bitwell::schema {
namespace {

// Edits from one word to the other, two neighbours exchanged being one (optimal string alignment).
size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min(
          {least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least.back().back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> names) {
  constexpr size_t longest = 64;  // no name is as long
  if (word.size() > longest) return "";
  std::string out;
  size_t least = std::max<size_t>(word.size() / 3, 2) + 1;
  for (const std::string& name : names)
    if (const size_t n = edits(word, name); n < least && n < std::max(word.size(), name.size())) {
      least = n;
      out = name;
    }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

}  // namespace bitwell::schema
