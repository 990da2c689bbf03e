// bitwell judge
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "verify/cli/check_file.h"
#include "verify/cli/command.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_fault.h"
#include "verify/cli/run/run_once.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/file/names.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
namespace {

struct JudgeOptions {
  RunOptions run;
  size_t schedules = 8;
  std::string junit;
  bool json = false;
};

// A part of the judgement that a fault ended.
Judged faulty(const machine::Fault& fault, const Until& until, const std::string& entry,
              const std::string& name) {
  const std::string words =
      "fault: " + with_source(verify::shortened(fault.what()), fault.place.cuda, until.ptx);
  Judged out{words + "\n", until.facts, {{name, entry, 0, {}, "", ""}}, false};
  out.facts["fault"] = fault_facts(fault);
  out.tests[0].failure = {"fault", words};
  return out;
}

// What the parts come to: "1 race, 0 wrong elements, 8 schedules agree".
std::string sum(const std::map<std::string, Judged>& parts, size_t schedules) {
  std::string out;
  const auto add = [&](const std::string& words) { out += (out.empty() ? "" : ", ") + words; };
  const auto count = [&](uint64_t n, const char* what) {
    add(fmt::format("{} {}{}", grouped(n), what, n == 1 ? "" : "s"));
  };
  const nlohmann::json& run = parts.at("run").facts;
  if (run.contains("fault")) add(sum_of_fault(run));
  if (run.contains("errors")) count(run["errors"].get<uint64_t>(), "race");
  if (run.contains("expected") && !run["expected"].empty()) {
    uint64_t wrong = 0;
    for (const nlohmann::json& e : run["expected"]) wrong += e["wrong"].get<uint64_t>();
    count(wrong, "wrong element");
  }
  if (const auto tried = parts.find("schedules"); tried != parts.end()) {
    const nlohmann::json& facts = tried->second.facts;
    if (facts.contains("fault"))
      add("a fault under another schedule");
    else if (!facts.contains("same"))
      add("schedules not compared");
    else
      add(fmt::format("{} schedules {}", schedules, facts["same"].get<bool>() ? "agree" : "differ"));
  }
  return out;
}

void judge(const JudgeOptions& options, int& status) {
  const verify::LaunchFile file = verify::read_launch(options.run.path);
  const std::string entry = verify::as_written(file.launch.entry);
  std::map<std::string, Judged> parts;
  std::string text;
  std::vector<TestCase> tests;
  const auto add = [&](const std::string& name, Judged part) {
    text += part.text;
    for (const TestCase& t : part.tests) tests.push_back(t);
    parts.emplace(name, std::move(part));
  };
  verify::OutputFiles files;
  if (!options.junit.empty()) files.plan(options.junit, "--junit");
  int checked = held;
  Judged check = check_file(file.launch.ptx, file.launch.entry, options.run.verbose, checked);
  check.tests.push_back({"everything is supported", entry, 0, {}, "", ""});
  if (!check.held) check.tests[0].failure = {"check", check.text};
  add("check", std::move(check));
  status = checked;
  if (status == held) {
    RunOptions once = options.run;
    once.races = true;
    Until until;
    try {
      add("run", run_once(once, until));
    } catch (const machine::Fault& fault) {
      add("run", faulty(fault, until, entry, "runs to its end"));
    }
    RunOptions many = options.run;
    many.schedules = options.schedules;
    many.sarif.clear();
    if (parts.at("run").facts.contains("fault")) {
      // The first of the schedules is the one that was run.
    } else if (file.outputs.empty()) {
      add("schedules", {"schedules are not compared: no buffer of the launch has an \"output\"\n",
                        nlohmann::json::object(),
                        {},
                        true});
    } else {
      try {
        Judged tried = run_once(many, until);
        if (tried.held)
          tried.text.resize(tried.text.find('\n') + 1);  // what else holds was said of the first run
        add("schedules", std::move(tried));
      } catch (const machine::Fault& fault) {
        add("schedules", faulty(fault, until, entry, "the same under every schedule"));
      }
    }
    for (const auto& [name, part] : parts)
      if (!part.held) status = failed;
  }
  const std::string last =
      (status == held ? "held: " : "FAILED: ") +
      (parts.contains("run") ? sum(parts, options.schedules) : "the PTX cannot be run, see above");
  if (!options.junit.empty()) {
    files.write(options.junit, junit(options.run.path, tests));
    files.commit();
  }
  if (!options.json) return fmt::print("{}{}\n", text, last);
  nlohmann::json all{{"launch", options.run.path}, {"held", status == held}, {"verdict", last}};
  for (const auto& [name, part] : parts) all[name] = part.facts;
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_judge(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "judge", "Everything about one launch: check, run, races, expected outputs and other schedules");
  auto options = std::make_shared<JudgeOptions>();
  RunOptions& run = options->run;
  command->add_option("LAUNCH.json", run.path, "The launch, as bitwell run takes it")->required();
  command->add_option("--schedules", options->schedules, "Orders of warps and copies that are compared")
      ->check(whole(1, 1000000))
      ->capture_default_str();
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
  command->footer("Exit status: 0 all of it held, 1 some of it failed, 2 unusable input, 3 unsupported.");
  command->callback([options, &status] {
    options->run.json = options->json;
    naming_shortly(options->run.verbose, [&] { judge(*options, status); });
  });
}

}  // namespace bitwell::cli
