// bitwell run --exhaust
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_approximate.h"
#include "verify/cli/run/run_once.h"
#include "verify/cli/run/run_options.h"
#include "verify/cli/run/run_verdict.h"
#include "verify/explore/exhaust.h"
#include "verify/session/approximations.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::end_progress;
using terminal::grouped;
using terminal::progress;
namespace {

using verify::Ended;
using verify::Exhausted;

std::string plural(uint64_t n, const std::string& what) {
  return grouped(n) + " " + what + (n == 1 ? "" : "s");
}

// Where an end's bytes part from those of another: "'y' at byte 4: 0x02, not 0x01".
std::string difference(const Ended& a, const Ended& b, const verify::Launch& launch) {
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    const auto at = std::mismatch(a.buffers[i].begin(), a.buffers[i].end(), b.buffers[i].begin());
    if (at.first != a.buffers[i].end())
      return fmt::format("'{}' differs from end 1 at byte {}: 0x{:02x}, there 0x{:02x}",
                         launch.buffers[i].name, at.first - a.buffers[i].begin(), static_cast<int>(*at.first),
                         static_cast<int>(*at.second));
  }
  return "a variable differs from that of end 1";
}

// What an end is, beside the first that is no fault.
std::string said(const Ended& end, const Ended* first, const verify::Launch& launch) {
  if (!end.fault.empty()) return end.fault;
  return &end == first ? "every output written" : difference(end, *first, launch);
}

}  // namespace

Judged exhaust_schedules(const RunOptions& options, const isa::Program& program, verify::LaunchFile& file,
                         const isa::Options& how, verify::OutputFiles& files) {
  Exhausted all = verify::exhaust(program, file.launch, how, options.most, [](const Exhausted& now) {
    if ((now.runs + now.pruned) % 64 == 0)
      progress(fmt::format("{}, {} to an end", plural(now.runs + now.pruned, "run"), grouped(now.runs)));
  });
  end_progress();
  // Runs that end come first, so that faults are told beside what should be.
  std::stable_partition(all.ends.begin(), all.ends.end(), [](const Ended& e) { return e.fault.empty(); });
  const Ended* first = all.ends.empty() || !all.ends[0].fault.empty() ? nullptr : all.ends.data();
  bool as_wanted = all.ends.size() == 1 && first != nullptr;
  nlohmann::json expected = nlohmann::json::array();
  std::string verdict;
  if (as_wanted) {
    for (size_t i = 0; i < file.launch.buffers.size(); ++i)
      if (!first->buffers[i].empty()) {
        file.launch.buffers[i].bytes = first->buffers[i];
        file.launch.buffers[i].blank = 0;
      }
    for (size_t i = 0; i < file.launch.variables.size(); ++i)
      file.launch.variables[i].after = first->variables[i];
    verify::write_outputs(file, files);
    files.commit();
    verdict = expectations(file, expected, as_wanted);
  }
  Judged out;
  out.held = as_wanted;
  const std::vector<std::string> without_evidence = session::approximations(file.launch);
  const auto replay = [&](const Ended& e) {
    return "bitwell run " + options.path + " --schedule " + verify::schedule_of(e);
  };
  nlohmann::json& j = out.facts;
  j = {{"entry", file.launch.entry},
       {"runs", all.runs},
       {"pruned", all.pruned},
       {"turns", all.turns},
       {"complete", all.complete},
       {"expected", expected},
       {"ends", nlohmann::json::array()},
       {"without_evidence", without_evidence}};
  for (const Ended& e : all.ends)
    j["ends"].push_back({{"fault", e.fault.empty() ? nlohmann::json() : nlohmann::json(e.fault)},
                         {"runs", e.runs},
                         {"text", said(e, first, file.launch)},
                         {"replay", replay(e)}});
  out.text = fmt::format("{}: {} run to an end, {} given up as nothing new, {} at most: {}\n",
                         named(file.launch.entry, options.verbose), plural(all.runs, "schedule"),
                         grouped(all.pruned), plural(all.turns, "turn"),
                         all.complete ? "complete, no other schedule ends otherwise"
                                      : "stopped at --most, what other schedules come to is not known");
  for (size_t i = 0; i < all.ends.size(); ++i)
    out.text +=
        fmt::format("  end {} of {}, of {}: {}\n    replay: {}\n", i + 1, all.ends.size(),
                    plural(all.ends[i].runs, "schedule"),
                    named(said(all.ends[i], first, file.launch), options.verbose), replay(all.ends[i]));
  out.text += approximate_line(without_evidence, options, program) + verdict;
  return out;
}

}  // namespace bitwell::cli
