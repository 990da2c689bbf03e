// bitwell run --exhaust
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_approximate.h"
#include "verify/cli/run/run_once.h"
#include "verify/cli/run/run_options.h"
#include "verify/cli/run/run_verdict.h"
#include "verify/session/approximations.h"
#include "verify/session/orders.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::end_progress;
using terminal::grouped;
using terminal::progress;
namespace {

using schedules::Ended;
using schedules::Exhausted;

std::string plural(uint64_t n, const std::string& what) {
  return grouped(n) + " " + what + (n == 1 ? "" : "s");
}

// What an end is: a fault, or how it stands to the first that is none.
std::string said(const Ended& end, const session::EveryOrder& orders, const launch::Launch& launch) {
  if (!end.fault.empty()) return end.fault;
  if (&end == orders.first()) return "every output written";
  const auto d = orders.difference(end, launch);
  if (d.buffer.empty()) return "a variable differs from that of end 1";
  return fmt::format("'{}' differs from end 1 at byte {}: 0x{:02x}, there 0x{:02x}", d.buffer, d.byte,
                     static_cast<int>(d.here), static_cast<int>(d.of_first));
}

}  // namespace

Judged exhaust_schedules(const RunOptions& options, const isa::Program& program, launch::LaunchFile& file,
                         const run::Options& how, launch::OutputFiles& files) {
  const session::EveryOrder orders = session::every_order(
      file.launch, how, options.most, [told = 0](uint64_t runs, uint64_t pruned) mutable {
        if (++told % 64 == 0)
          progress(fmt::format("{}, {} to an end", plural(runs + pruned, "run"), grouped(runs)));
      });
  end_progress();
  const Exhausted& all = orders.all;
  session::Tally tally;
  tally.failed = !orders.agree();
  nlohmann::json expected = nlohmann::json::array();
  std::string verdict;
  if (orders.agree()) {
    orders.keep(file.launch);
    launch::write_outputs(file, files);
    files.commit();
    verdict = expectations(file, expected, tally);
  }
  Judged out;
  out.held = tally.holds();
  const std::vector<std::string> approximations = session::approximations(file.launch);
  const auto replay = [&](const Ended& e) {
    return "bitwell run " + options.path + " --schedule " + schedules::schedule_of(e);
  };
  nlohmann::json& j = out.facts;
  j = {{"entry", file.launch.entry},
       {"runs", all.runs},
       {"pruned", all.pruned},
       {"turns", all.turns},
       {"complete", all.complete},
       {"expected", expected},
       {"ends", nlohmann::json::array()},
       {"approximations", approximations}};
  for (const Ended& e : all.ends)
    j["ends"].push_back({{"fault", e.fault.empty() ? nlohmann::json() : nlohmann::json(e.fault)},
                         {"runs", e.runs},
                         {"text", said(e, orders, file.launch)},
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
                    named(said(all.ends[i], orders, file.launch), options.verbose), replay(all.ends[i]));
  out.text += approximate_line(approximations, options, program) + verdict;
  return out;
}

}  // namespace bitwell::cli
