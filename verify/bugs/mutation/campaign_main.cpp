// The campaign as a program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "model/machine/failure.h"
#include "verify/bugs/mutation/campaign.h"
#include "verify/capture/captures.h"
#include "verify/cli/shell/version.h"

int main(int argc, char** argv) {
  bitwell::bugs::CampaignOptions options;
  std::string journal, shard, times, merge;
  CLI::App app{
      "Plants mistakes into bitwell's own kernels, one instruction at a time, and counts which ones their "
      "suites find, and which ones the race check."};
  app.add_option("--only", options.only, "Only kernels whose names contain one of these, such as gemv/fused");
  app.add_option("--kind", options.kind, "Only mistakes whose kind contains this, such as 'parity'");
  app.add_option("--most", options.most, "Mistakes of one kind in one kernel")->capture_default_str();
  app.add_option("--seed", options.seed, "Which ones, where there are more")->capture_default_str();
  app.add_option("--threads", options.threads, "Host threads (default: all)");
  app.add_flag("--whole", options.whole,
               "Mutants of the list under every schedule of a case, not its first alone");
  app.add_option("--list", options.list, "Mutants that are equivalent, and those that nothing finds")
      ->capture_default_str();
  app.add_option("--log", options.log, "Every mutant with its finding, to this file");
  app.add_flag("--resume", options.resume,
               "Mutants that the log has are not run again; the others are added to it")
      ->needs("--log");
  app.add_option("--scores", options.scores, "The scores as CSV, to this file");
  CLI::Option* folder =
      app.add_option("--journal", journal,
                     "Write what becomes of each mutant to this folder, which any number of "
                     "processes may share, instead of a report: --merge makes it. Mutants "
                     "that the folder has are not run again")
          ->excludes("--log")
          ->excludes("--scores");
  app.add_option(
         "--shard", shard,
         "The I-th of N parts of the mutants; auto: as Slurm, Kubernetes (auto/N), Bazel or a runner of "
         "GoogleTest says")
      ->needs(folder);
  app.add_option(
         "--times", times,
         "A folder of journals that an earlier run left: shards are made equal by how long its mutants "
         "took, and each runs the longest first")
      ->check(CLI::ExistingDirectory)
      ->needs(folder);
  app.add_option("--merge", merge, "The report of the journals of this folder")
      ->check(CLI::ExistingDirectory)
      ->excludes(folder)
      ->excludes("--log");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::vector<bitwell::bugs::Subject> all =
        bitwell::bugs::subjects(bitwell::capture::share_folder("kernels"));
    const std::string version = bitwell::cli::version();
    const bitwell::bugs::CampaignEnd end =
        !journal.empty() ? bitwell::bugs::run_campaign_shard(all, options, journal, shard, times, version)
        : !merge.empty() ? bitwell::bugs::merge_campaign(all, options, merge, version)
                         : bitwell::bugs::run_campaign(all, options);
    fmt::print("{}", end.text);
    return end.held ? 0 : 1;
  } catch (const bitwell::machine::InputError& e) {
    fmt::print(stderr, "campaign: {}\n", e.what());
    return 2;
  } catch (const bitwell::machine::Unsupported& e) {
    fmt::print(stderr, "campaign: unsupported: {}\n", e.what());
    return 3;
  } catch (const bitwell::machine::ModelBug& e) {
    fmt::print(stderr, "campaign: a bug in bitwell: {}\n", e.what());
    return 4;
  }
}
