// bitwell study
#include <fmt/format.h>

#include <memory>

#include "experiments/study/accumulate.h"
#include "experiments/study/gemm_error.h"
#include "experiments/study/quantise_study.h"
#include "experiments/study/recommend.h"
#include "experiments/study/stages.h"
#include "verify/cli/command.h"
#include "verify/cli/study_run.h"
#include "verify/launch/file/dimensions.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::grouped;
using terminal::table;
namespace {

constexpr uint64_t kMostK = 1 << 20;  // the studies' own limit

std::string share(uint64_t part, uint64_t all) {
  if (part == 0) return "0";
  return fmt::format("{:.3g} %",
                     100.0 * static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(1, all)));
}

void print_accumulate(const std::vector<std::vector<std::string>>& rows) {
  std::map<std::string, size_t> longest;
  for (const auto& row : rows) {
    const auto p = study::accumulate_point(row);
    longest[p.family] = std::max(longest[p.family], p.k);
  }
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : rows) {
    const auto p = study::accumulate_point(row);
    if (p.k != longest[p.family]) continue;
    const auto& t = p.statistics;
    lines.push_back(
        {p.family, std::to_string(p.k), p.order, grouped(t.dots), fmt::format("{:.3g}", t.median_ulp),
         fmt::format("{:.3g}", t.ulp99), fmt::format("{:.3g}", t.max_ulp), fmt::format("{:.1f}", t.bits),
         share(t.outside, t.dots), share(t.overflows, t.dots), fmt::format("{:.2e}", t.max_relative),
         fmt::format("{:.2e}", p.bound.probable), fmt::format("{:.2e}", p.bound.worst),
         grouped(t.beyond_worst), share(t.beyond_probable, t.dots)});
  }
  fmt::print("{}", table({{"family"},
                          {"k", true},
                          {"order"},
                          {"dot products", true},
                          {"median error, ULP", true},
                          {"99 %, ULP", true},
                          {"largest, ULP", true},
                          {"bits right", true},
                          {"outside tolerance", true},
                          {"overflowed", true},
                          {"largest / A", true},
                          {"likely bound / A", true},
                          {"worst bound / A", true},
                          {"beyond worst", true},
                          {"beyond likely", true}},
                         lines));
  fmt::print(
      "\nOnly the longest k of each family is shown; --csv and --json hold every point.\n"
      "ULP: units in the last place of fp16 at the exact sum. A: the sum of the products' magnitudes.\n"
      "bounds: first order; the likely one may be missed by 1 dot product in 1,000 if roundings are "
      "independent.\n");
  uint64_t beyond = 0;
  for (const auto& row : rows) beyond += study::accumulate_point(row).statistics.beyond_worst;
  if (beyond != 0)
    fmt::print(
        "VIOLATED: {} dot products lie beyond their worst-case bound; the CSV's column beyond_worst says "
        "where.\n",
        grouped(beyond));
}

void add_accumulate(CLI::App& study, int& status, const MergedStudy* merging) {
  CLI::App* command = study.add_subcommand(
      "accumulate",
      "Error of every order of summation against the exact sum, as k grows, over data families");
  struct Options : StudyOptions {
    study::AccumulatePlan plan;
    bool list = false;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("--order", o->plan.orders, "Only these orders (default: all; --list names them)");
  command->add_option("--family", o->plan.families, "Only these data families (default: all)");
  command->add_option("--least-k", o->plan.least_k, "Shortest k")
      ->check(whole(16, kMostK))
      ->capture_default_str();
  command->add_option("--most-k", o->plan.most_k, "Longest k; powers of two between")
      ->check(whole(16, kMostK))
      ->capture_default_str();
  command->add_option("--dots", o->plan.dots, "Dot products a point")
      ->check(whole(1, uint64_t{1} << 32))
      ->capture_default_str();
  command->add_option("--seed", o->plan.seed, "Seed of the data")->capture_default_str();
  command->add_option("--rtol", o->plan.tolerance.relative, "Relative tolerance of the problem")
      ->capture_default_str();
  command->add_option("--atol", o->plan.tolerance.absolute, "Absolute tolerance of the problem")
      ->capture_default_str();
  command->add_flag("--list", o->list, "Name the orders and the data families, and stop");
  add_running(*command, *o, merging);
  command->callback([o, &status] {
    if (o->list) {
      std::vector<std::vector<std::string>> rows;
      for (const study::Order& order : study::orders())
        rows.push_back({"order", std::string(order.name), std::string(order.about)});
      for (const study::NamedFamily& f : study::families())
        rows.push_back({"family", std::string(f.name), std::string(f.about)});
      fmt::print("{}", table({{"kind"}, {"name"}, {"what it is"}}, rows));
      return;
    }
    run_study(study::accumulate_study(o->plan), *o, status, print_accumulate);
  });
}

void print_recommend(const study::Question& q, const std::vector<study::Answer>& answers) {
  std::vector<std::vector<std::string>> rows;
  for (const study::Answer& a : answers)
    rows.push_back({a.order, std::to_string(a.cost), grouped(a.outputs), grouped(a.outside),
                    fmt::format("{:.2g} %", 100 * a.most_failing), fmt::format("{:.3g}", a.worst),
                    a.outside == 0 ? "holds" : a.why});
  fmt::print("{}", table({{"order"},
                          {"cost rank", true},
                          {"outputs", true},
                          {"outside", true},
                          {"failing at most", true},
                          {"largest error / tolerance", true},
                          {"why"}},
                         rows));
  const study::Answer* best = study::cheapest(answers);
  if (best == nullptr)
    fmt::print("\nNo order holds {}x{}x{} on '{}' within rtol {} and atol {}.\n", q.m, q.k, q.l, q.family,
               q.tolerance.relative, q.tolerance.absolute);
  else
    fmt::print(
        "\nCheapest that holds {}x{}x{} on '{}': {} ({}). At most {:.2g} % of outputs fail, with {:.4g} % "
        "confidence.\n",
        q.m, q.k, q.l, q.family, best->order, best->about, 100 * best->most_failing, 100 * q.confidence);
  fmt::print(
      "cost rank: 0 tensor cores, 1 packed fp16, 2 fp16, 3 packed fp16 with fp32 now and then, 4 and 5 "
      "fp32.\n"
      "failing at most: share of outputs outside the tolerance, with the confidence asked for.\n");
}

// All rows as they are.
void print_rows(const std::vector<std::vector<std::string>>& rows, const std::vector<Column>& titles) {
  fmt::print("{}", table(titles, rows));
}

void add_quantise(CLI::App& study, int& status, const MergedStudy* merging) {
  CLI::App* command = study.add_subcommand(
      "quantise",
      "Signal to noise, bias and clipping of the recipes that make NVFP4 and MXFP4 out of tensors");
  struct Options : StudyOptions {
    study::QuantisePlan plan;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("--recipe", o->plan.recipes, "Only these recipes (default: all)");
  command->add_option("--rows", o->plan.rows, "Of the tensor")
      ->check(whole(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--columns", o->plan.columns, "Of the tensor, a multiple of 32")
      ->check(whole(32, 1 << 20))
      ->capture_default_str();
  command->add_option("--seed", o->plan.seed, "Seed of the data")->capture_default_str();
  add_running(*command, *o, merging);
  command->callback([o, &status] {
    run_study(study::quantise_study(o->plan), *o, status, [](const study::Rows& rows) {
      print_rows(rows, {{"input"},
                        {"recipe"},
                        {"SQNR, dB", true},
                        {"bias / sigma", true},
                        {"bias of magnitudes", true},
                        {"clipped", true},
                        {"zeros", true},
                        {"scale bits an element", true}});
    });
  });
}

void print_stages(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> lines;
  std::string best;
  const auto choice = [](const study::StagesPoint& p) {
    return fmt::format("tile {}x{}, {} stage{}", p.tile_m, p.tile_n, p.stages, p.stages == 1 ? "" : "s");
  };
  for (size_t i = 0; i < rows.size();) {
    std::vector<study::StagesPoint> points;
    const std::vector<std::string> shape(rows[i].begin(), rows[i].begin() + 3);
    for (; i < rows.size() && std::equal(shape.begin(), shape.end(), rows[i].begin()); ++i)
      points.push_back(study::stages_point(rows[i]));
    const std::string name = fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]);
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.us < b.us; });
    for (const study::StagesPoint& p : points) {
      if (!p.front && p.fastest == 0) continue;
      lines.push_back({name, choice(p), fmt::format("{:.1f}", p.us),
                       fmt::format("{:.1f} to {:.1f}", p.low, p.high), p.bound_by,
                       grouped(static_cast<uint64_t>(p.shared)), p.front ? "front" : "",
                       p.drawn == 0 ? "-" : fmt::format("{} of {}", p.fastest, p.drawn)});
    }
    const study::StagesPoint& first = points.front();
    best += fmt::format("{}: {}", name, choice(first));
    if (first.drawn > 0)
      best += fmt::format(", the fastest in {} of {} draws of costs", first.fastest, first.drawn);
    best += "\n";
  }
  fmt::print("{}\n{}",
             table({{"shape, MxNxK"},
                    {"choice"},
                    {"modelled us", true},
                    {"between, us", true},
                    {"bound by"},
                    {"shared memory, bytes", true},
                    {"no other beats it in both"},
                    {"fastest in draws of costs", true}},
                   lines),
             best);
  fmt::print(
      "\nA model of an H200, not a measurement: of PTX, not of machine code. It knows no power, which lowers "
      "the clock,\nand no registers that ptxas spills.\n");
}

void add_stages(CLI::App& study, int& status, const MergedStudy* merging) {
  CLI::App* command = study.add_subcommand("stages",
                                           "Which tile and number of stages a GEMM on an H200 should have, "
                                           "by the model of time, and how sure that is");
  struct Options : StudyOptions {
    study::StagesPlan plan;
    std::vector<std::string> shapes;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("--shape", o->shapes,
                      "MxNxK, multiples of 64 (default: 4096x4096x2048 512x4096x4096 128x8192x2048)");
  command
      ->add_option(
          "--clusters", o->plan.clusters,
          "CTAs that are run on a multiprocessor, one after the other; the others count as like them")
      ->check(whole(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--draws", o->plan.draws,
                   "How often all costs are drawn, each between the lowest and the highest that its row has")
      ->check(whole(0, 10000))
      ->capture_default_str();
  command->add_option("--seed", o->plan.seed, "Of the draws")
      ->check(whole(0, 1 << 30))
      ->capture_default_str();
  add_running(*command, *o, merging);
  command->callback([o, &status] {
    if (!o->shapes.empty()) o->plan.shapes.clear();
    for (const std::string& text : o->shapes) {
      const std::vector<int> d = launch::parse_dimensions(text, "MxNxK");
      o->plan.shapes.push_back({d[0], d[1], d[2]});
    }
    run_study(study::stages_study(o->plan), *o, status, print_stages);
  });
}

void add_gemm_error(CLI::App& study, int& status, const MergedStudy* merging) {
  CLI::App* command = study.add_subcommand(
      "gemm-error",
      "What tensor-core sums, split k and epilogues lose after quantisation, over an output tile");
  struct Options : StudyOptions {
    study::GemmErrorPlan plan;
    bool map = false;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("--m", o->plan.m, "Rows of the tile")->check(whole(1, 4096))->capture_default_str();
  command->add_option("--n", o->plan.n, "Columns of the tile")->check(whole(1, 4096))->capture_default_str();
  command->add_option("--least-k", o->plan.least_k, "Shortest k")
      ->check(whole(64, kMostK))
      ->capture_default_str();
  command->add_option("--most-k", o->plan.most_k, "Longest k; powers of two between")
      ->check(whole(64, kMostK))
      ->capture_default_str();
  command->add_option("--seed", o->plan.seed, "Seed of the data")->capture_default_str();
  command->add_flag("--map", o->map, "The error of every element of one tile at the longest k");
  add_running(*command, *o, merging);
  command->callback([o, &status] {
    if (o->map) {
      run_study(study::gemm_error_map(o->plan), *o, status, [o](const study::Rows& rows) {
        if (!o->running.csv.empty()) return;
        print_rows(rows, {{"family"},
                          {"sum"},
                          {"m", true},
                          {"n", true},
                          {"error / A", true},
                          {"error, ULP of fp16", true}});
      });
      return;
    }
    run_study(study::gemm_error_study(o->plan), *o, status, [](const study::Rows& rows) {
      print_rows(rows, {{"family"},
                        {"k", true},
                        {"sum"},
                        {"split of k", true},
                        {"handed over as"},
                        {"output"},
                        {"largest error / A", true},
                        {"RMS error / A", true},
                        {"overflows", true}});
    });
  });
}

void add_recommend(CLI::App& study, int& status, const MergedStudy* merging) {
  CLI::App* command = study.add_subcommand(
      "recommend",
      "The cheapest order that holds for a shape, a data family and a tolerance; why others fail");
  struct Options : StudyOptions {
    study::Question question;
    std::string shape = "7168x16384x1";
  };
  const auto o = std::make_shared<Options>();
  study::Question& q = o->question;
  command->add_option("--shape", o->shape, "MxKxL: rows, length, batches")->capture_default_str();
  command->add_option("--family", q.family, "Data family (accumulate --list names them)")
      ->capture_default_str();
  CLI::Option* order =
      command->add_option("--order", q.orders, "Only these orders (default: all but tensor cores')");
  command->add_flag("--tensor-cores", q.tensor_cores, "Tensor cores' orders too")->excludes(order);
  command->add_option("--rtol", q.tolerance.relative, "Relative tolerance")->capture_default_str();
  command->add_option("--atol", q.tolerance.absolute, "Absolute tolerance")->capture_default_str();
  command->add_option("--confidence", q.confidence, "Of the share that may fail")->capture_default_str();
  command->add_option("--problems", q.problems, "Whole problems tried")
      ->capture_default_str()
      ->check(whole(1, 1000));
  command->add_option("--seed", q.seed, "Seed of the data")->capture_default_str();
  add_running(*command, *o, merging);
  command->callback([o, &status] {
    const std::vector<int> size = launch::parse_dimensions(o->shape, "MxKxL");
    o->question.m = size[0];
    o->question.k = size[1];
    o->question.l = size[2];
    run_study(study::recommend_study(o->question), *o, status, [&](const study::Rows& rows) {
      if (rows.empty()) return;
      const std::vector<study::Answer> answers = study::answers(o->question, rows);
      print_recommend(o->question, answers);
      if (study::cheapest(answers) == nullptr) status = failed;
    });
  });
}

}  // namespace

void add_study(CLI::App& app, int& status, const MergedStudy* merging) {
  CLI::App* study = app.add_subcommand(
      "study", "Measures what arithmetic costs in accuracy, and models what stages cost in time");
  study->require_subcommand(1);
  study->footer(
      "Studies: accumulate  what each order of summation loses, against exact integers\n"
      "         recommend   the cheapest order that holds for a shape, and why others fail\n"
      "         quantise    signal to noise, bias and clipping of quantisation recipes\n"
      "         gemm-error  what tensor-core sums, split k and epilogues lose\n"
      "         stages      which tile and how many stages, by the model of time\n\n"
      "Machines share the pieces by --shard and --journal (bitwell help shards). Built with MPI, `mpirun "
      "bitwell study NAME ...` spreads them over those of one allocation; the files are the same.\n\n"
      "Example:  bitwell study accumulate --family gaussian same_sign --most-k 4096 --csv accumulate.csv");
  add_accumulate(*study, status, merging);
  add_recommend(*study, status, merging);
  add_quantise(*study, status, merging);
  add_gemm_error(*study, status, merging);
  add_stages(*study, status, merging);
}

}  // namespace bitwell::cli
