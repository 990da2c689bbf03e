#include "verify/bugs/mutation/mutate.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "verify/bugs/mutation/parts.h"
#include "verify/bugs/mutation/site.h"

namespace bitwell::bugs {

std::string only_entry(const std::string& ptx, const std::string& entry) {
  std::string out = ptx;
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  bool inside = false;  // another entry, up to its closing brace in the first column
  for (size_t at = 0; at < out.size();) {
    size_t end = out.find('\n', at);
    if (end == std::string::npos) end = out.size();
    const std::string_view line(out.data() + at, end - at);
    if (line.rfind(".visible .entry ", 0) == 0) inside = line.substr(16, line.find('(') - 16) != entry;
    const bool closes = line == "}";
    if (inside || trim(line).rfind(".loc", 0) == 0) blank(at, end);
    if (closes) inside = false;
    at = end + 1;
  }
  return out;
}

std::vector<Mutant> mutants(std::string_view text) {
  std::vector<Mutant> out;
  std::map<std::string, int> alike;
  for (const Line& l : instructions(text)) {
    const size_t before = out.size();
    Site site(l, out);
    plant_meetings(site);
    plant_values(site);
    plant_matrices(site);
    const int nth = ++alike[l.parts.text()];
    for (size_t i = before; i < out.size(); ++i) out[i].nth = nth;
  }
  return out;
}

std::string plant(const std::string& text, const Mutant& m) {
  std::string out = text;
  out.replace(m.at, m.length, m.after);
  return out;
}

std::string shape_of(std::string_view instruction) {
  const auto end_of = [&](size_t from, const char* characters) {
    return std::min(instruction.find_first_not_of(characters, from), instruction.size());
  };
  // A register, "%rd12", or a label, "$L__BB0_3".
  const auto name_at = [&](size_t i) {
    constexpr std::string_view kLabel = "$L__BB";
    const bool label = instruction.substr(i).starts_with(kLabel);
    if (!label && instruction[i] != '%') return i;
    const size_t number = label ? i + kLabel.size() : end_of(i + 1, "abcdefghijklmnopqrstuvwxyz");
    const size_t end = end_of(number, label ? "0123456789_" : "0123456789");
    return number == i + 1 || end == number ? i : end;
  };
  std::string out;
  for (size_t i = 0; i < instruction.size();) {
    const size_t end = name_at(i);
    out += end == i ? instruction[i] : '%';
    i = std::max(end, i + 1);
  }
  return out;
}

}  // namespace bitwell::bugs
