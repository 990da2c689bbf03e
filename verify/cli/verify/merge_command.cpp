// bitwell merge
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/strict_json/write.h"
#include "verify/capture/captures.h"
#include "verify/cli/command.h"
#include "verify/cli/report/short_names.h"
#include "verify/cli/report/verdicts.h"
#include "verify/cli/shell/version.h"
#include "verify/cli/study_run.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"
#include "verify/verdict/journal.h"

namespace bitwell::cli {
namespace {

constexpr size_t kMostMissing = 12;  // that a person is told

struct MergeOptions {
  std::string folder, junit, csv, list;
  bool json = false, verbose = false;
};

void merge_verdicts(const MergeOptions& options, int& status) {
  const verdict::Journals journals = verdict::read_journals(options.folder, version());
  for (const std::string& note : journals.notes) terminal::note("bitwell: " + note);
  const verdict::Question& question = journals.question;
  verdict::Plan plan;
  plan.captures = capture::share_folder("captures");
  plan.budgets = capture::share_folder("budgets");
  std::vector<verdict::Verdict> verdicts;
  for (const suite::Suite* suite : question.suites())
    for (verdict::Verdict& v : verdict::verdicts_of(*suite, question.plan(plan), journals.judged)) {
      v.seconds = 0;  // of whatever machines there were
      verdicts.push_back(std::move(v));
    }
  const bool all = journals.missing.empty() && std::all_of(verdicts.begin(), verdicts.end(),
                                                           [](const verdict::Verdict& v) { return v.holds; });
  const size_t cases = journals.missing.size() + journals.judged.size();
  status = all ? held : failed;
  if (!options.junit.empty()) {
    std::vector<TestCase> tests = tests_of(verdicts, {});
    for (const suite::Case& c : journals.missing)
      tests.push_back(
          {c.kernel, c.arch, 0, TestCase::Failure{"missing", "no journal has " + suite::text_of(c)}, "", ""});
    launch::replace_file(options.junit, "--junit", junit("bitwell verify " + question.subject, tests));
  }
  if (options.json) {
    nlohmann::json j{{"suite", question.subject},
                     {"full", question.full},
                     {"holds", all},
                     {"cases", cases},
                     {"missing", nlohmann::json::array()},
                     {"verdicts", nlohmann::json::array()}};
    for (const suite::Case& c : journals.missing) j["missing"].push_back(suite::text_of(c));
    for (const verdict::Verdict& v : verdicts) j["verdicts"].push_back(verdict_json(v, false));
    fmt::print("{}\n", strict_json::dumped(j, 2));
    return;
  }
  if (!journals.missing.empty()) {
    fmt::print("{} of {} cases are missing, and with them the verdicts on their kernels:\n",
               journals.missing.size(), cases);
    for (size_t i = 0; i < std::min(kMostMissing, journals.missing.size()); ++i)
      fmt::print("  {}\n", suite::text_of(journals.missing[i]));
    if (journals.missing.size() > kMostMissing)
      fmt::print("  ... and {} more; --json has them all\n", journals.missing.size() - kMostMissing);
    fmt::print("judge them: bitwell {} --journal {}\n\n", question.as_asked().words(), options.folder);
  }
  if (verdicts.empty()) return;
  fmt::print("{}\n\n", summary(question.subject, verdicts, {}));
  print_verdicts(verdicts, {}, false, options.verbose);
}

// The program that plants mistakes merges them: a tenth of the compilation of this one, for who changes
// bitwell's own kernels alone.
[[noreturn]] void merge_mistakes(const MergeOptions& options) {
  const std::string program = std::filesystem::canonical("/proc/self/exe").replace_filename("campaign");
  std::vector<std::string> words{program, "--merge", options.folder};
  if (!options.list.empty()) words.insert(words.end(), {"--list", options.list});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw machine::InputError("'" + options.folder +
                            "' is of planted mistakes, whose report the program 'campaign' makes, and '" +
                            program + "' " + (errno == ENOENT ? "is not there" : std::strerror(errno)) +
                            ": in bitwell's clone, cmake --build --preset release --target campaign");
}

void merge(const MergeOptions& options, int& status) {
  const std::string kind = journal::kind_of(options.folder), of = "'" + options.folder + "' is of ";
  if (!options.list.empty() && kind != "campaign")
    throw machine::InputError("'" + options.folder + "' is of no planted mistakes, which --list is for");
  if (kind == "campaign") {
    if (options.json || !options.csv.empty() || !options.junit.empty())
      throw machine::InputError(of + "planted mistakes, which have no --json, --csv or --junit");
    merge_mistakes(options);
  }
  if (kind == "study") {
    if (!options.junit.empty()) throw machine::InputError(of + "a study, which has no --junit");
    const journal::Journals journals = journal::read(options.folder, version());
    return merge_study(journal::question_of(journals, options.folder).command,
                       {options.folder, options.csv, options.json}, status);
  }
  if (!options.csv.empty()) throw machine::InputError(of + "verdicts; --csv is of studies");
  merge_verdicts(options, status);
}

}  // namespace

void add_merge(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "merge",
      "The report of what many processes have judged (verify, campaign) or computed (study), by the journals "
      "they have left");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("DIR", options->folder, "The folder that --journal names")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_flag(
      "--json", options->json,
      "Verdicts as JSON, and the cases that are missing; of a study what its own --json writes");
  command->add_option("--csv", options->csv, "Write the points of a study to this file, as its own --csv");
  command->add_option("--junit", options->junit,
                      "Write the verdicts to this file too, in JUnit's XML, for CI servers");
  command
      ->add_option(
          "--list", options->list,
          "Of planted mistakes: the list of survivors that theirs were judged by (default: that of the "
          "clone that bitwell was built in)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command->add_flag("-v,--verbose", options->verbose, kVerboseHelp);
  command->footer(
      "The report is the same, to the byte, however the cases were divided and in whatever order they were "
      "judged.\n\n"
      "Example:  bitwell verify gemv --shard 1/2 --journal out; bitwell verify gemv --shard 2/2 --journal "
      "out; "
      "bitwell merge out");
  command->callback(
      [options, &status] { naming_shortly(options->verbose, [&] { merge(*options, status); }); });
}

}  // namespace bitwell::cli
