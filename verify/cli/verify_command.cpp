// bitwell verify
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "verify/cli/command.h"
#include "verify/cli/memory_guard.h"
#include "verify/cli/report/junit.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/verify_device.h"
#include "verify/cli/verify_exhaust.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"
#include "verify/verdict/judge.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::end_progress;
using terminal::grouped;
using terminal::left;
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
  uint64_t most = 100;  // runs of --exhaust, of a case
  std::string junit;    // path, or empty
  std::string only;     // the text of a case, or empty: all
};

nlohmann::json as_json(const verdict::Amount& a) {
  return {{"formula", a.formula}, {"laid_out", a.laid_out}, {"reserved", a.reserved}, {"touched", a.touched}};
}

nlohmann::json as_json(const verdict::Verdict& v) {
  nlohmann::json out{{"kernel", v.kernel},
                     {"arch", v.arch},
                     {"cases", v.cases},
                     {"outputs", v.outputs},
                     {"mismatches", v.mismatches},
                     {"first_mismatch", v.first_mismatch},
                     {"replay", v.replay.empty() ? "" : v.replay + v.replay_options},
                     {"replay_error", v.replay_error},
                     {"worst_error_ulp", v.worst_ulp},
                     {"outputs_beyond_range", v.beyond_range},
                     {"evidence", v.evidence},
                     {"published_outputs", v.published_outputs},
                     {"published_words", v.published_words},
                     {"digest", v.digest},
                     {"lane_instructions", v.lane_instructions},
                     {"seconds", v.seconds},
                     {"holds", v.holds}};
  if (!v.note.empty()) out["note"] = v.note;
  if (v.occupied)
    out["budget"] = {{"stages", v.occupied->stages.reserved},
                     {"stages_by_formula", v.occupied->stages.formula},
                     {"shared_bytes", as_json(v.occupied->shared)},
                     {"tensor_columns", as_json(v.occupied->columns)},
                     {"finding", v.occupied->finding}};
  return out;
}

// Budgets beside what is there, of the kernels that have one.
void print_occupied(const std::vector<verdict::Verdict>& verdicts) {
  std::vector<std::vector<std::string>> rows;
  const auto cell = [](int64_t n) { return grouped(static_cast<uint64_t>(n)); };
  for (const auto& v : verdicts) {
    if (!v.occupied) continue;
    const auto& [stages, shared, columns, finding] = *v.occupied;
    rows.push_back({v.kernel, cell(stages.formula),
                    stages.reserved == 0 ? std::string() : cell(stages.reserved), cell(shared.formula),
                    cell(shared.laid_out), cell(shared.reserved), cell(shared.touched), cell(columns.formula),
                    cell(columns.laid_out), cell(columns.reserved), cell(columns.touched),
                    finding.empty() ? "agrees" : "DIFFERS"});
  }
  if (rows.empty()) return;
  fmt::print("\n{}", table({{"kernel"},
                            {"stages: budget", true},
                            {"kernel", true},
                            {"shared bytes: budget", true},
                            {"laid out", true},
                            {"reserved", true},
                            {"touched", true},
                            {"tensor columns: budget", true},
                            {"laid out", true},
                            {"allocated", true},
                            {"touched", true},
                            {"verdict"}},
                           rows));
}

// What the GPU gave for that verdict's kernel, or nullptr.
const device::OnDevice* of_verdict(const device::DeviceReport& on_device, const verdict::Verdict& v) {
  for (const device::OnDevice& k : on_device.kernels)
    if (k.kernel == v.kernel && k.arch == v.arch) return &k;
  return nullptr;
}

// One line: whether all holds, of how much.
std::string summary(const std::string& subject, const std::vector<verdict::Verdict>& verdicts,
                    const device::DeviceReport& on_device) {
  uint64_t outputs = 0;
  std::string failing;
  size_t fail = 0;
  for (const verdict::Verdict& v : verdicts) {
    outputs += v.outputs;
    const device::OnDevice* k = of_verdict(on_device, v);
    if (v.holds && (k == nullptr || k->holds())) continue;
    ++fail;
    failing += (failing.empty() ? "" : ", ") + v.kernel + " " + v.arch;
  }
  if (fail != 0)
    return fmt::format("{}: {} of {} verdicts FAIL: {}", subject, fail, verdicts.size(), failing);
  return fmt::format("{} holds: {} verdicts, one for each kernel and architecture, on {} outputs", subject,
                     verdicts.size(), grouped(outputs));
}

// `on_device`: with the GPU's column, where it has a device.
void print(const std::vector<verdict::Verdict>& verdicts, bool verbose,
           const device::DeviceReport& on_device) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& v : verdicts) {
    rows.push_back(
        {v.kernel, v.arch, std::to_string(v.cases), grouped(v.outputs), grouped(v.mismatches),
         fmt::format("{:.1f}", v.worst_ulp), grouped(v.beyond_range), v.evidence,
         fmt::format("{:.2f}",
                     v.seconds > 0 ? static_cast<double>(v.lane_instructions) / v.seconds / 1e9 : 0.0),
         v.holds ? "holds" : "FAILS"});
    if (const device::OnDevice* k = of_verdict(on_device, v)) rows.back().push_back(device_cell(*k));
  }
  std::vector<Column> columns{{"kernel"},
                              {"arch"},
                              {"shapes", true},
                              {"outputs", true},
                              {"mismatched bits", true},
                              {"worst error, ULP", true},
                              {"overflowed", true},
                              {"evidence"},
                              {"G lane-inst/s", true},
                              {"verdict"}};
  if (!on_device.device.empty()) columns.push_back({on_device.device});
  fmt::print("{}", table(columns, rows));
  for (const auto& v : verdicts)
    if (!v.holds)
      fmt::print("\n{} {}: {}\n{}", v.kernel, v.arch, named(v.first_mismatch, verbose),
                 !v.replay.empty()         ? "  replay it: bitwell run " + v.replay + v.replay_options + "\n"
                 : !v.replay_error.empty() ? "  no replay: " + v.replay_error + "\n"
                                           : "");
  for (const auto& v : verdicts)
    if (!v.note.empty()) fmt::print("\nnote: {} {}: {}\n", v.kernel, v.arch, v.note);
  print_occupied(verdicts);
  fmt::print(
      "\nmismatched bits: outputs whose bits differ from the direct evaluation of the kernel's accumulation "
      "order, under\n"
      "                 the first schedule that shows it.\n"
      "worst error:     against exact arithmetic, in units in the last place of the result's format, over "
      "all "
      "outputs that are\n"
      "                 finite and should be; the adversarial cases make it large, and that is the "
      "kernel's.\n"
      "overflowed:      outputs where the kernel's own order leaves the format's range although the exact "
      "sum "
      "does not (or the\n"
      "                 reverse).\n"
      "evidence:        device = these bits came from that GPU; published = outputs of that GPU that others "
      "printed are these bits\n"
      "                 (exact sums: they do not show how a sum is cut), and so are words of its single "
      "instructions; 'rest' says how\n"
      "                 everything else is known, the order of steps of k above all; manual = the PTX "
      "manual's rules alone.\n");
}

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
  if (json) fmt::print("{}\n", texts.dump(2));
}

// A test for each row of the table, and one for what the GPU gave for it.
std::vector<TestCase> tests_of(const std::vector<verdict::Verdict>& verdicts,
                               const device::DeviceReport& on_device) {
  std::vector<TestCase> out;
  for (const verdict::Verdict& v : verdicts) {
    out.push_back({v.kernel, v.arch, v.seconds, {}, "", v.note});
    if (!v.holds)
      out.back().failure = {
          "verdict", v.first_mismatch +
                         (v.replay.empty() ? "" : "\nreplay it: bitwell run " + v.replay + v.replay_options)};
  }
  for (const device::OnDevice& k : on_device.kernels) {
    out.push_back({k.kernel + " on " + on_device.device, k.arch, 0, {}, "", device_cell(k)});
    if (!k.here) out.back().skipped = device_cell(k);
    if (!k.holds()) out.back().failure = {"device", k.first};
  }
  return out;
}

void run(const Subject& subject, const VerifyOptions& options, int& status) {
  if (options.list) return print_cases(subject, options.plan, options.json);
  const std::string what = "verify " + subject.name;
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
      progress(fmt::format("verify {}: {} of {} kernels ({}){}", suite->name, done, all, now,
                           left(start, done, all)));
    };
    for (verdict::Verdict& v : verdict::judge(*suite, plan)) verdicts.push_back(std::move(v));
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
      j["verdicts"].push_back(as_json(v));
      if (const device::OnDevice* k = of_verdict(on_device, v))
        j["verdicts"].back()["on_device"] = device_json(*k);
    }
    if (options.device) j["device"] = on_device.device, j["driver"] = on_device.driver;
    fmt::print("{}\n", j.dump(2));
  } else {
    fmt::print("{}\n\n", summary(subject.name, verdicts, on_device));
    print(verdicts, options.verbose, on_device);
    fmt::print("{}", device_findings(on_device));
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
  command
      .add_option("--junit", options->junit,
                  "Write the verdicts to this file too, in JUnit's XML, for CI servers")
      ->excludes(exhaust);
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
