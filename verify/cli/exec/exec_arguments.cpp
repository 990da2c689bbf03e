#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "model/machine/failure.h"
#include "verify/cli/command.h"
#include "verify/cli/exec/exec_options.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/run/run_arguments.h"
#include "verify/driver/core/filter.h"
#include "verify/driver/device_row.h"
#include "verify/session/findings.h"

namespace bitwell::cli {
namespace {

using machine::InputError;

// What of `bitwell run` is not for launches of a program: it names a file, which each would replace, has
// nothing to compare with, or asks about one launch.
constexpr std::array<std::string_view, 18> kNotOfLaunches{
    "--help",    "--json",       "--verbose", "--trace",   "--dump",           "--dump-cta",
    "--dump-as", "--dump-visit", "--sarif",   "--numeric", "--write-baseline", "--numeric-bound",
    "--junit",   "--device",     "--exhaust", "--most",    "--device-seconds", "--memory-limit"};

// Those whose help speaks of what is not for launches, or whose default is another.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kHelpOfLaunches{{
    {"--threads",
     "Host threads on which clusters of a launch run side by side, as long as they do not depend on each "
     "other: outputs, notes and faults are the same for any number. Not of the schedules random, pct, order "
     "and timed. With --schedules each runs schedules of its own. Default: one for each core, four at most"},
    {"--schedule",
     "The order in which warps and asynchronous operations take turns, as of bitwell run: lazy, eager, "
     "random, starve-producer, starve-consumer or starve-stores; pct[:DEPTH]; timed, in the order of time on "
     "an H200. A correct kernel gives the same bits under each"},
    {"--baseline",
     "Findings of --races that this file has are known: they are counted, not told, and fail nothing; what "
     "the file has and is not found is said to be stale at the end. bitwell run --write-baseline writes it"},
}};

// The options of `bitwell run`, as far as they go.
void add_run_options(CLI::App& command, ExecOptions& to) {
  CLI::App run;
  RunOptions values;
  add_arguments(run, values);
  for (const CLI::Option* option : run.get_options()) {
    const std::string name = option->get_name();
    std::string help = option->get_description();
    for (const auto& [of, text] : kHelpOfLaunches)
      if (of == name) help = text;
    if (option->get_positional() ||
        std::find(kNotOfLaunches.begin(), kNotOfLaunches.end(), name) != kNotOfLaunches.end())
      continue;
    if (option->get_expected_max() == 0)
      command.add_flag_callback(
          name, [&to, name] { to.run.push_back(name); }, help);
    else
      command
          .add_option_function<std::string>(
              name,
              [&to, name](const std::string& value) {
                to.run.insert(to.run.end(), {name, value});
              },
              help)
          ->type_name(option->get_type_name());
    command.get_option(name)->group("Of each launch, as of bitwell run");
  }
}

void add_arch(CLI::App& command, ExecOptions& to) {
  command
      .add_option(
          "--arch", to.asked.arch,
          "The device that the program sees (sm_90, sm_100, ...); else the newest that its PTX is for")
      ->type_name("SM");
}

// compute-sanitizer's options about its transport.
void add_not_needed(CLI::App& command) {
  for (const char* name :
       {"--require-cuda-init", "--launch-timeout", "--kill", "--port", "--max-connections", "--mode",
        "--injection-path", "--nvtx", "--check-exit-code", "--show-backtrace", "--demangle", "--print-level",
        "--force-blocking-launches", "--binary-patching", "--check-device-heap", "--check-api-memory-access",
        "--destroy-on-device-error", "--support-32bit"})
    command
        .add_option_function<std::string>(
            name,
            [name](const std::string&) {
              std::fprintf(stderr, "bitwell: %s is not needed: bitwell is in the program's process\n", name);
            },
            "Not needed here, and passed over")
        ->group("");
}

}  // namespace

void add_exec_arguments(CLI::App& command, ExecOptions& to) {
  driver::Asked& asked = to.asked;
  add_arch(command, to);
  command
      .add_option(
          "--tool", to.tool,
          "memcheck, synccheck: what is always looked at; initcheck: and copies to the host of bytes that "
          "nobody has written; racecheck: with --races")
      ->check(CLI::IsMember({"memcheck", "initcheck", "synccheck", "racecheck"}));
  command
      .add_option("--error-exitcode", to.error_exitcode,
                  "The exit status where an error was found; 0: the program's own")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  command
      .add_option(
          "-k,--kernel-name", asked.kernels,
          "Judge kernels of this name; the others run unchecked. NAME is a part of it, mangled or not; "
          "kernel_name=NAME, or kne=NAME, all of it; kernel_substring=NAME, or kns=NAME; regex:EXPRESSION. "
          "May be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--kernel-name-exclude", asked.kernels_not, "Run these unchecked")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("-s,--launch-skip", asked.launch_skip, "Of those launches, run the first so many unchecked")
      ->capture_default_str();
  command.add_option("-c,--launch-count", asked.launch_count, "Judge so many of them; 0: all")
      ->capture_default_str();
  command
      .add_option("--target-processes", to.processes,
                  "all: the program and those that it starts; application-only: these run unchecked")
      ->check(CLI::IsMember({"all", "application-only"}))
      ->capture_default_str();
  command
      .add_option("--log-file", asked.log,
                  "What is said of launches goes to this file; %p is the number of this process, %q{NAME} "
                  "what the environment has, %% one %")
      ->type_name("FILE");
  command
      .add_option("--report-api-errors", to.api_errors,
                  "no: what the host's part does wrong (copies out of bounds, ...) is told and not counted")
      ->check(CLI::IsMember({"no", "explicit", "all"}))
      ->capture_default_str();
  command
      .add_option("--suppressions", to.suppressions,
                  "compute-sanitizer's name of --baseline: findings of --races that this file has are known")
      ->type_name("FILE");
  command
      .add_option("--print-limit", asked.print_limit, "Tell so many errors and count the others; 0: tell all")
      ->capture_default_str();
  command.add_flag("--dump-kernel-launches", asked.dump_launches, "Say each launch before it runs");
  command
      .add_option("--format", to.format,
                  "Words of bitwell, or those of compute-sanitizer, for tools that parse them")
      ->check(CLI::IsMember({"bitwell", "compute-sanitizer"}))
      ->capture_default_str();
  command
      .add_option("--record", asked.record,
                  "Keep every judged launch in this folder, as LAUNCH.json with its memory, for bitwell run")
      ->type_name("DIR");
  command.add_flag(
      "--gpu", to.gpu,
      "Let the program run on this machine's GPU, with its own driver: nothing is judged, and --record "
      "keeps launches with the memory that they begin with");
  command.add_flag("--record-after", asked.record_after,
                   "With --gpu: what a launch left there is kept too, and bitwell run compares it");
  command.add_flag(
      "--record-time", asked.record_time,
      "With --gpu: how long a launch takes there is kept too, and bitwell time tells it beside the "
      "model's figure. It is launched some ten times more for that, its memory put back each time");
  command
      .add_option("--driver", asked.driver, "With --gpu: its libcuda.so.1; else the one that programs find")
      ->type_name("FILE");
  command.add_option("--record-count", asked.record_count, "So many launches at most; 0: no limit")
      ->capture_default_str();
  command
      .add_option("--record-bytes", asked.record_bytes,
                  "No launch of a program that has allocated more, in bytes or with K, M or G; 0: no limit")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->transform(number_of_bytes());
  command
      .add_option(
          "--ptx", asked.ptx,
          "Where PTX of machine code without any lies: *.ptx in this folder, by the names of its kernels")
      ->type_name("DIR");
  command.add_option("--save", to.save, "Write all launches to this file as JSON")->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--xml", [&to](const std::string& value) { to.xml = value == "yes"; },
          "yes: --save writes the errors in the elements of compute-sanitizer's XML")
      ->check(CLI::IsMember({"yes", "no"}))
      ->type_name("yes|no");
  command.add_flag("--table", to.table, "End with a table of all launches");
  command
      .add_option("--libraries", to.libraries, "The folder of libcuda.so.1 and libcudart.so.13 of bitwell")
      ->envname("BITWELL_LIBRARIES")
      ->type_name("DIR");
  command.add_flag("-v,--verbose", to.verbose, kVerboseHelp);
  add_not_needed(command);
  add_run_options(command, to);
}

void add_capture_arguments(CLI::App& command, ExecOptions& to) {
  to.table = to.launches_needed = true;
  command
      .add_option("--out", to.asked.record,
                  "Keep every launch in this folder, as LAUNCH.json with its buffers")
      ->type_name("DIR");
  command
      .add_option("--only", to.asked.kernels,
                  "Judge kernels whose name holds this; the others run unchecked. May be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_arch(command, to);
  command.add_flag("--json", to.json, "The table as JSON");
  command.add_flag("-v,--verbose", to.verbose, kVerboseHelp);
  add_run_options(command, to);
}

// compute-sanitizer's options that bitwell has not, and what does what they do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kOthers{{
    {"--leak-check", "memory that a program does not free is not looked for"},
    {"--read", "--save FILE writes JSON, or with --xml yes XML, for other tools to read"},
    {"--generate-coredump", "--record DIR keeps the launch, and bitwell run --dump or --trace looks into it"},
    {"--coredump-name", "--record DIR keeps the launch, and bitwell run --dump or --trace looks into it"},
    {"--padding", "no allocation stands nearer to another than 1 MiB"},
    {"--track-unused-memory", "--table and --record DIR show what a launch has and leaves"},
    {"--racecheck-report",
     "--races tells each pair of lines once, --all all of it, --explain what came of it"},
    {"--racecheck-detect-level", "--error-on note or none says what is an error"},
    {"--kernel-regex", "--kernel-name regex:EXPRESSION"},
    {"--kernel-regex-exclude", "--kernel-name-exclude regex:EXPRESSION"},
    {"--exclude", "--kernel-name-exclude NAME"},
    {"--prefix", "--log-file FILE keeps what bitwell says apart"},
    {"--num-callers-device", "all lines that a place is called from are told"},
    {"--num-callers-host", "the host's stack is not told"},
    {"--strip-paths", "files are named as -lineinfo has them"},
    {"--preload-library", "LD_PRELOAD names libraries that the program loads first"},
    {"--check-cache-control", "--races finds what caches keep: ld.global.nc of what the launch writes"},
}};

// In front of a GPU nothing is judged, so that what says how would be passed over.
void settle_gpu(const ExecOptions& options) {
  const driver::Asked& asked = options.asked;
  if (!options.gpu) {
    if (asked.record_after) throw InputError("--record-after is for --gpu");
    if (asked.record_time) throw InputError("--record-time is for --gpu");
    if (!asked.driver.empty()) throw InputError("--driver is for --gpu");
    return;
  }
  if (asked.record.empty()) throw InputError("--gpu needs --record DIR, for nothing is judged there");
  std::string other = options.run.empty() ? "" : options.run.front();
  if (!options.tool.empty()) other = "--tool";
  if (!options.suppressions.empty()) other = "--suppressions";
  if (options.format != "bitwell") other = "--format";
  if (!asked.arch.empty()) other = "--arch";
  if (!other.empty())
    throw InputError(other +
                     " is not for --gpu, where nothing is judged: give it to bitwell run of a launch "
                     "that was kept");
}

std::string no_option(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const auto& [other, instead] : kOthers)
    if (name == other) return "exec has no option " + name + ": " + std::string(instead);
  return "exec has no option " + name + " (bitwell exec --help)";
}

void settle(ExecOptions& options) {
  driver::Asked& asked = options.asked;
  settle_gpu(options);
  if (options.xml && options.save.empty()) throw InputError("--xml says how --save FILE writes: give both");
  CLI::App app;
  RunOptions values;
  add_arguments(app, values);
  std::vector<std::string> words{options.run.rbegin(), options.run.rend()};  // as CLI11 takes them
  words.insert(words.begin(), "LAUNCH.json");
  if (options.tool == "racecheck") words.insert(words.begin() + 1, "--races");
  app.parse(words);
  asked.fmad = values.fmad;
  asked.unchecked = values.unchecked;
  asked.races = values.races;
  asked.once = values.once;
  asked.explain = values.explain;
  asked.all = values.all;
  asked.strict = values.run.strict;
  asked.schedule = values.policy == "lazy" ? "" : values.policy;
  asked.seed = values.run.schedule.seed;
  asked.schedules = std::max<uint64_t>(values.schedules, 1);
  asked.step_limit = values.run.step_limit;
  asked.resident = values.run.residents.value_or(0);
  asked.threads = values.threads.value_or(0);
  asked.error_on = values.error_on;
  asked.approximate = approximate_of(values);
  if (!values.baseline.empty() && !options.suppressions.empty())
    throw InputError("--suppressions and --baseline are one: give either");
  asked.baseline = values.baseline.empty() ? options.suppressions : values.baseline;
  if (!asked.baseline.empty()) findings::read_baseline(asked.baseline);  // refuses what is none
  if (!asked.arch.empty()) driver::device_row(asked.arch);               // refuses what is none
  for (const auto& patterns : {asked.kernels, asked.kernels_not})
    for (const std::string& p : patterns) driver::names_kernel(p, "");
  asked.only_program = options.processes == "application-only";
  asked.host_reads = options.tool == "initcheck";
  asked.verbose = options.verbose;
  asked.sanitizer_words = options.format == "compute-sanitizer";
  for (std::string* path : {&asked.log, &asked.record, &asked.baseline, &asked.ptx})
    if (!path->empty()) *path = std::filesystem::absolute(*path);
}

}  // namespace bitwell::cli
