// bitwell run
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "model/strict_json/write.h"
#include "verify/capture/captures.h"
#include "verify/cli/command.h"
#include "verify/cli/memory_guard.h"
#include "verify/cli/report/cuda_source.h"
#include "verify/cli/report/evidence.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/report/stdout_aside.h"
#include "verify/cli/report/trace.h"
#include "verify/cli/run/run_approximate.h"
#include "verify/cli/run/run_arguments.h"
#include "verify/cli/run/run_findings.h"
#include "verify/cli/run/run_once.h"
#include "verify/cli/run/run_options.h"
#include "verify/cli/run/run_report.h"
#include "verify/cli/run/run_verdict.h"
#include "verify/device/beside.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/modules.h"
#include "verify/schedules/given.h"
#include "verify/session/approximations.h"
#include "verify/session/fault.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::end_progress;
using terminal::grouped;
using terminal::note;
using terminal::progress;
namespace {

// All else is written by then: the kernel ran to its end.
void refuse_missing(const Dumps& dumps) {
  std::string all;
  for (const std::string& m : dumps.missing()) all += (all.empty() ? "" : "; ") + m;
  if (!all.empty()) throw machine::InputError(all);
}

// What is asked for and what the launch holds.
void refuse_what_does_not_go_together(const RunOptions& options, const launch::LaunchFile& file) {
  if (options.device && file.outputs.empty() && file.variable_outputs.empty())
    throw machine::InputError("'" + options.path +
                              "': --device compares outputs, and nothing has an \"output\"");
  const bool given = schedules::is_given(options.policy);
  if ((options.exhaust || given) && !file.launch.then.empty())
    throw machine::InputError(fmt::format(
        "'{}': {} is for one launch, not for what comes under \"then\": a file for each launch takes it, and "
        "--schedules N and --races take the list",
        options.path,
        options.exhaust ? "--exhaust" : "--schedule " + options.policy.substr(0, options.policy.find(':'))));
}

using Clock = std::chrono::steady_clock;

// A line of progress, ten times a second at most, of a run that has begun at `start`.
std::function<void(const run::Progress&)> shown_from(Clock::time_point start) {
  return [start, shown = start](const run::Progress& p) mutable {
    const Clock::time_point now = Clock::now();
    if (now - shown < std::chrono::milliseconds(100)) return;
    shown = now;
    const double seconds = std::chrono::duration<double>(now - start).count();
    std::string text = fmt::format("{} of {} CTAs", grouped(p.done), grouped(p.all));
    if (p.warp_instructions != 0)
      text += fmt::format(", {} warp instructions of the next", grouped(p.warp_instructions));
    if (p.done != 0)
      text += fmt::format(", about {:.0f} s left",
                          seconds / static_cast<double>(p.done) * static_cast<double>(p.all - p.done));
    progress(text);
  };
}

// What looks on while the kernel runs, and the files that it writes.
struct Observed {
  // Tells `how` of itself, and `files` of what it will write.
  Observed(const RunOptions& given, const isa::Program& program, const launch::LaunchFile& file,
           run::Options& how, launch::OutputFiles& files)
      : options(given),
        ptx(file.launch.ptx),
        trace(program),
        dumps(given.dump, program, file.launch),
        findings(given) {
    if (!options.trace.empty()) {
      files.plan(options.trace, "--trace");
      how.observers.push_back(trace.observer());
    }
    dumps.plan(files);
    if (dumps.any()) how.observers.push_back(dumps.observer());
    findings.plan(files);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  void write(launch::OutputFiles& files, const machine::Fault* fault = nullptr) {
    findings.write_sarif(files, ptx, fault);
    if (!options.trace.empty()) files.write(options.trace, trace.text());
    dumps.write(files);
  }
  // Up to the fault: what one wants to see.
  void write_until(const machine::Fault& fault, launch::OutputFiles& files) {
    try {
      write(files, &fault);
      findings.write_junit(files, fault.what(), 0, nlohmann::json::array());
      findings.write_baseline(files);
      files.commit();
      if (!options.json) fmt::print("{}{}", dumps.text(), findings.told().text);
      for (const std::string& m : dumps.missing()) note("bitwell: " + m + " before the fault");
    } catch (const machine::InputError& e) {
      note(fmt::format("bitwell: no trace or dump: {}", e.what()));
    }
  }

  const RunOptions& options;
  const std::string ptx;  // the file
  Trace trace;
  Dumps dumps;
  RunFindings findings;
};

// Of a launch that ended in a fault: what was seen until then, and the fault.
[[noreturn]] void end_in_fault(const RunOptions& options, const machine::Fault& fault, Observed& observed,
                               launch::OutputFiles& files, Until& until) {
  observed.write_until(fault, files);
  if (options.races) {
    until.facts["races"] = observed.findings.told().facts;
    until.tally.races = observed.findings.found().errors;
  }
  if (observed.dumps.any()) until.facts["dumps"] = observed.dumps.facts();
  if (options.policy == "lazy") throw machine::Fault(fault);
  throw machine::Fault(fault, fault.what() + fmt::format("\n  replay:{}", replay_options(options)));
}

// For a driver, whose own ptxas fuses what it likes.
launch::Launch as_written(launch::Launch launch) {
  if (!launch.fmad) return launch;
  launch.module = nullptr;
  for (launch::Step& s : launch.then) s.module = nullptr;
  return launch;
}

// Those that are asked for, or one for each core.
unsigned host_threads(std::optional<unsigned> asked) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  if (asked.value_or(1) > cores)
    note(fmt::format("bitwell: {} threads on {} core{}: no faster than {}", *asked, cores,
                     cores == 1 ? "" : "s", cores));
  return asked.value_or(cores);
}

}  // namespace

Judged run_once(const RunOptions& options, Until& until) {
  const launch::MemoryWatch watch = stopped_before_the_machine("the launch");
  launch::LaunchFile file = launch::read_launch(options.path, options.fmad);
  until.ptx = file.launch.ptx;
  until.facts["entry"] = file.launch.entry;
  refuse_what_does_not_go_together(options, file);
  file.launch.memory_limit = options.memory_limit;
  file.launch.approximate = approximate_of(options);
  if (file.launch.module == nullptr)
    file.launch.module = launch::load_module(file.launch.ptx, file.launch.entry);
  const std::shared_ptr<const isa::Program> compiled = launch::program_of(file.launch);
  launch::Modules().load(file.launch);
  const isa::Program& program = *compiled;
  run::Options how = options.run;
  how.checked = !options.unchecked;
  how.threads = host_threads(options.threads);
  const std::unique_ptr<device::Device> device =
      options.device ? device::device_for(program.target) : nullptr;
  const launch::Launch before = options.device ? as_written(file.launch) : launch::Launch{};
  const Clock::time_point start = Clock::now();
  launch::OutputFiles files;
  if (!options.baseline.empty()) files.reads(options.baseline);
  launch::plan_outputs(file, files);
  Observed observed(options, program, file, how, files);
  how.print = [&](std::string_view text) {
    end_progress();
    fmt::print(options.json ? stderr : stdout, "{}", text);
  };
  if (options.exhaust) return exhaust_schedules(options, program, file, how, files);
  if (options.schedules != 0) return compare_schedules(options, program, file, how, files);
  how.progress = shown_from(start);
  session::Question question{file.launch, how};
  question.schedule = options.policy;
  question.timed = [&](const timing::Launches& clocks) {
    observed.trace.tell_time_by([&clocks] { return clocks.instant(); });
  };
  question.numeric = options.numeric;
  question.bound = options.numeric_bound;
  question.races = options.races;
  question.once = options.once;
  question.explain = options.explain;
  question.all_followed = options.json;  // words tell of it alone where it makes an error less
  question.ended = [](const run::RunResult&) { end_progress(); };
  question.again = [](int run) { progress(fmt::format("looking at what was found, run {}", run)); };
  const session::Answer answer = session::ask(question);
  const double seconds = answer.seconds;
  end_progress();
  observed.findings.take(answer);
  if (answer.fault) end_in_fault(options, *answer.fault, observed, files, until);
  answer.ran->keep(file.launch);
  observed.write(files);
  launch::write_outputs(file, files);
  files.commit();
  nlohmann::json expected = nlohmann::json::array();
  nlohmann::json on_device;
  session::Tally tally;
  if (options.races) tally = session::tally_of(observed.findings.found(), options.error_on);
  std::string verdict = expectations(file, expected, tally);
  observed.findings.write_junit(files, "", seconds, expected);
  observed.findings.write_baseline(files);
  files.commit();
  if (device != nullptr) {
    std::optional<StdoutAside> aside;
    if (options.json) aside.emplace();
    const device::Beside beside =
        device::run_beside(*device, before, file, program, std::chrono::seconds(options.device_seconds),
                           capture::share_folder("captures"));
    verdict += beside_text(beside, file.launch, on_device);
    tally.failed = tally.failed || !beside.holds();
  }
  const Hazards found = observed.findings.told();
  std::vector<capture::Evidence> evidence;
  if (options.json)
    evidence = capture::evidence_of(session::instructions(file.launch), program.sm,
                                    capture::share_folder("captures"),
                                    file.launch.approximate == isa::Approximate::nearest);
  const RunReport report{options,
                         file,
                         program,
                         answer,
                         seconds,
                         observed.findings.found(),
                         found,
                         observed.trace,
                         observed.dumps,
                         verdict,
                         expected,
                         on_device,
                         session::approximations(file.launch),
                         options.json ? evidence_facts(evidence, capture::approximate_ways(program, evidence))
                                      : nlohmann::json()};
  Judged out{report.text(), report.facts(), observed.findings.tests("", seconds, expected),
             tally.holds(), tally.line(),   tally};
  if (!out.last.empty()) out.last += "\n";
  if (!observed.dumps.missing().empty()) {  // all else is said by then
    fmt::print("{}", options.json ? strict_json::dumped(out.facts, 2) + "\n" : out.text + out.last);
    refuse_missing(observed.dumps);
  }
  if (device != nullptr && device->hung()) {  // the driver's own end would wait for the kernel
    fmt::print("{}", options.json ? strict_json::dumped(out.facts, 2) + "\n" : out.text + out.last);
    std::fflush(nullptr);
    std::_Exit(out.held ? held : failed);
  }
  return out;
}

void add_run(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("run", "Run any kernel from a PTX file, arguments described in JSON");
  auto options = std::make_shared<RunOptions>();
  add_arguments(*command, *options);
  command->callback([options, &status] {
    Until until;
    try {
      const Judged ran = naming_shortly(options->verbose, [&] { return run_once(*options, until); });
      fmt::print("{}", options->json ? strict_json::dumped(ran.facts, 2) + "\n" : ran.text + ran.last);
      if (!ran.held) status = failed;
    } catch (const machine::Fault& fault) {
      until.facts["fault"] = session::fault_facts(fault);
      until.tally.end = session::end_of(fault);
      const std::string last = options->races ? "\n" + until.tally.line() : "";
      if (options->json) fmt::print("{}\n", strict_json::dumped(until.facts, 2));
      throw machine::Fault(fault, with_source(fault.what(), fault.place.cuda, until.ptx) + last);
    }
  });
}

}  // namespace bitwell::cli
