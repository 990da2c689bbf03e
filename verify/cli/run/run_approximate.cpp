#include "verify/cli/run/run_approximate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace bitwell::cli {

static std::shared_ptr<const isa::Program> program_of(const verify::Step& s, const verify::Launch& launch) {
  verify::Launch of;
  of.ptx = s.ptx;
  of.entry = s.entry;
  of.module = s.module;
  of.approximate = launch.approximate;
  return verify::program_of(of);
}

std::vector<std::string> approximations(const isa::Program& program, const verify::Launch& launch) {
  std::vector<std::string> out = program.approximations;
  if (launch.approximate == isa::Approximate::captured) return out;
  std::set<std::pair<std::string, std::string>> seen{{launch.ptx, launch.entry}};
  for (const verify::Step& s : launch.then) {
    if (s.copy || s.fill || !seen.emplace(s.ptx, s.entry).second) continue;
    const std::shared_ptr<const isa::Program> of_step = program_of(s, launch);
    for (const std::string& a : of_step->approximations) {
      std::string line = a;  // "line 12: ..."
      if (s.ptx != launch.ptx) line.insert(line.find(':'), " of " + s.ptx);
      if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
    }
  }
  return out;
}

std::string approximate_line(const std::vector<std::string>& lines, const RunOptions& options,
                             const isa::Program& program) {
  if (lines.empty()) return "";
  return fmt::format(
      "  approximate: PTX {}{}; {}\n", lines.front(),
      lines.size() == 1 ? "" : fmt::format(", and so have {} more", lines.size() - 1),
      options.approximate == "nearest"
          ? "the nearest value was taken, which no device vouches for"
          : fmt::format("nobody has recorded those of {}, an H200's were taken", program.target));
}

}  // namespace bitwell::cli
