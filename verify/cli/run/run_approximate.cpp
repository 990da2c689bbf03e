#include "verify/cli/run/run_approximate.h"

#include <fmt/format.h>

namespace bitwell::cli {

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
