#include "verify/cli/run_approximate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace bitwell::cli {

std::vector<std::string> approximations(const isa::Program& program, const verify::Launch& launch) {
  std::vector<std::string> out = program.approximations;
  if (launch.approximate == isa::Approximate::captured) return out;
  std::set<std::pair<std::string, std::string>> seen{{launch.ptx, launch.entry}};
  for (const verify::Step& s : launch.then) {
    if (s.copy || s.fill || !seen.emplace(s.ptx, s.entry).second) continue;
    for (const std::string& a : verify::load_program(s.ptx, s.entry, launch.approximate).approximations) {
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
