// bitwell run --schedules
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
using terminal::left;
using terminal::progress;

Judged compare_schedules(const RunOptions& options, const isa::Program& program, launch::LaunchFile& file,
                         const run::Options& how, launch::OutputFiles& files) {
  if (file.outputs.empty())
    throw machine::InputError("'" + options.path +
                              "': --schedules compares outputs, and no buffer has an \"output\"");
  const auto found =
      session::compare(file.launch, how, options.schedules,
                       [&, start = std::chrono::steady_clock::now()](size_t done, const run::Schedule& next) {
                         progress(fmt::format("{} of {} schedules agree, now {}{}", done, options.schedules,
                                              launch::describe(next), left(start, done, options.schedules)));
                       });
  end_progress();
  const auto replay = [&](const run::Schedule& s) {
    return "bitwell run " + options.path + launch::replay_options(s);
  };
  if (found && !found->fault.empty())
    throw machine::Fault(fmt::format("under schedule {}: {}\n  replay: {}", launch::describe(found->second),
                                     found->fault, replay(found->second)));
  if (!found) {
    launch::write_outputs(file, files);
    files.commit();
  }
  nlohmann::json expected = nlohmann::json::array();
  Judged out;
  out.tally.failed = found.has_value();
  const std::string verdict = found ? "" : expectations(file, expected, out.tally);
  const std::vector<std::string> approximations = session::approximations(file.launch);
  out.held = out.tally.holds();
  out.facts = {{"entry", file.launch.entry},
               {"schedules", options.schedules},
               {"same", !found},
               {"expected", expected},
               {"approximations", approximations}};
  TestCase test{"the same under every schedule", launch::as_written(file.launch.entry), 0, {}, "", ""};
  const std::string name = named(file.launch.entry, options.verbose);
  if (found) {
    const launch::Output& output = file.outputs.at(found->buffer);
    const uint64_t element = found->byte / launch::element_size(output.dtype);
    out.facts["difference"] = {
        {"buffer", file.launch.buffers[found->buffer].name},
        {"byte", found->byte},
        {"element", launch::coordinates(output.shape, element)},
        {"values", {found->of_first, found->of_second}},
        {"schedules", {launch::describe(found->first), launch::describe(found->second)}},
        {"replays", {replay(found->first), replay(found->second)}}};
    out.text = fmt::format(
        "{}: '{}' differs at byte {}, element {}: 0x{:02x} under {}, 0x{:02x} under {}\n  replay: {}\n  "
        "replay: {}\n",
        name, file.launch.buffers[found->buffer].name, found->byte,
        launch::coordinates_text(output.shape, element), static_cast<int>(found->of_first),
        launch::describe(found->first), static_cast<int>(found->of_second), launch::describe(found->second),
        replay(found->first), replay(found->second));
    test.failure = {"schedules", out.text};
  } else {
    out.text = fmt::format("{}: same under {} schedule{}\n", name, options.schedules,
                           options.schedules == 1 ? "" : "s") +
               approximate_line(approximations, options, program);
    for (const auto& [at, output] : file.outputs)
      if (!output.path.empty())
        out.text += fmt::format("  {} -> {}\n", file.launch.buffers[at].name, output.path);
    out.text += verdict;
  }
  out.tests.push_back(std::move(test));
  return out;
}

}  // namespace bitwell::cli
