#include "verify/cli/verify_exhaust.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "verify/cli/report/table.h"
#include "verify/explore/exhaust.h"

namespace bitwell::cli {
namespace {

struct Row {
  std::string kernel, arch, name;
  uint64_t warps = 0;
  verify::Exhausted all;
  std::string
      wrong;  // what a run ended in that it should not, with the schedule that shows it; or why none was made
  bool holds = true;
};

Row exhaust_case(const verify::Kernel& kernel, const std::string& arch, const verify::PlannedCase& planned,
                 const verify::Plan& plan, uint64_t most) {
  Row row{kernel.full_name, arch, planned.name, 0, {}, "", true};
  const verify::SuiteCase c = verify::suite_case(planned, planned.draw(), {plan.ptx, arch});
  if (c.chain.launches.size() != 1) {
    row.wrong = "not tried: several launches";
    return row;
  }
  const verify::Launch& launch = c.chain.launches[0];
  const auto& [grid, block] = std::pair{launch.shape.grid, launch.shape.block};
  row.warps = uint64_t{grid[0]} * grid[1] * grid[2] * ((block[0] * block[1] * block[2] + 31) / 32);
  const isa::Program program = verify::load_program(launch.ptx, launch.entry);
  try {
    row.all = verify::exhaust(program, launch, {}, most);
  } catch (const machine::InputError& e) {
    row.wrong = std::string("not tried: ") + e.what();
    return row;
  }
  for (const verify::Ended& end : row.all.ends) {
    if (end.fault.empty() && end.buffers[c.result] == c.expected) continue;
    row.holds = false;
    row.wrong = (end.fault.empty() ? "other bits" : end.fault) + ", under " + verify::schedule_of(end);
    break;
  }
  return row;
}

nlohmann::json as_json(const Row& r) {
  return {
      {"kernel", r.kernel}, {"arch", r.arch},         {"case", r.name},       {"warps", r.warps},
      {"runs", r.all.runs}, {"pruned", r.all.pruned}, {"turns", r.all.turns}, {"complete", r.all.complete},
      {"holds", r.holds},   {"wrong", r.wrong}};
}

}  // namespace

bool exhaust_suites(const std::vector<const verify::Suite*>& suites, const verify::Plan& plan, uint64_t most,
                    bool json) {
  std::vector<Row> rows;
  for (const verify::Suite* suite : suites)
    for (const verify::Kernel& kernel : suite->kernels) {
      if (!plan.kernels.empty() && std::count(plan.kernels.begin(), plan.kernels.end(), kernel.name) == 0)
        continue;
      const std::vector<verify::PlannedCase> cases = kernel.cases();
      const auto first = std::find_if(cases.begin(), cases.end(), [](const auto& c) { return !c.full; });
      for (const std::string& arch : suite->archs_of(kernel)) {
        if (!plan.archs.empty() && std::count(plan.archs.begin(), plan.archs.end(), arch) == 0) continue;
        progress(fmt::format("every schedule of {} {}", kernel.full_name, arch));
        if (first != cases.end()) rows.push_back(exhaust_case(kernel, arch, *first, plan, most));
      }
    }
  end_progress();
  const bool holds = std::all_of(rows.begin(), rows.end(), [](const Row& r) { return r.holds; });
  if (json) {
    nlohmann::json out{{"holds", holds}, {"most", most}, {"cases", nlohmann::json::array()}};
    for (const Row& r : rows) out["cases"].push_back(as_json(r));
    fmt::print("{}\n", out.dump(2));
    return holds;
  }
  std::vector<std::vector<std::string>> cells;
  for (const Row& r : rows)
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
  for (const Row& r : rows)
    if (!r.wrong.empty()) fmt::print("{} {}: {}\n", r.kernel, r.arch, r.wrong);
  fmt::print(
      "\nschedules: run to an end, one of each set that differs only in the order of turns that touch "
      "nothing "
      "in common.\ngiven up:  on the way, as nothing new could come of them.\n");
  return holds;
}

}  // namespace bitwell::cli
