#include "verify/image/lines.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "verify/image/line_table.h"

namespace bitwell::image {
namespace {

// The label that stands for the names of inlined functions, which are not known: ptxas wants one.
constexpr std::string_view kInlined = "$L__info_string_inlined";

// ".loc 1 59 7", and in front of it what that is inlined at, unless `alone`. Its column is its number, which
// tells apart what was inlined at one line for different callers.
std::string directives(const LineTable& table, const LineSequence& sequence, size_t row, bool alone) {
  constexpr size_t most = 64;
  std::vector<size_t> chain{row};  // the innermost first
  for (uint32_t caller = sequence.rows[row].caller; caller != 0 && !alone && chain.size() < most;) {
    // A caller stands in front of what it calls.
    if (caller > chain.back()) return "";
    chain.push_back(caller - 1);
    caller = sequence.rows[caller - 1].caller;
  }
  std::string out, inlined_at;
  while (!chain.empty()) {
    const LineRow& r = sequence.rows[chain.back()];
    if (r.file == 0 || r.file > table.files.size() || r.line < 1 || r.line > INT32_MAX) return "";
    const std::string place =
        std::to_string(r.file) + " " + std::to_string(r.line) + " " + std::to_string(chain.back() + 1);
    out += ".loc " + place + inlined_at + " ";
    inlined_at = ", function_name " + std::string(kInlined) + ", inlined_at " + place;
    chain.pop_back();
  }
  return out;
}

// A text by its lines. What stands between two empty ones has one place, which a .loc said in the first of
// them.
struct Text {
  static constexpr size_t none = ~size_t{0};
  std::vector<std::string> lines;
  std::vector<size_t> empty;  // of each line the empty one in front of it, in which a statement may begin
};

Text text_by_lines(const std::string& text) {
  Text out;
  size_t empty = Text::none;
  int depth = 0;
  bool between = true;  // statements
  char before = ';';    // the last that is no blank
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    for (const char c : line.substr(0, line.find("//"))) {
      if (c == ' ' || c == '\t' || c == '\r') continue;
      // A block stands behind statements or the head of a function, braces of operands and values behind
      // names.
      const bool behind = before == ';' || before == ':' || before == '{' || before == '}';
      const bool block = c == '}' || depth != 0 ? behind : before != '=';
      if (block && (c == '{' || c == '}')) depth += c == '{' ? 1 : -1;
      between = c == ';' || c == ':' || (block && (c == '{' || c == '}'));
      before = c == '}' && !block ? ',' : c;
    }
    if (depth == 0) empty = Text::none;
    if (depth != 0 && between && line.find_first_not_of(" \t\r") == std::string_view::npos)
      empty = out.lines.size();
    out.lines.emplace_back(line);
    out.empty.push_back(empty);
  }
  return out;
}

// By number of the empty line.
std::map<size_t, std::string> directives_of(const LineTable& cuda, const LineTable& ptx, const Text& text) {
  std::map<uint32_t, std::vector<const LineSequence*>> in_section;
  for (const LineSequence& s : cuda.sequences)
    if (!s.at.empty()) in_section[s.at.begin()->first.first].push_back(&s);
  std::map<size_t, std::string> out;
  for (const LineSequence& lines : ptx.sequences) {
    const auto empty = [&](size_t row) {
      const int64_t line = lines.rows[row].line;
      return line < 1 || static_cast<uint64_t>(line) > text.empty.size()
                 ? Text::none
                 : text.empty[static_cast<size_t>(line) - 1];
    };
    for (const auto& [address, row] : lines.at) {
      const size_t to = empty(row);
      if (to == Text::none) continue;
      for (const LineSequence* s : in_section[address.first]) {
        auto at = s->at.upper_bound(address);
        if (at == s->at.begin() || (--at)->first.first != address.first) continue;
        // ptxas begins no row where code of one line follows that was inlined elsewhere.
        const auto first = lines.at.find(at->first);
        const bool certain = at->first == address || (first != lines.at.end() && empty(first->second) == to);
        std::string& known = out[to];
        if (certain || known.empty()) {
          std::string found = directives(cuda, *s, at->second, !certain);
          if (!found.empty()) known = std::move(found);
        }
      }
    }
  }
  return out;
}

}  // namespace

std::string with_cuda_lines(std::string text, const LineSections& sections) {
  const auto cuda = line_table(sections.cuda, sections.cuda_relocations, sections.symbols),
             ptx = line_table(sections.ptx, sections.ptx_relocations, sections.symbols);
  if (!cuda || !ptx) return text;
  for (const std::string& file : cuda->files)
    if (file.find_first_of("\"\\\n") != std::string::npos) return text;
  Text lines = text_by_lines(text);
  const std::map<size_t, std::string> known = directives_of(*cuda, *ptx, lines);
  if (known.empty()) return text;
  bool located = false;
  for (size_t i = 0; i < lines.lines.size(); ++i) {
    if (lines.empty[i] == Text::none) located = false;
    if (lines.empty[i] != i) continue;
    const auto place = known.find(i);
    const bool is = place != known.end() && !place->second.empty();
    if (is || located) lines.lines[i] = is ? place->second : ".loc 1 0 0";
    located = is;
  }
  std::string out;
  for (const std::string& line : lines.lines) out += line + "\n";
  if (out.find(kInlined) != std::string::npos)
    out += ".section .debug_str\n{\n" + std::string(kInlined) + ":\n.b8 0\n}\n";
  for (size_t i = 0; i < cuda->files.size(); ++i)
    out += ".file " + std::to_string(i + 1) + " \"" + cuda->files[i] + "\"\n";
  return out;
}

}  // namespace bitwell::image
