// bitwell verify
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/cli/memory_guard.h"
#include "verify/cli/report/junit.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/report/verdicts.h"
#include "verify/cli/shell/version.h"
#include "verify/cli/verify/verify_device.h"
#include "verify/cli/verify/verify_exhaust.h"
#include "verify/cli/verify/verify_time.h"
#include "verify/journal/shard.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"
#include "verify/verdict/journal.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::end_progress;
using terminal::grouped;
using terminal::progress;
using terminal::table;
namespace {

struct VerifyOptions {
  verdict::Plan plan;
  bool json = false;
  bool list = false;
  bool verbose = false;
  bool device = false;
  uint64_t device_seconds = 60;  // before a launch on it counts as hung
  std::string captures;          // folder for what the GPU gave; empty: none
  bool exhaust = false;
  uint64_t most = 100;      // runs of --exhaust, of a case
  std::string junit;        // path, or empty
  std::string only;         // the text of a case, or empty: all
  std::string journal;      // folder, or empty
  std::string shard;        // of its cases; or empty: all
  std::string times;        // folder that says how long cases took, or empty
  bool time = false;        // by the model
  std::string time_device;  // whose costs; empty: by the code
};

// What one command judges: a suite, or all.
struct Subject {
  std::string name, description;
  std::string full;  // what --full adds
  std::vector<const suite::Suite*> suites;
};

// Shapes, data and seeds; for machines, what --case takes.
void print_cases(const suite::Kernel& kernel, bool full) {
  fmt::print("{}\n", kernel.full_name);
  for (const suite::PlannedCase& c : kernel.cases())
    if (full || !c.full) fmt::print("  {}\n", c.name);
}

void print_cases(const Subject& subject, const verdict::Plan& plan, bool json) {
  nlohmann::json texts = nlohmann::json::array();
  const auto add = [&](const suite::Suite& suite, const suite::Kernel& kernel) {
    if (!json) return print_cases(kernel, plan.full);
    for (const std::string& arch : suite.archs_of(kernel))
      if (plan.archs.empty() || std::count(plan.archs.begin(), plan.archs.end(), arch) != 0)
        for (const suite::Case& c : suite::cases_of(suite, kernel, arch, plan.full))
          texts.push_back(suite::text_of(c));
  };
  for (const suite::Suite* suite : subject.suites) {
    for (const std::string& name : plan.kernels) add(*suite, suite::kernel(*suite, name));
    if (plan.kernels.empty())
      for (const suite::Kernel& kernel : suite->kernels) add(*suite, kernel);
  }
  if (json) fmt::print("{}\n", strict_json::dumped(texts, 2));
}

// Judges the cases of a shard that the folder's journals do not have yet.
void run_shard(const Subject& subject, const VerifyOptions& options, int& status) {
  const std::string& folder = options.journal;
  const journal::Shard shard = journal::shard_of(options.shard);
  const journal::Times times(options.times, folder);
  const verdict::Question question{version(),          subject.name,      options.plan.kernels,
                                   options.plan.archs, options.plan.full, options.plan.races};
  verdict::Plan plan = options.plan;
  plan.replay = verdict::Journal::replay_folder(folder);
  plan.replay_each = true;
  if (times.any()) plan.seconds = [&](const suite::Case& c) { return times.of(suite::text_of(c)); };
  const verdict::Journals before = verdict::read_journals(folder, question);
  for (const std::string& note : before.notes) terminal::note("bitwell: " + note);
  std::set<suite::Case> left;
  std::map<std::string, std::string> modules;  // by kernel and architecture
  const auto modules_of = [&](const suite::Case& c) -> const std::string& {
    std::string& out = modules[c.suite + "/" + c.kernel + "." + c.arch];
    if (out.empty()) out = verdict::modules_of(c, plan.ptx);
    return out;
  };
  const std::vector<suite::Case> all = verdict::cases_of(question, plan, shard, times);
  for (const suite::Case& c : all) {
    const auto there = before.fingerprints.find(c);
    const std::string own = verdict::fingerprint(question, c, modules_of(c));
    if (there == before.fingerprints.end()) {
      left.insert(c);
    } else if (there->second != own) {
      throw machine::InputError("'" + suite::text_of(c) + "' was judged on another PTX than " + plan.ptx +
                                " has: give these kernels a folder of their own");
    }
  }
  size_t failing = 0;
  for (const verdict::Judged& j : before.judged)
    failing += j.failure && std::find(all.begin(), all.end(), j.of) != all.end() ? 1 : 0;
  std::optional<verdict::Journal> journal;
  if (!left.empty()) journal.emplace(folder, question, shard);
  size_t done = 0;
  for (const suite::Suite* suite : subject.suites)
    verdict::judge_cases(
        *suite, plan, [&](const suite::Case& c) { return left.count(c) != 0; },
        [&, start = std::chrono::steady_clock::now()](const verdict::Judged& judged) {
          journal->add(judged, modules_of(judged.of));
          failing += judged.failure ? 1 : 0;
          ++done;
          progress(fmt::format("verify {}, shard {}/{}: {} of {} cases{}", subject.name, shard.index,
                               shard.of, done, left.size(), terminal::left(start, done, left.size())));
        });
  end_progress();
  const std::string path = journal ? journal->path() : "";
  if (options.json)
    fmt::print("{}\n", strict_json::dumped(nlohmann::json{{"suite", subject.name},
                                                          {"shard", shard.index},
                                                          {"shards", shard.of},
                                                          {"cases", all.size()},
                                                          {"judged_before", all.size() - left.size()},
                                                          {"failing", failing},
                                                          {"journal", path}},
                                           2));
  else
    fmt::print(
        "{}, shard {}/{}: {} of its {} cases judged{}, {}; 'bitwell merge {}' makes the report of all "
        "shards\n",
        subject.name, shard.index, shard.of, left.size(), all.size(),
        left.size() == all.size() ? "" : ", the others before",
        failing == 0 ? "none fails" : fmt::format("{} fail", failing), folder);
  status = failing == 0 ? held : failed;
}

void run(const Subject& subject, const VerifyOptions& options, int& status) {
  if (options.list) return print_cases(subject, options.plan, options.json);
  if (!options.time_device.empty()) session::check_device(options.time_device);  // before anything is judged
  const std::string what = "verify " + subject.name;
  if (!options.journal.empty()) {
    const launch::MemoryWatch watch = stopped_before_the_machine(what);
    return run_shard(subject, options, status);
  }
  if (options.exhaust) {
    const launch::MemoryWatch watch = stopped_before_the_machine(what);
    status = exhaust_suites(subject.suites, options.plan, options.most, options.json) ? held : failed;
    return;
  }
  device::DeviceReport on_device;
  if (options.device)  // before this process has other threads
    on_device = device::judge_on_device(subject.suites, options.plan,
                                        std::chrono::seconds(options.device_seconds), options.captures,
                                        [](const std::string& kernel) { progress("on the GPU: " + kernel); });
  const launch::MemoryWatch watch = stopped_before_the_machine(what);
  std::vector<verdict::Verdict> verdicts;
  std::optional<suite::Case> only;
  if (!options.only.empty()) only = suite::read_case(options.only);
  for (const suite::Suite* suite : subject.suites) {
    if (only && suite->name != only->suite && subject.suites.size() > 1) continue;
    verdict::Plan plan = options.plan;
    plan.only = only;
    plan.progress = [&, start = std::chrono::steady_clock::now()](size_t done, size_t all,
                                                                  const std::string& now) {
      progress(fmt::format("verify {}: {} of {} cases ({}){}", suite->name, done, all, now,
                           terminal::left(start, done, all)));
    };
    for (verdict::Verdict& v : verdict::judge(*suite, plan)) verdicts.push_back(std::move(v));
  }
  end_progress();
  std::vector<verdict::TimedCase> timed;
  for (const suite::Suite* suite : subject.suites) {
    if (!options.time || (only && suite->name != only->suite)) continue;
    verdict::Plan plan = options.plan;
    plan.only = only;
    progress(fmt::format("verify {}: the model of time", suite->name));
    for (verdict::TimedCase& t : verdict::time_suite(*suite, plan, options.time_device))
      timed.push_back(std::move(t));
  }
  end_progress();
  bool all = true;
  for (const auto& v : verdicts) all = all && v.holds;
  for (const auto& k : on_device.kernels) all = all && k.holds();
  if (!options.junit.empty())
    launch::replace_file(options.junit, "--junit",
                         junit("bitwell verify " + subject.name, tests_of(verdicts, on_device)));
  if (options.json) {
    nlohmann::json j{{"suite", subject.name},
                     {"full", options.plan.full},
                     {"holds", all},
                     {"verdicts", nlohmann::json::array()}};
    for (const auto& v : verdicts) {
      j["verdicts"].push_back(verdict_json(v, true));
      if (const device::OnDevice* k = of_verdict(on_device, v))
        j["verdicts"].back()["on_device"] = device_json(*k);
      if (const verdict::TimedCase* t = time_of(timed, v)) j["verdicts"].back()["time"] = time_json(*t);
    }
    if (options.device) j["device"] = on_device.device, j["driver"] = on_device.driver;
    fmt::print("{}\n", strict_json::dumped(j, 2));
  } else {
    fmt::print("{}\n\n", summary(subject.name, verdicts, on_device));
    print_verdicts(verdicts, on_device, true, options.verbose);
    fmt::print("{}", device_findings(on_device));
    if (options.time) fmt::print("\n{}", time_table(timed, verdicts));
  }
  status = all ? held : failed;
}

template <class Rows>
std::string names_of(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) out += (out.empty() ? "" : ", ") + row.name;
  return out;
}

void add_subject(CLI::App& verify, const Subject& subject, int& status) {
  CLI::App& command = *verify.add_subcommand(subject.name, subject.description);
  auto options = std::make_shared<VerifyOptions>();
  options->plan.ptx = capture::share_folder("kernels");
  options->plan.captures = capture::share_folder("captures");
  options->plan.budgets = capture::share_folder("budgets");
  command.add_flag("--json", options->json, "Verdicts as JSON");
  command.add_option("--threads", options->plan.threads, "Host threads (default: all)")
      ->check(whole(0, 4096));
  command.add_option("--replay", options->plan.replay, "Where a failed case's LAUNCH.json is written")
      ->capture_default_str();
  std::string file = "SUITE/<kernel>.<arch>";
  if (subject.suites.size() == 1) {
    const suite::Suite& suite = *subject.suites.front();
    command.add_option("--kernel,--rung", options->plan.kernels,
                       "Only these kernels (" + names_of(suite.kernels) + ")");
    const std::vector<std::string> archs = suite.all_archs();
    if (archs.size() > 1)
      command.add_option("--arch", options->plan.archs, "Only these architectures")
          ->check(CLI::IsMember(archs));
    file = suite.name + "/<kernel>." + (archs.size() > 1 ? "<arch>" : archs.front());
  }
  command.add_flag("--full", options->plan.full, "Also " + subject.full);
  command.add_flag("--list", options->list,
                   "Judge nothing: name each kernel's cases, their shapes, data and seeds; with --json as "
                   "texts that --case takes");
  CLI::Option* only =
      command
          .add_option("--case", options->only,
                      "Judge this case alone: SUITE/KERNEL.ARCH: CASE, as --list --json prints it, or with "
                      "'another N' for CASE one that is drawn of seed N. The digest is of its result, and is "
                      "beside no recorded one")
          ->type_name("CASE")
          ->excludes("--list");
  for (const char* other : {"--kernel", "--arch", "--full"})
    if (CLI::Option* there = command.get_option_no_throw(other)) only->excludes(there);
  command.add_flag(
      "--races", options->plan.races,
      "With the race check of `bitwell run --races`, several times slower: an error fails a case");
  CLI::Option* device =
      command
          .add_flag("--device", options->device,
                    "Run the cases on the GPU that is there too, and compare every byte of every output")
          ->excludes(only);
  command
      .add_option("--captures", options->captures,
                  "Folder where the digests of what the GPU gave are written, as in verify/device/captures")
      ->needs(device);
  command
      .add_option("--device-seconds", options->device_seconds,
                  "How long a launch may run there before it counts as hung")
      ->check(whole(1, 86400))
      ->capture_default_str()
      ->needs(device);
  CLI::Option* exhaust = command
                             .add_flag("--exhaust", options->exhaust,
                                       "Of each kernel's first case run every schedule that can end "
                                       "otherwise than another, as `bitwell run "
                                       "--exhaust` does, and say of which kernels that was all; kernels of "
                                       "more than a few warps that wait "
                                       "for each other have too many. Judges nothing else")
                             ->excludes(device)
                             ->excludes(only);
  command.add_option("--most", options->most, "Runs of a case after which --exhaust stops")
      ->check(whole(1, UINT64_MAX))
      ->capture_default_str()
      ->needs(exhaust);
  CLI::Option* time = command
                          .add_flag("--time", options->time,
                                    "Also what each kernel would take at the largest of its cases, in "
                                    "microseconds, by the model of `bitwell time`")
                          ->excludes(exhaust);
  command
      .add_option("--time-device", options->time_device,
                  "Whose costs: h200 or b200. Default: of each kernel the one that runs its code")
      ->needs(time);
  CLI::Option* journal =
      command
          .add_option(
              "--journal", options->journal,
              "Write what becomes of each case to this folder, which any number of processes may share, "
              "instead of a report: bitwell merge makes it. Cases that the folder has are not judged again")
          ->type_name("DIR")
          ->excludes(only)
          ->excludes(device)
          ->excludes(exhaust)
          ->excludes(time)
          ->excludes("--list");
  command
      .add_option(
          "--shard", options->shard,
          "Judge the I-th of N parts of the cases; auto: as Slurm, Kubernetes (auto/N), Bazel or a runner of "
          "GoogleTest says")
      ->type_name("I/N")
      ->needs(journal);
  command
      .add_option(
          "--times", options->times,
          "A folder of journals that an earlier run left, of whatever version: shards are made equal by "
          "how long its cases took, and each judges the longest first. All shards need the same")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->needs(journal);
  command
      .add_option("--junit", options->junit,
                  "Write the verdicts to this file too, in JUnit's XML, for CI servers")
      ->excludes(exhaust)
      ->excludes(journal);
  command
      .add_option("--kernels", options->plan.ptx,
                  "Folder with " + file + ".ptx: judge your own build of the kernels")
      ->check(CLI::ExistingDirectory);
  command.add_flag("-v,--verbose", options->verbose, kVerboseHelp);
  command.callback([options, subject, &status] {
    naming_shortly(options->verbose, [&] { run(subject, *options, status); });
  });
}

}  // namespace

void add_verify(CLI::App& app, int& status) {
  CLI::App* verify = app.add_subcommand(
      "verify", "Judge bitwell's own kernels: every output bit against an independent model");
  verify->require_subcommand(1);
  std::string list;
  for (const suite::Suite& suite : suite::suites())
    list += (list.empty() ? "Suites:  " : "         ") + fmt::format("{:8}  {}\n", suite.name, suite.about);
  list += "         all       every kernel of every suite, in one table\n";
  verify->footer(list + "\nExample:  bitwell verify gemv --kernel fused --full");
  Subject all{"all",
              "Every kernel of every suite, judged by its suite's cases, in one table",
              "what --full adds in each suite",
              {}};
  for (const suite::Suite& suite : suite::suites()) {
    add_subject(*verify, {suite.name, suite.description, suite.full, {&suite}}, status);
    all.suites.push_back(&suite);
  }
  add_subject(*verify, all, status);
}

}  // namespace bitwell::cli
