#include "verify/cli/run_hazards.h"

#include <fmt/format.h>

#include "verify/suite/schedules.h"

namespace bitwell::cli {

Hazards hazards(const std::vector<hazard::Finding>& findings, const isa::Program& program,
                const isa::Shape& shape, const isa::Schedule& schedule, const std::string& path) {
  Hazards out;
  for (const hazard::Finding& f : findings) {
    const hazard::KindRow& row = hazard::row_of(f.kind);
    const std::string words = verify::describe(f, program, shape);
    out.errors += row.level == hazard::Level::error ? 1 : 0;
    out.text += words + "\n";
    out.facts.push_back({{"kind", row.name},
                         {"level", row.level == hazard::Level::error ? "error" : "note"},
                         {"lines", {f.earlier.site.ptx_line, f.later.site.ptx_line}},
                         {"count", f.count},
                         {"text", words}});
  }
  if (!findings.empty())
    out.text += fmt::format("  replay: bitwell run {} --races{}\n", path, verify::replay_options(schedule));
  return out;
}

}  // namespace bitwell::cli
