// bitwell run --schedules
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "verify/cli/command.h"
#include "verify/cli/run_approximate.h"
#include "verify/cli/run_options.h"
#include "verify/cli/run_verdict.h"
#include "verify/cli/short_names.h"
#include "verify/cli/table.h"
#include "verify/suite/schedules.h"

namespace bitwell::cli {

void compare_schedules(const RunOptions& options, const isa::Program& program, verify::LaunchFile& file,
                       const isa::Options& how, verify::OutputFiles& files, int& status) {
  if (file.outputs.empty())
    throw machine::InputError("'" + options.path +
                              "': --schedules compares outputs, and no buffer has an \"output\"");
  const auto found =
      verify::disagreement(program, file.launch, how, verify::schedules(options.schedules, how.schedule.kept),
                           [&](size_t done, const isa::Schedule& next) {
                             progress(fmt::format("{} of {} schedules agree, now {}", done, options.schedules,
                                                  verify::describe(next)));
                           });
  end_progress();
  const auto replay = [&](const isa::Schedule& s) {
    return "bitwell run " + options.path + verify::replay_options(s);
  };
  if (found && !found->fault.empty())
    throw machine::Fault(fmt::format("under schedule {}: {}\n  replay: {}", verify::describe(found->second),
                                     found->fault, replay(found->second)));
  if (!found) {
    verify::write_outputs(file, files);
    files.commit();
  }
  bool as_wanted = !found;
  nlohmann::json expected = nlohmann::json::array();
  const std::string verdict = found ? "" : expectations(file, expected, as_wanted);
  status = as_wanted ? held : failed;
  const std::vector<std::string> without_evidence = approximations(program, file.launch);
  if (options.json) {
    nlohmann::json j{{"entry", file.launch.entry}, {"schedules", options.schedules}, {"same", !found}};
    j["expected"] = expected;
    j["without_evidence"] = without_evidence;
    if (found)
      j["difference"] = {{"buffer", file.launch.buffers[found->buffer].name},
                         {"byte", found->byte},
                         {"element", verify::element_at(file.outputs.at(found->buffer), found->byte)},
                         {"values", {found->of_first, found->of_second}},
                         {"schedules", {verify::describe(found->first), verify::describe(found->second)}},
                         {"replays", {replay(found->first), replay(found->second)}}};
    fmt::print("{}\n", j.dump(2));
    return;
  }
  if (found) {
    fmt::print(
        "{}: '{}' differs at byte {}, element {}: 0x{:02x} under {}, 0x{:02x} under {}\n  replay: {}\n  "
        "replay: {}\n",
        named(file.launch.entry, options.verbose), file.launch.buffers[found->buffer].name, found->byte,
        verify::element_at(file.outputs.at(found->buffer), found->byte), static_cast<int>(found->of_first),
        verify::describe(found->first), static_cast<int>(found->of_second), verify::describe(found->second),
        replay(found->first), replay(found->second));
    return;
  }
  fmt::print("{}: same under {} schedule{}\n", named(file.launch.entry, options.verbose), options.schedules,
             options.schedules == 1 ? "" : "s");
  fmt::print("{}", approximate_line(without_evidence, options, program));
  for (const auto& [at, output] : file.outputs)
    if (!output.path.empty()) fmt::print("  {} -> {}\n", file.launch.buffers[at].name, output.path);
  fmt::print("{}", verdict);
}

}  // namespace bitwell::cli
