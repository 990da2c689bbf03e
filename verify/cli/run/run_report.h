// What `bitwell run` says of a launch that ran to its end, for people and for machines.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "verify/cli/report/trace.h"
#include "verify/cli/run/run_hazards.h"
#include "verify/cli/run/run_options.h"

namespace bitwell::cli {

struct RunReport {
  const RunOptions& options;
  const launch::LaunchFile& file;
  const isa::Program& program;
  const session::Answer& answer;
  double seconds;                  // that the simulation took
  const session::Findings& found;  // with --races
  const Hazards& races;            // likewise
  const Trace& trace;
  const Dumps& dumps;
  std::string verdict;                      // lines on outputs beside what they should be
  nlohmann::json expected;                  // the same as facts
  nlohmann::json on_device;                 // with --device
  std::vector<std::string> approximations;  // lines of the PTX whose bits nobody vouches for
  nlohmann::json evidence;                  // how the results are known

  std::string text() const;
  nlohmann::json facts() const;
};

}  // namespace bitwell::cli
