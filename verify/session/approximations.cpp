#include "verify/session/approximations.h"

#include <algorithm>
#include <set>
#include <utility>

namespace bitwell::session {

static std::shared_ptr<const isa::Program> program_of_step(const launch::Step& s,
                                                           const launch::Launch& launch) {
  launch::Launch of;
  of.ptx = s.ptx;
  of.entry = s.entry;
  of.module = s.module;
  of.approximate = launch.approximate;
  return launch::program_of(of);
}

std::vector<std::string> approximations(const launch::Launch& launch) {
  std::vector<std::string> out = launch::program_of(launch)->approximations;
  if (launch.approximate == isa::Approximate::captured) return out;
  std::set<std::pair<std::string, std::string>> seen{{launch.ptx, launch.entry}};
  for (const launch::Step& s : launch.then) {
    if (s.copy || s.fill || !seen.emplace(s.ptx, s.entry).second) continue;
    const std::shared_ptr<const isa::Program> of_step = program_of_step(s, launch);
    for (const std::string& a : of_step->approximations) {
      std::string line = a;  // "line 12: ..."
      if (s.ptx != launch.ptx) line.insert(line.find(':'), " of " + s.ptx);
      if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
    }
  }
  return out;
}

std::set<std::string> instructions(const launch::Launch& launch) {
  std::set<std::string> out;
  const auto add = [&](const isa::Program& program) {
    for (const isa::Function& f : program.functions)
      for (const isa::Line& line : f.lines)
        if (!line.text.empty()) out.insert(line.text);
  };
  add(*launch::program_of(launch));
  for (const launch::Step& s : launch.then)
    if (!s.copy && !s.fill) add(*program_of_step(s, launch));
  return out;
}

}  // namespace bitwell::session
