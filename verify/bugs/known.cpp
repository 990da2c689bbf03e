#include "verify/bugs/known.h"

#include <array>
#include <sstream>
#include <utility>

#include "verify/launch/launch.h"

namespace bitwell::bugs {

std::optional<Known> by_rule(const Mutant& m, const Values& values) {
  using Class = Known::Class;
  if (m.kind == "hint deleted") return Known{Class::equivalent, "a hint: registers or caches, never a value"};
  if (m.kind == "fence deleted") return Known{Class::needs_races, "order of memory between agents"};
  if (m.kind == "scope or order weakened") return Known{Class::needs_races, "order of memory between agents"};
  static constexpr std::array<std::pair<const char*, const char*>, 3> kRaces{
      {{"bar.warp.sync", "order of memory between the lanes of a warp"},
       {"griddepcontrol.wait", "order of memory between launches that overlap"},
       {"barrier.cluster.wait", "order of memory between CTAs"}}};
  if (m.after.empty())
    for (const auto& [part, reason] : kRaces)
      if (m.before.find(part) != std::string::npos) return Known{Class::needs_races, reason};
  if (m.after.empty() && m.before.find("griddepcontrol.launch_dependents") != std::string::npos)
    return Known{Class::equivalent, "a hint: when the next launch may start"};
  if (m.kind == "descriptor changed" && m.after.find(", 65536;") != std::string::npos)
    return Known{Class::equivalent,
                 "the leading offset, which a swizzled operand in order of k does not use"};
  if (m.kind == "barrier number changed" && !values.counts_threads())
    return Known{Class::equivalent, "a barrier of all threads, whatever its number"};
  const auto parts = [](const std::string& text) {
    return split(std::string_view(text).substr(0, text.size() - 1));
  };
  if (!m.after.empty() && m.after.front() != '{' && values.same(parts(m.before), parts(m.after)))
    return Known{Class::equivalent, "the same value, because sizes and indices are not negative"};
  return std::nullopt;
}

std::vector<Listed> read_list(const std::string& path) {
  std::vector<Listed> out;
  std::istringstream in(verify::read_file(path));
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream columns(line);
    for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
    const bool races = !fields.empty() && fields[0] == "needs-races";
    if (fields.size() != 5 || (!races && fields[0] != "equivalent") || fields[4].empty())
      throw machine::InputError(
          "'" + path + "', line " + std::to_string(number) +
          ": not 'equivalent' or 'needs-races', kernel, before, after and reason with tabs between");
    out.push_back({{races ? Known::Class::needs_races : Known::Class::equivalent, fields[4]},
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
    if ((family || l.kernel == kernel) && matches(l.before, m.before) &&
        matches(l.after, m.after.empty() ? "-" : m.after))
      return &l;
  }
  return nullptr;
}

}  // namespace bitwell::bugs
