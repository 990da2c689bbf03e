#include "verify/bugs/mutation/parts.h"

#include <cctype>
#include <charconv>

namespace bitwell::bugs {

std::string Parts::text() const {
  std::string out = guard.empty() ? opcode : guard + " " + opcode;
  for (size_t i = 0; i < operands.size(); ++i) out += (i == 0 ? " " : ", ") + operands[i];
  return out + ";";
}

bool Parts::is(std::string_view base) const {
  return opcode.substr(0, base.size()) == base &&
         (opcode.size() == base.size() || opcode[base.size()] == '.');
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  return s;
}

// `s` without its semicolon.
Parts split(std::string_view s) {
  Parts out;
  const auto word = [&] {
    size_t end = 0;
    while (end < s.size() && std::isspace(static_cast<unsigned char>(s[end])) == 0) ++end;
    const std::string w(s.substr(0, end));
    s = trim(s.substr(end));
    return w;
  };
  if (s.front() == '@') out.guard = word();
  out.opcode = word();
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '{' || s[i] == '[' || s[i] == '(') ++depth;
    if (s[i] == '}' || s[i] == ']' || s[i] == ')') --depth;
    if (s[i] != ',' || depth != 0) continue;
    out.operands.emplace_back(trim(s.substr(start, i - start)));
    start = i + 1;
  }
  if (!s.empty()) out.operands.emplace_back(trim(s.substr(start)));
  return out;
}

std::optional<int64_t> integer(const std::string& operand) {
  int64_t v = 0;
  const auto end = std::from_chars(operand.data(), operand.data() + operand.size(), v);
  if (end.ec != std::errc() || end.ptr != operand.data() + operand.size()) return std::nullopt;
  return v;
}

std::vector<Line> instructions(std::string_view text) {
  std::vector<Line> out;
  int number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = trim(text.substr(at, end - at));
    if (line.size() > 2 && line.front() == '{' && line.back() == '}')  // inline PTX in braces of its own
      line = trim(line.substr(1, line.size() - 2));
    const bool is =
        !line.empty() && line.back() == ';' && (line.front() == '@' || std::islower(line.front()) != 0);
    if (is)
      out.push_back({number, static_cast<size_t>(line.data() - text.data()), line.size(),
                     split(line.substr(0, line.size() - 1))});
    at = end + 1;
  }
  return out;
}

}  // namespace bitwell::bugs
