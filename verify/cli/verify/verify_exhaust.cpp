#include "verify/cli/verify/verify_exhaust.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/strict_json/write.h"
#include "verify/terminal/table.h"
#include "verify/verdict/exhaust.h"

namespace bitwell::cli {

using terminal::end_progress;
using terminal::grouped;
using terminal::progress;
using terminal::table;
namespace {

nlohmann::json as_json(const verdict::ExhaustedCase& r) {
  return {
      {"kernel", r.kernel}, {"arch", r.arch},         {"case", r.name},       {"warps", r.warps},
      {"runs", r.all.runs}, {"pruned", r.all.pruned}, {"turns", r.all.turns}, {"complete", r.all.complete},
      {"holds", r.holds},   {"wrong", r.wrong}};
}

}  // namespace

bool exhaust_suites(const std::vector<const suite::Suite*>& suites, const verdict::Plan& plan, uint64_t most,
                    bool json) {
  const std::vector<verdict::ExhaustedCase> rows = verdict::exhaust(
      suites, plan, most, [](const std::string& kernel) { progress("every schedule of " + kernel); });
  end_progress();
  const bool holds =
      std::all_of(rows.begin(), rows.end(), [](const verdict::ExhaustedCase& r) { return r.holds; });
  if (json) {
    nlohmann::json out{{"holds", holds}, {"most", most}, {"cases", nlohmann::json::array()}};
    for (const verdict::ExhaustedCase& r : rows) out["cases"].push_back(as_json(r));
    fmt::print("{}\n", strict_json::dumped(out, 2));
    return holds;
  }
  std::vector<std::vector<std::string>> cells;
  for (const verdict::ExhaustedCase& r : rows)
    cells.push_back({r.kernel, r.arch, r.name, grouped(r.warps), grouped(r.all.turns), grouped(r.all.runs),
                     grouped(r.all.pruned),
                     r.all.runs == 0  ? "not tried"
                     : r.all.complete ? "complete"
                                      : "stopped",
                     r.holds ? "holds" : "FAILS"});
  fmt::print("{}", table({{"kernel"},
                          {"arch"},
                          {"case"},
                          {"warps", true},
                          {"turns", true},
                          {"schedules", true},
                          {"given up", true},
                          {"all of them"},
                          {"verdict"}},
                         cells));
  for (const verdict::ExhaustedCase& r : rows)
    if (!r.wrong.empty()) fmt::print("{} {}: {}\n", r.kernel, r.arch, r.wrong);
  fmt::print(
      "\nschedules: run to an end, one of each set that differs only in the order of turns that touch "
      "nothing "
      "in common.\ngiven up:  on the way, as nothing new could come of them.\n");
  return holds;
}

}  // namespace bitwell::cli
