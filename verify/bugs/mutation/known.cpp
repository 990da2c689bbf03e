#include "verify/bugs/mutation/known.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "verify/launch/launch.h"

namespace bitwell::bugs {

std::optional<std::string> equivalent_by_rule(const Mutant& m, const Values& values) {
  if (m.kind == "hint deleted") return "a hint: registers or caches, never a value";
  if (m.after.empty() && m.before.find("griddepcontrol.launch_dependents") != std::string::npos)
    return "a hint: when the next launch may start";
  if (m.kind == "descriptor changed" && m.after.find(", 65536;") != std::string::npos)
    return "the leading offset, which a swizzled operand in order of k does not use";
  if (m.kind == "copy descriptor changed" && m.after.find(", 562949953421312;") != std::string::npos)
    return "the base offset, which an operand without a swizzle does not use";
  if (m.kind == "copy descriptor changed" && m.before.find(".32x128b") != std::string::npos &&
      m.after.find(", 65536;") != std::string::npos)
    return "the leading offset, which a copy of 16 bytes a row does not use";
  if (m.kind == "barrier number changed" && !values.counts_threads())
    return "a barrier of all threads, whatever its number";
  const auto parts = [](const std::string& text) {
    return split(std::string_view(text).substr(0, text.size() - 1));
  };
  if (!m.after.empty() && m.after.front() != '{' && values.same(parts(m.before), parts(m.after)))
    return "the same value, because sizes and indices are not negative";
  return std::nullopt;
}

bool only_the_race_check_can_tell(const Mutant& m) {
  static constexpr std::array kKinds{"fence deleted", "fence of another kind", "scope narrowed",
                                     "order weakened", "default order weakened"};
  static constexpr std::array kDeleted{"bar.warp.sync", "griddepcontrol.wait", "barrier.cluster.wait"};
  const auto names = [&](const char* part) { return m.before.find(part) != std::string::npos; };
  return std::find(kKinds.begin(), kKinds.end(), m.kind) != kKinds.end() ||
         (m.after.empty() && std::any_of(kDeleted.begin(), kDeleted.end(), names));
}

std::vector<Listed> read_list(const std::string& path) {
  std::vector<Listed> out;
  std::istringstream in(launch::read_file(path));
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream columns(line);
    for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
    const bool gap = !fields.empty() && fields[0] == "gap";
    if (fields.size() != 5 || (!gap && fields[0] != "equivalent") || fields[4].empty())
      throw machine::InputError(
          "'" + path + "', line " + std::to_string(number) +
          ": not 'equivalent' or 'gap', kernel, before, after and reason with tabs between");
    out.push_back({{gap ? Known::Class::gap : Known::Class::equivalent, fields[4]},
                   fields[1],
                   fields[2],
                   fields[3],
                   number});
  }
  return out;
}

namespace {

bool matches(const std::string& listed, const std::string& text) {
  return listed == text || listed == shape_of(text);
}

}  // namespace

const Listed* find(const std::vector<Listed>& list, const std::string& kernel, const Mutant& m) {
  for (const Listed& l : list) {
    const bool family =
        l.kernel.back() == '*' && kernel.rfind(l.kernel.substr(0, l.kernel.size() - 1), 0) == 0;
    const bool before = matches(l.before, m.before) || l.before == m.before + " #" + std::to_string(m.nth);
    if ((family || l.kernel == kernel) && before && matches(l.after, m.after.empty() ? "-" : m.after))
      return &l;
  }
  return nullptr;
}

}  // namespace bitwell::bugs
