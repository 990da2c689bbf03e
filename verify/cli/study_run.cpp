#include "verify/cli/study_run.h"

#include <fmt/format.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "bitwell_commit.h"
#include "experiments/study/shards.h"
#include "model/machine/failure.h"
#include "model/strict_json/write.h"
#include "verify/cli/shell/version.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {
namespace {

constexpr size_t kMostMissing = 12;  // that a person is told

volatile std::sig_atomic_t interrupted = 0;

nlohmann::json json_of(const study::Study& s, const study::Rows& rows, bool whole) {
  return {{"schema", "bitwell-study-" + s.name + "-1"},
          {"study", s.name},
          {"seed", s.seed},
          {"commit", BITWELL_COMMIT},
          {"version", BITWELL_VERSION},
          {"asked", s.asked},
          {"columns", s.columns},
          {"whole", whole},
          {"rows", rows}};
}

// Of the options those that say what is asked, not how it is run; as words that ask the same.
std::vector<std::string> words_of(const CLI::App& command) {
  static const std::set<std::string> running{"--csv",   "--json",  "--fresh", "--threads", "--journal",
                                             "--shard", "--times", "--quiet", "--help"};
  std::vector<std::string> out{command.get_name()};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || running.count(option->get_name()) != 0) continue;
    out.push_back(option->get_name());
    if (option->get_expected_max() == 0) continue;  // a flag
    const std::vector<std::string> values = option->results();
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

void run_shard(const study::Study& s, StudyOptions& o, const study::Spread& spread, int& status) {
  const journal::Question question = study::question_of(s, version(), words_of(*o.command));
  study::Share share;
  journal::Shard shard;
  o.running.part = [&] {
    shard = journal::shard_of(o.shard);
    share = study::share(s, o.journal, question, shard, journal::Times(o.times, o.journal));
    for (const std::string& note : share.notes) terminal::note("bitwell: " + note);
    return share.part;
  };
  size_t done = 0;
  o.running.progress = [&, shown = o.running.progress](const study::Progress& p) {
    done = p.done;
    shown(p);
  };
  study::run(s, o.running);
  terminal::end_progress();
  if (spread.rank() != 0) return;  // the first process has the journal
  const size_t left = share.part.pieces.size();
  if (done < left) {
    status = failed;
    terminal::note("bitwell: stopped; the same command goes on");
  }
  fmt::print(
      "{}, shard {}/{}: {} of its {} pieces done{}; 'bitwell merge {}' makes the report of all shards\n",
      s.name, shard.index, shard.of, done, share.all, left == share.all ? "" : ", the others before",
      o.journal);
}

void merge_kept(const study::Study& s, StudyOptions& o, int& status,
                const std::function<void(const study::Rows&)>& print) {
  const MergedStudy& merging = *o.merging;
  const journal::Question question = study::question_of(s, version(), words_of(*o.command));
  const study::Kept kept = study::read_kept(s, merging.folder, question);
  for (const std::string& note : kept.notes) terminal::note("bitwell: " + note);
  const std::vector<std::string> missing = kept.missing(s);
  if (!missing.empty()) status = failed;
  o.running.csv = merging.csv;
  if (!merging.csv.empty()) launch::replace_file(merging.csv, "--csv", study::csv_of(s, kept.pieces));
  if (merging.json) {
    nlohmann::json all = json_of(s, kept.rows(), missing.empty());
    all["missing"] = missing;
    fmt::print("{}\n", strict_json::dumped(all, 1));
    return;
  }
  if (!missing.empty()) {
    fmt::print("{} of {} pieces are missing, and with them their rows:\n", missing.size(), s.pieces);
    for (size_t i = 0; i < std::min(kMostMissing, missing.size()); ++i) fmt::print("  {}\n", missing[i]);
    if (missing.size() > kMostMissing)
      fmt::print("  ... and {} more; --json has them all\n", missing.size() - kMostMissing);
    fmt::print("compute them: bitwell {} --journal {}\n\n", question.words(), merging.folder);
  }
  print(kept.rows());
}

}  // namespace

void add_running(CLI::App& command, StudyOptions& o, const MergedStudy* merging) {
  o.command = &command;
  o.merging = merging;
  if (merging != nullptr) return;
  CLI::Option* csv = command.add_option("--csv", o.running.csv,
                                        "Keep every point in this file; a stopped run goes on with it");
  CLI::Option* json =
      command.add_option("--json", o.json, "Write schema, commit, question and every point to this file");
  command.add_flag("--fresh", o.running.fresh, "Write over the CSV instead of going on with it")->needs(csv);
  command
      .add_option("--threads", o.running.threads, "Host threads (default: all cores); the bytes are the same")
      ->check(whole(0, 4096));
  CLI::Option* journal =
      command
          .add_option(
              "--journal", o.journal,
              "Write each piece to this folder, which any number of processes may share, instead of a "
              "report: bitwell merge makes it. Pieces that the folder has are not computed again")
          ->type_name("DIR")
          ->excludes(csv)
          ->excludes(json);
  command
      .add_option(
          "--shard", o.shard,
          "Compute the I-th of N parts of the pieces; auto: as Slurm, Kubernetes (auto/N), Bazel or a "
          "runner of GoogleTest says")
      ->type_name("I/N")
      ->needs(journal);
  command
      .add_option(
          "--times", o.times,
          "A folder of journals that an earlier run left, of whatever version: shards are made equal by "
          "how long its pieces took, and each computes the longest first. All shards need the same")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->needs(journal);
}

void run_study(const study::Study& s, StudyOptions& o, int& status,
               const std::function<void(const study::Rows&)>& print) {
  if (o.merging != nullptr) return merge_kept(s, o, status, print);
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);  // a second one ends the process
  });
  const study::Spread spread(true);
  o.running.spread = &spread;
  o.running.stop = [] { return interrupted != 0; };
  o.running.progress = [](const study::Progress& p) {
    const double each = p.seconds / static_cast<double>(std::max<size_t>(1, p.done - p.earlier));
    terminal::progress(fmt::format("{} of {} pieces, about {:.0f} s left", p.done, p.all,
                                   each * static_cast<double>(p.all - p.done)));
  };
  if (!o.journal.empty()) return run_shard(s, o, spread, status);
  launch::OutputFiles files;
  if (!o.running.csv.empty()) files.plan(o.running.csv, "--csv");  // appended to, piece by piece
  if (!o.json.empty()) files.plan(o.json, "--json");
  const study::Rows rows = study::run(s, o.running);
  terminal::end_progress();
  std::signal(SIGINT, SIG_DFL);
  if (spread.rank() != 0) return;  // the first process has the rows
  if (interrupted != 0) {
    status = failed;
    terminal::note("bitwell: stopped; " + (o.running.csv.empty()
                                               ? "--csv would have kept the points"
                                               : "the same command goes on with '" + o.running.csv + "'"));
  }
  if (!o.json.empty()) {
    files.write(o.json, strict_json::dumped(json_of(s, rows, interrupted == 0), 1) + "\n");
    files.commit();
  }
  print(rows);
}

void merge_study(const std::vector<std::string>& command, const MergedStudy& merging, int& status) {
  CLI::App app{"merge", "bitwell merge"};
  add_study(app, status, &merging);
  try {
    app.parse(std::vector<std::string>(command.rbegin(), command.rend()));  // CLI11 takes them from behind
  } catch (const CLI::ParseError& e) {
    throw machine::InputError("the journals in '" + merging.folder +
                              "' answer no study that there is: " + e.what());
  }
}

}  // namespace bitwell::cli
