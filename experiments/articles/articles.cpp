#include "experiments/articles/articles.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "kernels/dense/launch.h"
#include "kernels/grouped/launch.h"
#include "kernels/svdquant/launch.h"
#include "verify/session/time.h"
#include "verify/suite/kernels/dense.h"
#include "verify/suite/kernels/gemv.h"
#include "verify/suite/kernels/grouped.h"
#include "verify/suite/kernels/svdquant.h"

namespace bitwell::articles {
namespace {

constexpr suite::OperandData kData = suite::OperandData::zeros;

struct Articles {
  std::string kernels;
  uint32_t most;

  suite::Build build() const { return {kernels, "sm_100a"}; }
  session::TimeAnswer time(const launch::Launch& l) const {
    session::TimeQuestion q = session::time_question(l);
    q.device = "b200";
    q.most = most;
    q.asks_ptxas = false;  // as the figures were made that stand beside the articles
    return session::time_of(q);
  }

  // What the article says that it is; nothing: it says none.
  void row(std::string_view kernel, std::string_view shape, std::optional<double> published,
           const session::TimeAnswer& a, double us, double first) const {
    const timing::Seen& s = a.launches.front().launch.seen;
    std::map<std::pair<timing::Role, timing::Cause>, double> parts;
    double all = 1e-9, most_cycles = 0;
    for (const timing::Path::Part& p : s.path) {
      parts[{p.role, p.cause}] += p.cycles;
      all += p.cycles;
    }
    std::string waited;
    for (const auto& [what, cycles] : parts)
      if (cycles > most_cycles) {
        most_cycles = cycles;
        waited = fmt::format("{}: {}", timing::kRoles[static_cast<size_t>(what.first)],
                             timing::kCauses[static_cast<size_t>(what.second)]);
      }
    fmt::print("{:<20} {:<26} {:>9} {:>8.1f} {:>8.2f}  {:<12} {:>3.0f} % {}\n", kernel, shape,
               published ? fmt::format("{:.4g}", *published) : "-", us, us / first,
               a.launches.front().estimate.kind, 100 * most_cycles / all, waited);
    std::fflush(stdout);
  }
  static void title(std::string_view text) {
    fmt::print("\n{}\n{:<20} {:<26} {:>9} {:>8} {:>8}  {:<12} {}\n", text, "kernel", "shape", "published",
               "modelled", "of first", "bound by", "what the end waited for most");
  }

  void tiles() const {
    title(
        "Tiles of \"Blackwell NVFP4 Kernel Hackathon Part 2\": 64 columns, for 128 leave SMs without one; "
        "us");
    for (const auto& [n, k, least] :
         {std::tuple{7168, 16384, 8.994}, {4096, 7168, 2.354}, {7168, 2048, 1.333}}) {
      double first = 0;
      const suite::DenseProblem p({128, n, k, 1, kData, 7});
      for (const char* const kernel : {"dense_m128_n128", "dense_m128_n64", "dense_m128_n64_tma"}) {
        const session::TimeAnswer a = time(p.launch(::dense::variant(kernel), build()));
        if (first == 0) first = a.us;
        row(kernel, fmt::format("128x{}x{}", n, k), std::nullopt, a, a.us, first);
      }
      fmt::print("  least by the contest's speed of light: {:.3f}\n", least);
    }
    fmt::print(
        "Published: 64 is faster, in all three (112, 64 and 112 CTAs in place of 56, 32 and 56); a store by "
        "registers "
        "is\nslower than one by TMA. Not known here: their clock, what their compiler made.\n");
  }

  void steps() const {
    title(
        "Order of steps of \"Optimizing an NVFP4 Group GEMM Kernel on Blackwell\", at the contest's shapes; "
        "us");
    struct Groups {
      std::vector<int> m;
      int n, k;
    };
    for (const Groups& g : {Groups{{80, 176, 128, 72, 64, 248, 96, 160}, 4096, 7168},
                            Groups{{40, 76, 168, 72, 164, 148, 196, 160}, 7168, 2048},
                            Groups{{192, 320}, 3072, 4096}, Groups{{128, 384}, 4096, 1536}}) {
      const std::vector<int> n(g.m.size(), g.n), k(g.m.size(), g.k);
      const suite::GroupedProblem p({g.m, n, k, kData, 7, 148, false});
      double first = 0;
      for (const char* const kernel : {"grouped_sequential", "grouped_warps_1", "grouped_warps_2",
                                       "grouped_warps_4", "grouped_persistent"}) {
        const session::TimeAnswer a = time(p.launch(::grouped::variant(kernel), build(), p.metadata()));
        if (first == 0) first = a.us;
        row(kernel, fmt::format("{} groups, {}x{}", g.m.size(), g.n, g.k), std::nullopt, a, a.us, first);
      }
    }
    fmt::print(
        "Published: two warps with one stage are slower than one warp; with two stages faster than it, with "
        "four "
        "more so.\nNot known here: the host's allocations (its first step), which no kernel shows.\n");
  }

  void ladder() const {
    title(
        "Ladder of \"My Blackwell NVFP4 Kernel Hackathon Journey\": us, the mean of logarithms over three "
        "shapes");
    struct Rung {
      const char* kernel;
      std::optional<double> published;
    };
    double first = 0;
    // The article's steps, as this repository's kernels have them.
    for (const Rung& r : {Rung{"naive", 2000},
                          {"shared_b", 443},
                          {"intrinsics", 39},
                          {"ptx_decode", 27},
                          {"two_tiles", 22.9},
                          {"fused", 22.3},
                          {"four_rows", std::nullopt}}) {
      double sum = 0;
      std::optional<session::TimeAnswer> last;
      for (const auto& [m, k, l] : {std::array{7168, 16384, 1}, {4096, 7168, 8}, {7168, 2048, 4}}) {
        const suite::GemvProblem p({m, k, l, kData, suite::ScaleLayout::blocked, 7});
        const launch::Launch one =
            p.launch(suite::gemv_rung(r.kernel), kernels + "/gemv/" + r.kernel + ".sm_100a.ptx");
        last = time(one);
        sum += std::log(last->us) / 3;
      }
      const double us = std::exp(sum);
      if (first == 0) first = us;
      row(r.kernel, "three shapes", r.published, *last, us, first);
    }
    fmt::print(
        "Not known here: registers of a thread (how many CTAs are at once on a multiprocessor), what ptxas "
        "made, and "
        "by\nwhich of three shapes' figures the article's are.\n");
  }

  void stages() const {
    title(
        "The mend of \"Implementing SVDQuant W4A4 on Blackwell\": half the stages, then all; us of the "
        "kernel alone");
    double first = 0;
    const suite::SvdquantProblem p({4352, 3072, 3840, 128, kData, 7, 74}, false);
    for (const auto& [kernel, us] :
         {std::pair{"svdquant_wrong_half", 46.69}, {"svdquant_published", 32.13}}) {
      const session::TimeAnswer a = time(p.launch(::svdquant::variant(kernel), build()));
      if (first == 0) first = a.us;
      row(kernel, "4352x3072x3840 rank 128", us, a, a.us, first);
    }
    fmt::print("All numbers of stages, and the post's five shapes: svdquant_stages.py.\n");
  }
};

}  // namespace

void print_articles(const std::string& kernels, uint32_t most) {
  const Articles all{kernels, most};
  all.tiles();
  all.steps();
  all.stages();
  all.ladder();
}

}  // namespace bitwell::articles
