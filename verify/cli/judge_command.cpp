// bitwell judge
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "model/strict_json/write.h"
#include "verify/cli/check_file.h"
#include "verify/cli/command.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_arguments.h"
#include "verify/cli/run/run_once.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/file/names.h"
#include "verify/launch/output/output_files.h"
#include "verify/session/fault.h"
#include "verify/session/judgement.h"

namespace bitwell::cli {

using Part = session::Judgement::Part;
namespace {

struct JudgeOptions {
  RunOptions run;
  size_t schedules = 8;
  std::string junit;
  bool json = false;
};

constexpr uint64_t kSeed = 1;  // of the run at random

// A part of the judgement that a fault ended.
Judged faulty(const machine::Fault& fault, const Until& until, const std::string& entry,
              const std::string& name) {
  const std::string words =
      "fault: " + with_source(launch::shortened(fault.what()), fault.place.cuda, until.ptx);
  Judged out{words + "\n", until.facts, {{name, entry, 0, {}, "", ""}}, false, "", until.tally};
  out.tally.end = session::end_of(fault);
  out.facts["fault"] = session::fault_facts(fault);
  out.tests[0].failure = {"fault", words};
  return out;
}

void judge(const JudgeOptions& options, int& status) {
  const launch::LaunchFile file = launch::read_launch(options.run.path);
  const std::string entry = launch::as_written(file.launch.entry);
  std::map<std::string, Judged> parts;
  std::string text;
  std::vector<TestCase> tests;
  const auto add = [&](const std::string& name, Judged part) {
    text += part.text;
    for (const TestCase& t : part.tests) tests.push_back(t);
    parts.emplace(name, std::move(part));
  };
  launch::OutputFiles files;
  if (!options.junit.empty()) files.plan(options.junit, "--junit");
  session::Judgement judgement(!file.outputs.empty(), options.schedules);
  // `name`: of the test, where a fault ends it.
  const auto ran = [&](const RunOptions& how, const std::string& name) {
    Until until;
    try {
      return run_once(how, until);
    } catch (const machine::Fault& fault) {
      return faulty(fault, until, entry, name);
    }
  };
  int checked = held;
  while (const auto part = judgement.next()) {
    RunOptions how = options.run;
    Judged out;
    std::string name;
    if (*part == Part::check) {
      name = "check";
      out = check_file(file.launch.ptx, file.launch.entry, how.verbose, checked);
      out.tests.push_back({"everything is supported", entry, 0, {}, "", ""});
      if (!out.held) out.tests[0].failure = {"check", out.text};
    } else if (*part == Part::run) {
      name = "run";
      how.races = true;
      out = ran(how, "runs to its end");
    } else if (*part == Part::at_random) {
      name = "run at random";
      how.races = true;
      how.policy = "random";
      how.run.schedule.policy = run::Policy::random;
      how.run.schedule.seed = kSeed;
      how.sarif.clear();
      out = ran(how, "runs to its end");
      if (!out.held && !options.run.sarif.empty()) {  // of the two runs, the one that says more
        how.sarif = options.run.sarif;
        out = ran(how, "runs to its end");
      }
      const std::string under = fmt::format("under --schedule random --seed {}:", kSeed);
      for (TestCase& t : out.tests) t.name = under + " " + t.name;
      out.text = out.held ? "" : under + "\n" + out.text;
    } else if (judgement.left_out()) {
      name = "schedules";
      out.text = "schedules are not compared: no buffer of the launch has an \"output\"\n";
      out.facts = nlohmann::json::object();
    } else {
      name = "schedules";
      how.schedules = options.schedules;
      how.sarif.clear();
      out = ran(how, "the same under every schedule");
      if (out.held) out.text.resize(out.text.find('\n') + 1);  // what else holds was said of the first run
    }
    judgement.take(out.held, out.tally);
    add(name, std::move(out));
  }
  status = checked != held ? checked : judgement.held() ? held : failed;
  const std::string last = judgement.words();
  if (!options.junit.empty()) {
    files.write(options.junit, junit(options.run.path, tests));
    files.commit();
  }
  if (!options.json) return fmt::print("{}{}\n", text, last);
  nlohmann::json all{{"launch", options.run.path}, {"held", status == held}, {"verdict", last}};
  for (const auto& [name, part] : parts) all[name] = part.facts;
  fmt::print("{}\n", strict_json::dumped(all, 2));
}

}  // namespace

void add_judge(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("judge",
                                         "Everything about one launch: check, run, races (in order and at "
                                         "random), expected outputs and other schedules");
  auto options = std::make_shared<JudgeOptions>();
  RunOptions& run = options->run;
  command->add_option("LAUNCH.json", run.path, "The launch, as bitwell run takes it")->required();
  command->add_option("--schedules", options->schedules, "Orders of warps and copies that are compared")
      ->check(whole(1, 1000000))
      ->capture_default_str();
  add_fmad(*command, run);
  command->add_flag("--strict", run.run.strict,
                    "As bitwell run has it: what the manual does not promise fails");
  command
      ->add_option("--error-on", run.error_on, "What of the findings fails: error, note (notes too) or none")
      ->check(CLI::IsMember({"error", "note", "none"}))
      ->capture_default_str();
  command->add_option("--baseline", run.baseline, "Findings that this file has are known and fail nothing");
  command->add_flag("--all", run.all, "Every pair of instructions of a finding");
  command->add_flag("--json", options->json, "One object: check, run, schedules, verdict");
  command->add_option("--junit", options->junit, "Write all that was judged to this file, in JUnit's XML");
  command->add_option("--sarif", run.sarif, "Write the findings to this file, in SARIF 2.1.0");
  command->add_flag("-v,--verbose", run.verbose, kVerboseHelp);
  command->callback([options, &status] {
    options->run.json = options->json;
    naming_shortly(options->run.verbose, [&] { judge(*options, status); });
  });
}

}  // namespace bitwell::cli
