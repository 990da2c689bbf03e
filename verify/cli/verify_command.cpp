// bitwell verify
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "verify/cli/command.h"
#include "verify/cli/table.h"
#include "verify/verdict/gemm_verdict.h"
#include "verify/verdict/gemv_verdict.h"

namespace bitwell::cli {
namespace {

struct Suite {
  std::string name;
  std::vector<verify::Verdict> (*judge)(const verify::Plan&);
};

struct VerifyOptions {
  verify::Plan plan;
  bool json = false;
};

nlohmann::json as_json(const verify::Verdict& v) {
  return {{"kernel", v.kernel},
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
          {"digest", v.digest},
          {"lane_instructions", v.lane_instructions},
          {"seconds", v.seconds},
          {"holds", v.holds}};
}

void print(const std::vector<verify::Verdict>& verdicts) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& v : verdicts)
    rows.push_back(
        {v.kernel, v.arch, std::to_string(v.cases), grouped(v.outputs), grouped(v.mismatches),
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
      fmt::print("\n{} {}: {}\n{}", v.kernel, v.arch, v.first_mismatch,
                 !v.replay.empty()         ? "  replay it: bitwell run " + v.replay + v.replay_options + "\n"
                 : !v.replay_error.empty() ? "  no replay: " + v.replay_error + "\n"
                                           : "");
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
      "evidence:        device = these bits came from that GPU; manual = the PTX manual's rules alone.\n");
}

void run(const Suite& suite, const VerifyOptions& options, int& status) {
  verify::Plan plan = options.plan;
  plan.progress = [&](size_t done, size_t all, const std::string& now) {
    progress(fmt::format("verify {}: {} of {} kernels ({})", suite.name, done, all, now));
  };
  const std::vector<verify::Verdict> verdicts = suite.judge(plan);
  end_progress();
  bool all = true;
  for (const auto& v : verdicts) all = all && v.holds;
  if (options.json) {
    nlohmann::json j{
        {"suite", suite.name}, {"full", plan.full}, {"holds", all}, {"verdicts", nlohmann::json::array()}};
    for (const auto& v : verdicts) j["verdicts"].push_back(as_json(v));
    fmt::print("{}\n", j.dump(2));
  } else {
    print(verdicts);
  }
  status = all ? held : failed;
}

// What every suite's command takes.
std::shared_ptr<VerifyOptions> add_suite(CLI::App& command, const Suite& suite, int& status) {
  auto options = std::make_shared<VerifyOptions>();
  options->plan.ptx = verify::share_folder("kernels");
  options->plan.captures = verify::share_folder("captures");
  command.add_flag("--json", options->json, "Verdicts as JSON");
  command.add_option("--threads", options->plan.threads, "Host threads (default: all)")
      ->check(whole(0, 4096));
  command.add_option("--replay", options->plan.replay, "Where a failed case's LAUNCH.json is written")
      ->capture_default_str();
  command.callback([options, suite, &status] { run(suite, *options, status); });
  return options;
}

}  // namespace

void add_verify(CLI::App& app, int& status) {
  CLI::App* verify = app.add_subcommand(
      "verify", "Judge bitwell's own kernels: every output bit against an independent model");
  verify->require_subcommand(1);
  verify->footer(
      "Suites:  gemv  the NVFP4 batched GEMV, eleven kernels from naive to streamed, sm_90a and sm_100a\n"
      "         gemm  the NVFP4 GEMM for Hopper: TMA, mbarriers, clusters, wgmma\n\n"
      "Example:  bitwell verify gemv --kernel fused --full");
  CLI::App* gemv = verify->add_subcommand(
      "gemv",
      "The NVFP4 batched GEMV: eleven kernels, two architectures, adversarial inputs, some "
      "under eight schedules");
  const auto of_gemv = add_suite(*gemv, {"gemv", verify::verify_gemv}, status);
  gemv->add_option("--kernel,--rung", of_gemv->plan.kernels,
                   "Only these kernels (naive, shared_b, intrinsics, ptx_decode, two_tiles, fused, "
                   "split_k_shared, split_k_shuffle, fp16_combine, fp32_combine, streamed)");
  gemv->add_option("--arch", of_gemv->plan.archs, "Only these architectures")
      ->check(CLI::IsMember({"sm_90a", "sm_100a"}));
  gemv->add_flag("--full", of_gemv->plan.full,
                 "Also the three shapes that GPU MODE's NVFP4 GEMV contest timed: 7168x16384x1, 4096x7168x8, "
                 "7168x2048x4");
  gemv->add_option("--kernels", of_gemv->plan.ptx,
                   "Folder with gemv/<kernel>.<arch>.ptx: judge your own build of the kernels")
      ->check(CLI::ExistingDirectory);
  CLI::App* gemm = verify->add_subcommand(
      "gemm",
      "The NVFP4 GEMM for Hopper: fifteen kernels, ragged and adversarial cases, each under two schedules, "
      "persistent ones under thirteen");
  const auto of_gemm = add_suite(*gemm, {"gemm", verify::verify_gemm}, status);
  gemm->add_option("--kernel", of_gemm->plan.kernels, "Only these kernels, such as gemm_m128_split2_f16");
  gemm->add_flag(
      "--full", of_gemm->plan.full,
      "Also large shapes, 1024x1024x4096 and two that GPU MODE's NVFP4 GEMM contest timed among them");
  gemm->add_option("--kernels", of_gemm->plan.ptx,
                   "Folder with gemm/<kernel>.sm_90a.ptx: judge your own build of the kernels")
      ->check(CLI::ExistingDirectory);
}

}  // namespace bitwell::cli
