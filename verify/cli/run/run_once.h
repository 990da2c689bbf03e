// A launch that is judged once: what is said of it, by whichever command.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "verify/cli/report/junit.h"
#include "verify/cli/run/run_options.h"
#include "verify/session/judgement.h"

namespace bitwell::cli {

// What a part of a judgement comes to.
struct Judged {
  std::string text;  // whole lines
  nlohmann::json facts;
  std::vector<TestCase> tests;
  bool held = true;
  std::string last{};  // the line that sums them up, or empty
  session::Tally tally{};
};

// What is known of a launch that ends in a fault.
struct Until {
  std::string ptx;  // path of its PTX file
  nlohmann::json facts = nlohmann::json::object();
  session::Tally tally{};
};

// `bitwell run` of those options. Throws as a command does; a Fault after what was seen until then is
// printed, written and put into `until`.
Judged run_once(const RunOptions& options, Until& until);

// --schedules: the launch under several schedules; its outputs are kept where all agree.
Judged compare_schedules(const RunOptions& options, const isa::Program& program, launch::LaunchFile& file,
                         const run::Options& how, launch::OutputFiles& files);
// --exhaust: the launch under every schedule that can end otherwise; its outputs are kept where all agree.
Judged exhaust_schedules(const RunOptions& options, const isa::Program& program, launch::LaunchFile& file,
                         const run::Options& how, launch::OutputFiles& files);

}  // namespace bitwell::cli
