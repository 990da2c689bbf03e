// The model of time against what an H200 took: one row a kernel and shape. Needs no GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "experiments/articles/articles.h"
#include "experiments/gpu/hopper_cases.h"
#include "verify/launch/file/dimensions.h"
#include "verify/session/time.h"
#include "verify/suite/chain.h"
#include "verify/suite/kernels/gemm.h"
#include "verify/suite/kernels/gemv.h"
#include "verify/verdict/time.h"

namespace bitwell {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> read_csv(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw machine::InputError("'" + path + "' cannot be read");
  std::vector<Fields> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream text(line);
    Fields& fields = out.emplace_back();
    for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
  }
  out.erase(out.begin());  // titles
  return out;
}

struct Row {
  std::string family, shape, kernel;
  double measured, modelled, low, high, closed;
  std::string kind;
  bool aside;  // kept aside: nobody had looked at its error when a rule or a cost was chosen
};

bool kept_aside(const std::string& family, const std::string& shape) {
  // The other shapes of gemv were seen when rules were chosen, of which the last is that loads wait in the
  // order of machine code. These were timed behind that.
  static const std::set<std::string> kGemv{"5120x12288x1", "2048x8192x8", "6144x4096x4", "9216x3072x2"};
  if (family == "gemv") return kGemv.count(shape) != 0;
  // The clock of busy tensor cores was fitted to these.
  return family != "gemm" || (shape != "4096x4096x4096" && shape != "512x4096x7168");
}

// A closed form: the most of what memory and the tensor cores need, in whole waves, and a start.
double closed_form(double bytes, double flops, double waves) {
  constexpr double kStart = 2.0, kDram = 3.99e6, kTensor = 1.07e9;
  return kStart +
         std::max(bytes / kDram, flops / kTensor * std::max(1.0, std::ceil(waves) / std::max(waves, 1e-9)));
}

struct Options {
  std::string results, kernels, only;
  bool path = false, articles = false, ptx_alone = false;
  uint32_t most = 8;
};

class Check {
 public:
  explicit Check(const Options& o) : o_(o) {}

  void add(const std::string& family, const std::string& shape, const std::string& kernel, double measured,
           double closed, const session::TimeQuestion& q) {
    session::TimeQuestion asked = q;
    asked.most = o_.most;
    asked.asks_ptxas = !o_.ptx_alone;
    const session::TimeAnswer a = session::time_of(asked);
    Row row{family,
            shape,
            kernel,
            measured,
            a.us,
            a.low,
            a.high,
            closed,
            std::string(a.launches.back().estimate.kind),
            kept_aside(family, shape)};
    fmt::print("{},{},{},{:.1f},{:.1f},{:.1f},{:.1f},{:+.0f}%,{:.1f},{},{}\n", family, shape, kernel,
               measured, a.us, a.low, a.high, 100 * (a.us / measured - 1), closed, row.kind,
               row.aside ? "aside" : "looked at");
    std::fflush(stdout);
    if (o_.path) print_path(a);
    rows.push_back(std::move(row));
  }
  void print_path(const session::TimeAnswer& a) const {
    for (const session::LaunchTime& l : a.launches) {
      const timing::Seen& s = l.launch.seen;
      fmt::print(
          "  {}: {:.1f} us, {:.0f} cycles seen, {} clusters of {} on {} groups, {} resident; shares tensor "
          "{:.2f} issue {:.2f} memory "
          "{:.2f} l2 {:.2f} dram {:.2f}\n",
          l.launch.entry.substr(0, 30), l.estimate.us, s.cycles, s.ends.size(), l.launch.clusters,
          l.launch.groups, l.launch.extent.residents, s.tensor, s.issue, s.memory, s.l2, s.dram);
      for (const auto& [base, region] : s.asked)
        fmt::print("    {} of {}: read {:.0f} written {:.0f}\n", region.name, region.size, region.read,
                   region.written);
      for (size_t i = 0; i < std::min<size_t>(12, s.path.size()); ++i)
        fmt::print("    {:>20} {:>22} line {:>5}: {:.0f} cycles, {} times\n",
                   timing::kRoles[size_t(s.path[i].role)], timing::kCauses[size_t(s.path[i].cause)],
                   s.path[i].line, s.path[i].cycles, s.path[i].times);
      for (const auto& [name, times] : s.without_row) fmt::print("    without a row: {} {}\n", name, times);
    }
  }
  bool wanted(const std::string& text) const {
    return o_.only.empty() || text.find(o_.only) != std::string::npos;
  }

  void gemv() {
    for (const Fields& f : read_csv(o_.results + "/gemv_speed.csv")) {
      const auto& rungs = suite::gemv_rungs();
      if (!wanted("gemv," + f[0] + "," + f[1]) ||
          std::none_of(rungs.begin(), rungs.end(), [&](const auto& r) { return r.name == f[1]; }))
        continue;
      const std::vector<int> d = launch::parse_dimensions(f[0], "MxKxL");
      // Lanes go different ways by what they read.
      const suite::GemvProblem p(
          {d[0], d[1], d[2], suite::OperandData::moderate, suite::ScaleLayout::blocked, 7});
      launch::Launch launch = p.launch(suite::gemv_rung(f[1]), o_.kernels + "/gemv/" + f[1] + ".sm_90a.ptx");
      launch.shape.registers = static_cast<uint32_t>(std::stoi(f[8]));
      add("gemv", f[0], f[1], std::stod(f[2]), closed_form(std::stod(f[3]) * 1e6, 0, 1),
          session::time_question(launch));
    }
  }
  void gemm() {
    for (const Fields& f : read_csv(o_.results + "/gemm_speed.csv")) {
      if (!wanted("gemm," + f[0] + "," + f[1])) continue;
      const std::vector<int> d = launch::parse_dimensions(f[0], "MxNxK");
      int clusters = 0, peers = 0, split = 0;
      char name[64];
      if (std::sscanf(f[1].c_str(), "%63s in %d clusters of %dx%d", name, &clusters, &peers, &split) != 4)
        throw machine::InputError("'" + f[1] + "' names no kernel");
      const suite::GemmProblem p({d[0], d[1], d[2], 1, suite::OperandData::zeros, peers, clusters, 7});
      const suite::Chain chain = p.chain(suite::gemm_variant(name), {o_.kernels, "sm_90a"});
      const double bytes = (1.0 * d[0] * d[2] + 1.0 * d[1] * d[2]) * 0.5625 + 2.0 * d[0] * d[1];
      const suite::GemmVariant v = suite::gemm_variant(name);
      const double tiles = std::ceil(1.0 * d[0] / v.tile_m) * std::ceil(d[1] / 128.0);
      add("gemm", f[0], name, std::stod(f[2]),
          closed_form(bytes, 2.0 * d[0] * d[1] * d[2], tiles * v.split / 132),
          verdict::time_question(chain, modules_));
    }
  }
  void hopper() {
    const std::vector<Fields> all = read_csv(o_.results + "/hopper_speed.csv");
    for (const std::string_view family : gpu::kHopperFamilies)
      for (const auto& make : gpu::hopper_cases(family, o_.kernels, 132)) {
        const gpu::SpeedCase c = make();
        for (const Fields& f : all)
          if (f[0] == c.shape && f[1] == c.kernel && wanted(std::string(family) + "," + f[0] + "," + f[1]))
            add(std::string(family), f[0], f[1], std::stod(f[2]), closed_form(0, c.flops, 1),
                verdict::time_question(c.chain, modules_));
      }
  }

  std::vector<Row> rows;

 private:
  const Options& o_;
  launch::Modules modules_;
};

// Of rows that satisfy `take`: relative errors.
void summary(const std::string& name, const std::vector<Row>& rows, double Row::*what) {
  std::vector<double> errors;
  size_t pairs = 0, right = 0;
  for (const Row& a : rows) errors.push_back(std::abs(a.*what / a.measured - 1));
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = i + 1; j < rows.size(); ++j) {
      const Row &a = rows[i], &b = rows[j];
      if (a.family != b.family || a.shape != b.shape) continue;
      if (std::max(a.measured, b.measured) < 1.1 * std::min(a.measured, b.measured)) continue;
      ++pairs;
      right += (a.measured < b.measured) == (a.*what < b.*what) ? 1 : 0;
    }
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  double sum = 0;
  for (const double e : errors) sum += e;
  const size_t n = errors.size();
  fmt::print(
      "# {}: {} rows, median {:.0f} %, mean {:.0f} %, 90th percentile {:.0f} %; order right in {} of {} "
      "pairs\n",
      name, n, 100 * errors[n / 2], 100 * sum / static_cast<double>(n),
      100 * errors[std::min(n - 1, n * 9 / 10)], right, pairs);
}

int compare(int argc, char** argv) {
  CLI::App app{"The model of time against what an H200 took, by kernel and shape. Prints CSV."};
  Options o;
  o.kernels = BITWELL_KERNELS;
  o.results = BITWELL_RESULTS;
  app.add_option("--only", o.only, "Only rows in whose FAMILY,SHAPE,KERNEL this stands");
  app.add_option("--clusters", o.most, "Clusters of a multiprocessor that are run");
  app.add_flag("--path", o.path, "What waited for what");
  app.add_flag("--articles", o.articles, "What articles on a B200 say instead, in tables");
  app.add_flag("--ptx-alone", o.ptx_alone, "Do not ask ptxas what it makes of the kernels");
  CLI11_PARSE(app, argc, argv);
  if (o.articles) {
    articles::print_articles(o.kernels, o.most);
    return 0;
  }
  Check check(o);
  fmt::print("family,shape,kernel,measured us,modelled us,low,high,error,closed form us,bound by,errors\n");
  check.gemv();
  check.gemm();
  check.hopper();
  for (const char* family : {"gemv", "gemm", "grouped", "dual", "svdquant"}) {
    std::vector<Row> rows;
    for (const Row& r : check.rows)
      if (r.family == family) rows.push_back(r);
    summary(std::string(family) + ", model", rows, &Row::modelled);
    summary(std::string(family) + ", closed form", rows, &Row::closed);
  }
  std::vector<Row> aside;
  for (const Row& r : check.rows)
    if (r.aside) aside.push_back(r);
  summary("kept aside, model", aside, &Row::modelled);
  summary("kept aside, closed form", aside, &Row::closed);
  summary("all, model", check.rows, &Row::modelled);
  summary("all, closed form", check.rows, &Row::closed);
  return 0;
}

}  // namespace
}  // namespace bitwell

int main(int argc, char** argv) {
  try {
    return bitwell::compare(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "time_check: {}\n", e.what());
    return 2;
  }
}
