#include "verify/problem/words.h"

#include <sstream>

#include "model/machine/failure.h"

namespace bitwell::problem {

std::vector<Word> words_of(std::string_view kind, const std::string& text) {
  std::vector<Word> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(std::string(kind) + " |")) continue;
    std::vector<std::vector<uint32_t>> parts;
    std::istringstream rest(line.substr(kind.size() + 2));
    for (std::string part; std::getline(rest, part, '|');) {
      std::istringstream numbers(part);
      numbers >> std::hex;
      parts.emplace_back();
      for (uint32_t n = 0; numbers >> n;) parts.back().push_back(n);
      if (!numbers.eof()) parts.clear();
    }
    if (parts.size() != 6 || parts[2].size() != 1 || parts[5].size() != 1)
      throw machine::InputError("no published word: '" + line + "'");
    out.push_back({parts[0],
                   parts[1],
                   parts[2][0],
                   {parts[3].begin(), parts[3].end()},
                   {parts[4].begin(), parts[4].end()},
                   parts[5][0]});
  }
  return out;
}

}  // namespace bitwell::problem
