#include "verify/cli/run_hazards.h"

#include <fmt/format.h>

#include "verify/suite/schedules.h"

namespace bitwell::cli {

namespace {

nlohmann::json facts_of(const hazard::Party& p, const isa::Program& program) {
  constexpr const char* kKinds[] = {"read", "write", "update"};
  nlohmann::json out{{"ptx_line", p.site.ptx_line},
                     {"access", kKinds[static_cast<size_t>(p.site.kind)]},
                     {"cta", p.cta},
                     {"operation", p.site.actor != hazard::Actor::thread}};
  if (p.warp >= 0) out["warp"] = p.warp;
  if (p.lane >= 0) out["lane"] = p.lane;
  if (const isa::Line* line = verify::line_of(p.site.ptx_line, program); line != nullptr) {
    out["instruction"] = line->text;
    if (!line->source.empty()) out["source"] = line->source;
  }
  return out;
}

}  // namespace

Hazards hazards(const std::vector<hazard::Finding>& findings, const isa::Program& program,
                const isa::Shape& shape, const isa::Schedule& schedule, const std::string& path) {
  Hazards out;
  for (const hazard::Finding& f : findings) {
    const hazard::KindRow& row = hazard::row_of(f.kind);
    const std::string words = verify::describe(f, program, shape);
    ++(row.level == hazard::Level::error ? out.errors : out.notes);
    out.text += words + "\n";
    out.facts.push_back({{"kind", row.name},
                         {"level", row.level == hazard::Level::error ? "error" : "note"},
                         {"lines", {f.earlier.site.ptx_line, f.later.site.ptx_line}},
                         {"earlier", facts_of(f.earlier, program)},
                         {"later", facts_of(f.later, program)},
                         {"address", f.address},
                         {"bytes", f.bytes},
                         {"remedy", row.remedy},
                         {"count", f.count},
                         {"text", words}});
  }
  if (!findings.empty())
    out.text += fmt::format("  replay: bitwell run {} --races{}\n", path, verify::replay_options(schedule));
  return out;
}

}  // namespace bitwell::cli
