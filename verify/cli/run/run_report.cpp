#include "verify/cli/run/run_report.h"

#include <fmt/format.h>

#include "verify/cli/command.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/cli/report/footprint.h"
#include "verify/cli/report/numeric.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_approximate.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {
using terminal::grouped;

namespace {
constexpr size_t kMuchShadow = size_t{64} << 20;
}

nlohmann::json RunReport::facts() const {
  const run::Residency& held = answer.residency;
  nlohmann::json j{{"entry", file.launch.entry},
                   {"lane_instructions", answer.result.lane_instructions},
                   {"warp_instructions", answer.result.warp_instructions},
                   {"seconds", seconds},
                   {"host_threads",
                    {{"threads", answer.result.host.threads},
                     {"clusters_side_by_side", answer.result.host.clusters},
                     {"why_not_all", answer.result.host.why_not_all}}},
                   {"residency",
                    {{"ctas_per_sm", held.ctas_per_sm},
                     {"sure_ctas_per_sm", held.sure_per_sm},
                     {"limited_by", run::kScarce[static_cast<size_t>(held.limited_by)]},
                     {"rests_on", held.rests_on},
                     {"clusters", held.clusters},
                     {"clusters_of_launch", held.all}}},
                   {"approximations", approximations},
                   {"evidence", evidence},
                   {"fmad", nlohmann::json::array()},
                   {"outputs", nlohmann::json::array()},
                   {"expected", expected},
                   {"notes", nlohmann::json::array()}};
  for (const auto& [at, output] : file.outputs)
    if (!output.path.empty())
      j["outputs"].push_back({{"buffer", file.launch.buffers[at].name}, {"path", output.path}});
  for (const auto& [at, output] : file.variable_outputs)
    j["outputs"].push_back({{"variable", file.launch.variables[at].name}, {"path", output.path}});
  for (const launch::Fused& f : file.fused) {
    const auto pairs = [](const std::vector<contraction::Pair>& of) {
      nlohmann::json out = nlohmann::json::array();
      for (const contraction::Pair& p : of) out.push_back({{"product", p.product}, {"sum", p.sum}});
      return out;
    };
    j["fmad"].push_back({{"ptx", f.ptx},
                         {"ptxas", f.by.version},
                         {"target", f.by.target},
                         {"sums", f.by.contracted.sums},
                         {"fused", pairs(f.by.contracted.fused)},
                         {"unclear", pairs(f.by.contracted.unclear)}});
  }
  if (options.device) j["on_device"] = on_device;
  if (dumps.any()) j["dumps"] = dumps.facts();
  for (const run::Note& n : answer.result.notes)
    j["notes"].push_back({{"ptx_line", n.place.ptx_line}, {"text", n.text}, {"times", n.times}});
  if (options.races) {
    j["races"] = races.facts;
    j["errors"] = found.errors;
    j["known_races"] = found.known_pairs().size();
    j["silent_races"] = found.silent;
    j["stale"] = nlohmann::json::array();
    for (const findings::KnownFinding& k : found.stale)
      j["stale"].push_back({{"fingerprint", k.hash}, {"findings", k.findings}, {"text", k.text}});
  }
  if (options.numeric) j["numeric"] = numeric_facts(answer.losses, options.numeric_bound);
  j.update(footprint_facts(session::memories_of(answer.result.footprint, program)));
  return j;
}

std::string RunReport::text() const {
  const run::Residency& held = answer.residency;
  std::string out;
  const auto line = [&](const std::string& words) { out += words + "\n"; };
  const run::HostThreads& host = answer.result.host;
  line(fmt::format("{}: {} lane instructions in {:.3f} s ({:.2f} G/s{}){}",
                   named(file.launch.entry, options.verbose), grouped(answer.result.lane_instructions),
                   seconds, static_cast<double>(answer.result.lane_instructions) / seconds / 1e9,
                   host.threads > 1 ? fmt::format(", {} host threads", host.threads) : "",
                   !options.unchecked ? ", all checks on" : ", unchecked"));
  for (const launch::Fused& f : file.fused)
    line("  " + launch::describe(f.by) + (file.fused.size() == 1 ? "" : ", of '" + f.ptx + "'"));
  if (!host.why_not_all.empty() && (options.verbose || options.threads))
    line(fmt::format("  {} of {} clusters ran side by side, as {}", grouped(host.clusters),
                     grouped(answer.residency.all), host.why_not_all));
  if (options.races) {
    // What the check took: of a small launch its fixed tables, which say nothing of a larger one.
    const hazard::Checker::Cost& cost = answer.cost;
    const bool matters = cost.touched != 0 && (options.verbose || cost.shadow >= kMuchShadow);
    line(fmt::format("  {} error{} by --races{}", found.errors, found.errors == 1 ? "" : "s",
                     matters
                         ? fmt::format(", {:.1f} bytes of shadow a byte touched",
                                       static_cast<double>(cost.shadow) / static_cast<double>(cost.touched))
                         : ""));
    out += races.text;
  }
  // Who waits for whom in a grid hangs on it; of other launches it says nothing.
  if (options.verbose || file.launch.shape.cooperative)
    line(fmt::format("  a device holds at most {} CTA{} an SM ({}), {} of {} cluster{} at once",
                     grouped(held.ctas_per_sm), held.ctas_per_sm == 1 ? "" : "s", held.rests_on,
                     grouped(held.clusters), grouped(held.all), held.all == 1 ? "" : "s"));
  out += footprint(session::memories_of(answer.result.footprint, program),
                   file.launch.then.empty() ? "" : " of the first launch", options.verbose);
  if (options.numeric) out += numeric_text(answer.losses, options.numeric_bound);
  for (const run::Note& n : answer.result.notes)
    line(fmt::format("  note: {}{}{}", named(machine::describe(n.place, n.text), options.verbose),
                     n.times == 1 ? "" : fmt::format(" ({} times)", grouped(n.times)),
                     n.place.ptx_line == 0 ? "" : "; the manual does not promise that this works"));
  if (!races.facts.empty() || !answer.result.notes.empty()) out += without_lines(file.launch.ptx);
  if (options.policy != "lazy")
    line(fmt::format("  schedule {}{}{}", options.policy,
                     seeded(options) ? fmt::format(", seed {}", options.run.schedule.seed) : "",
                     answer.chance.empty() ? "" : ": " + answer.chance));
  if (!options.trace.empty())
    line(fmt::format(
        "  trace of {} events -> {}{}", grouped(trace.events()), options.trace,
        trace.left_out() == 0 ? "" : fmt::format(", {} more left out", grouped(trace.left_out()))));
  out += approximate_line(approximations, options, program);
  for (const auto& [at, output] : file.outputs)
    if (!output.path.empty()) line(fmt::format("  {} -> {}", file.launch.buffers[at].name, output.path));
  for (const auto& [at, output] : file.variable_outputs)
    line(fmt::format("  {} -> {}", file.launch.variables[at].name, output.path));
  return out + dumps.text() + verdict;
}

}  // namespace bitwell::cli
