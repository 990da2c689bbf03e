#include "verify/contraction/instructions.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/machine/failure.h"
#include "verify/image/elf.h"
#include "verify/image/line_table.h"

namespace bitwell::contraction {

namespace {

constexpr uint64_t kBytes = 16;

// From where a branch leads to, back to it.
void count_loops(std::vector<CodeWord>& function) {
  constexpr uint32_t kBranch = 0x147;  // BRA
  std::map<size_t, size_t> loops;      // their ends, by where they begin
  for (size_t i = 0; i < function.size(); ++i) {
    const int64_t to = static_cast<int64_t>(i) + 1 + function[i].leap() / static_cast<int64_t>(kBytes);
    if (function[i].opcode() == kBranch && to >= 0 && to < static_cast<int64_t>(i))
      loops[static_cast<size_t>(to)] = i;
  }
  // Those that begin later are inner ones.
  uint32_t number = 0;
  for (const auto& [begin, end] : loops) {
    ++number;
    for (size_t i = begin; i <= end; ++i) {
      ++function[i].loops;
      function[i].loop = number;
      function[i].loop_size = static_cast<uint32_t>(end - begin + 1);
    }
  }
}

}  // namespace

std::vector<CodeWord> instructions_of(std::string_view cubin) {
  std::vector<CodeWord> out;
  const image::Elf elf(cubin);
  std::string_view lines, relocations, symbols;
  std::map<uint32_t, std::string_view> code;  // by number of the section
  const bool whole = elf.each([&](const std::string& name, std::string_view inside, uint32_t number) {
    if (name == ".nv_debug_line_sass") lines = inside;
    if (name == ".rela.nv_debug_line_sass") relocations = inside;
    if (name == ".symtab") symbols = inside;
    if (name.starts_with(".text.")) code[number] = inside;
  });
  if (whole && code.empty()) return out;
  const auto table = whole ? image::line_table(lines, relocations, symbols) : std::nullopt;
  if (!table || table->sequences.empty())
    throw machine::InputError("its machine code does not say which PTX lines it is of");
  for (const image::LineSequence& s : table->sequences) {
    std::vector<CodeWord> all;  // of a function
    std::optional<uint32_t> function;
    const auto end_function = [&] {
      count_loops(all);
      out.insert(out.end(), all.begin(), all.end());
      all.clear();
    };
    for (auto at = s.at.begin(); at != s.at.end(); ++at) {
      const auto section = code.find(at->first.first);
      if (section == code.end()) continue;
      if (function != section->first) end_function();
      const auto next = std::next(at);
      const bool last = next == s.at.end() || next->first.first != at->first.first;
      const uint64_t end = last ? section->second.size() : next->first.second;
      for (uint64_t a = at->first.second; a < end; a += kBytes)
        if (const auto word = image::at<uint64_t>(section->second, a)) {
          all.push_back({s.rows[at->second].line, *word,
                         image::at<uint64_t>(section->second, a + kBytes / 2).value_or(0),
                         function != section->first});
          function = section->first;
        }
    }
    end_function();
  }
  return out;
}

std::vector<CodeWord> of_most_rounds(const std::vector<CodeWord>& code) {
  std::map<std::pair<int64_t, uint32_t>, uint32_t> copies;  // by line and loop
  for (const CodeWord& one : code) ++copies[{one.line, one.loop}];
  const auto rank = [&](const CodeWord& one) {
    return std::tuple(one.loops, copies[{one.line, one.loop}], one.loop_size, one.loop);
  };
  std::map<int64_t, std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> most;
  for (const CodeWord& one : code) most[one.line] = std::max(most[one.line], rank(one));
  std::vector<CodeWord> out;
  for (const CodeWord& one : code)
    if (rank(one) == most[one.line]) out.push_back(one);
  return out;
}

}  // namespace bitwell::contraction
