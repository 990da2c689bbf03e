// bitwell verify
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "verify/cli/command.h"
#include "verify/cli/table.h"
#include "verify/gemv_verdict.h"

namespace bitwell::cli {
namespace {

struct VerifyOptions {
  verify::GemvPlan plan;
  bool json = false;
};

nlohmann::json as_json(const verify::GemvVerdict& v) {
  return {{"kernel", "gemv_" + v.rung},
          {"arch", v.arch},
          {"cases", v.cases},
          {"outputs", v.outputs},
          {"mismatches", v.mismatches},
          {"first_mismatch", v.first_mismatch},
          {"replay", v.replay},
          {"worst_error_ulp", v.worst_ulp},
          {"outputs_beyond_range", v.beyond_range},
          {"evidence", v.evidence},
          {"digest", v.digest},
          {"lane_instructions", v.lane_instructions},
          {"seconds", v.seconds},
          {"holds", v.holds}};
}

void print(const std::vector<verify::GemvVerdict>& verdicts) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& v : verdicts)
    rows.push_back(
        {"gemv_" + v.rung, v.arch, std::to_string(v.cases), grouped(v.outputs), grouped(v.mismatches),
         fmt::format("{:.1f}", v.worst_ulp), grouped(v.beyond_range), v.evidence,
         fmt::format("{:.2f}",
                     v.seconds > 0 ? static_cast<double>(v.lane_instructions) / v.seconds / 1e9 : 0.0),
         v.holds ? "holds" : "FAILS"});
  fmt::print("{}", table({{"kernel"},
                          {"arch"},
                          {"shapes", true},
                          {"outputs", true},
                          {"mismatched bits", true},
                          {"worst error, ULP", true},
                          {"overflowed", true},
                          {"evidence"},
                          {"G lane-inst/s", true},
                          {"verdict"}},
                         rows));
  for (const auto& v : verdicts)
    if (!v.holds)
      fmt::print("\ngemv_{} {}: {}\n{}", v.rung, v.arch, v.first_mismatch,
                 v.replay.empty() ? "" : "  replay it: bitwell run " + v.replay + "\n");
  fmt::print(
      "\nmismatched bits: outputs whose bits differ from the direct evaluation of the kernel's accumulation "
      "order.\n"
      "worst error:     against exact arithmetic, in units in the last place of fp16, over all outputs that "
      "are finite and\n"
      "                 should be; fp16 accumulation makes it large on the adversarial cases, and that is "
      "the kernel's.\n"
      "overflowed:      outputs where the kernel's own order leaves fp16's range although the exact sum does "
      "not (or the\n"
      "                 reverse).\n"
      "evidence:        device = these bits came from that GPU; manual = the PTX manual's rules alone.\n");
}

void run(const VerifyOptions& options, int& status) {
  verify::GemvPlan plan = options.plan;
  plan.progress = [](size_t done, size_t all, const std::string& now) {
    progress(fmt::format("verify gemv: {} of {} rungs ({})", done, all, now));
  };
  const std::vector<verify::GemvVerdict> verdicts = verify::verify_gemv(plan);
  end_progress();
  bool all = true;
  for (const auto& v : verdicts) all = all && v.holds;
  if (options.json) {
    nlohmann::json j{
        {"suite", "gemv"}, {"full", plan.full}, {"holds", all}, {"verdicts", nlohmann::json::array()}};
    for (const auto& v : verdicts) j["verdicts"].push_back(as_json(v));
    fmt::print("{}\n", j.dump(2));
  } else {
    print(verdicts);
  }
  status = all ? held : failed;
}

}  // namespace

void add_verify(CLI::App& app, int& status) {
  CLI::App* verify = app.add_subcommand(
      "verify", "Judge bitwell's own kernels: every output bit against an independent model");
  verify->require_subcommand(1);
  verify->footer(
      "Suites:  gemv  the NVFP4 batched GEMV ladder, sm_90a and sm_100a\n\nExample:  bitwell verify gemv "
      "--rung fused --full");
  CLI::App* gemv = verify->add_subcommand(
      "gemv", "The NVFP4 batched GEMV ladder: ten kernels, two architectures, adversarial inputs");
  auto options = std::make_shared<VerifyOptions>();
  options->plan.kernels = verify::share_folder("kernels");
  options->plan.captures = verify::share_folder("captures");
  gemv->add_option("--rung", options->plan.rungs,
                   "Only these rungs (naive, shared_b, intrinsics, ptx_decode, two_tiles, fused, "
                   "split_k_shared, split_k_shuffle, fp16_combine, fp32_combine)");
  gemv->add_option("--arch", options->plan.archs, "Only these architectures")
      ->check(CLI::IsMember({"sm_90a", "sm_100a"}));
  gemv->add_flag("--full", options->plan.full,
                 "Also the three contest shapes: 7168x16384x1, 4096x7168x8, 7168x2048x4");
  gemv->add_flag("--json", options->json, "Verdicts as JSON");
  gemv->add_option("--threads", options->plan.threads, "Host threads (default: all)")
      ->check(CLI::NonNegativeNumber);
  gemv->add_option("--kernels", options->plan.kernels,
                   "Folder with gemv/<rung>.<arch>.ptx: judge your own build of the ladder")
      ->check(CLI::ExistingDirectory);
  gemv->add_option("--replay", options->plan.replay, "Where a failed case's LAUNCH.json is written")
      ->capture_default_str();
  gemv->callback([options, &status] { run(*options, status); });
}

}  // namespace bitwell::cli
