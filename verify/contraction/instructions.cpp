#include "verify/contraction/instructions.h"

#include <map>
#include <optional>
#include <string>

#include "model/machine/failure.h"
#include "verify/image/elf.h"
#include "verify/image/line_table.h"

namespace bitwell::contraction {

void each_instruction(std::string_view cubin, const std::function<void(const CodeWord&)>& tell) {
  constexpr uint64_t kBytes = 16;
  const image::Elf elf(cubin);
  std::string_view lines, relocations, symbols;
  std::map<uint32_t, std::string_view> code;  // by number of the section
  const bool whole = elf.each([&](const std::string& name, std::string_view inside, uint32_t number) {
    if (name == ".nv_debug_line_sass") lines = inside;
    if (name == ".rela.nv_debug_line_sass") relocations = inside;
    if (name == ".symtab") symbols = inside;
    if (name.starts_with(".text.")) code[number] = inside;
  });
  if (whole && code.empty()) return;
  const auto table = whole ? image::line_table(lines, relocations, symbols) : std::nullopt;
  if (!table || table->sequences.empty())
    throw machine::InputError("its machine code does not say which PTX lines it is of");
  for (const image::LineSequence& s : table->sequences) {
    std::optional<uint32_t> function;
    for (auto at = s.at.begin(); at != s.at.end(); ++at) {
      const auto section = code.find(at->first.first);
      if (section == code.end()) continue;
      const auto next = std::next(at);
      const bool last = next == s.at.end() || next->first.first != at->first.first;
      const uint64_t end = last ? section->second.size() : next->first.second;
      for (uint64_t a = at->first.second; a < end; a += kBytes)
        if (const auto word = image::at<uint64_t>(section->second, a)) {
          tell({s.rows[at->second].line, *word,
                image::at<uint64_t>(section->second, a + kBytes / 2).value_or(0),
                function != section->first});
          function = section->first;
        }
    }
  }
}

}  // namespace bitwell::contraction
