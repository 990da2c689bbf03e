#include "experiments/gpu/hopper_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>

#include "kernels/svdquant/wgmma.h"
#include "model/machine/failure.h"
#include "verify/oracle/gemm.h"
#include "verify/suite/kernels/dual_wgmma.h"
#include "verify/suite/kernels/grouped_wgmma.h"
#include "verify/suite/kernels/hopper.h"
#include "verify/suite/kernels/svdquant_wgmma.h"

namespace bitwell::gpu {
namespace {

constexpr suite::OperandData kData = suite::OperandData::moderate;

size_t u(int v) { return static_cast<size_t>(v); }
double flops(int m, int n, int k) { return 2.0 * m * n * k; }
int below(std::mt19937_64& random, int n) { return static_cast<int>(random() % u(n)); }
// What the i-th dequantiser leaves.
Half dequantised(size_t i) { return {false, i, 2}; }

SpeedCase grouped(const std::vector<int>& m, int n, int k, const suite::Build& build, int ctas) {
  const std::vector<int> all_n(m.size(), n), all_k(m.size(), k);
  const auto p = std::make_shared<const suite::GroupedProblem>(
      suite::GroupedCase{m, all_n, all_k, kData, 7, ctas, false});
  SpeedCase out;
  out.shape = fmt::format("[{}]x{}x{}", fmt::join(m, " "), n, k);
  out.kernel = "grouped_wgmma";
  out.flops = 0;
  out.chain = suite::grouped_wgmma_chain(*p, build, ctas);
  out.result = suite::kGroupedWgmmaResult;
  for (size_t g = 0; g < m.size(); ++g) {
    out.flops += flops(m[g], n, k);
    out.operands.push_back(p->a[g]);
    out.operands.push_back(p->b[g]);
    out.products.push_back({{m[g], n, k, 1}, dequantised(2 * g), dequantised(2 * g + 1)});
  }
  out.element = [p, m, n](std::mt19937_64& random) {
    const size_t g = random() % m.size();
    const int row = below(random, m[g]), column = below(random, n);
    const auto sum = std::bit_cast<float>(suite::wgmma_sum(p->a[g].row(0, row), p->b[g].row(0, column)));
    const size_t first = static_cast<size_t>(p->metadata().groups[g].d);
    return std::pair(first + u(row) * u(n) + u(column),
                     static_cast<uint16_t>(oracle::stored(sum, oracle::Output::f16)));
  };
  return out;
}

SpeedCase dual(int m, int n, int k, const suite::Build& build, int ctas) {
  const auto p =
      std::make_shared<const suite::DualProblem>(suite::DualCase{m, n, k, 1, kData, 7, ctas, false});
  SpeedCase out;
  out.shape = fmt::format("{}x{}x{}", m, n, k);
  out.kernel = "dual_wgmma";
  out.flops = 2 * flops(m, n, k);
  out.chain = suite::dual_wgmma_chain(*p, build, ctas);
  out.result = suite::kDualWgmmaResult;
  out.operands = {p->a, p->b1, p->b2};
  out.products = {{{m, n, k, 1}, dequantised(0), dequantised(1)},
                  {{m, n, k, 1}, dequantised(0), dequantised(2)}};
  out.element = [p, m, n](std::mt19937_64& random) {
    const int row = below(random, m), column = below(random, n);
    const auto a = p->a.row(0, row);
    return std::pair(u(row) * u(n) + u(column),
                     suite::dual_wgmma_element(suite::wgmma_sum(a, p->b1.row(0, column)),
                                               suite::wgmma_sum(a, p->b2.row(0, column))));
  };
  return out;
}

SpeedCase svdquant(int m, int n, int k, int rank, const ::svdquant::HopperVariant& v,
                   const suite::Build& build, int ctas) {
  const auto p =
      std::make_shared<const suite::SvdquantProblem>(suite::SvdquantCase{m, n, k, rank, kData, 7}, v.bf16);
  SpeedCase out;
  out.shape = fmt::format("{}x{}x{} rank {}", m, n, k, rank);
  out.kernel = v.name;
  out.flops = flops(m, n, k) + flops(m, n, rank);
  out.chain = suite::svdquant_wgmma_chain(*p, v, build, ctas);
  out.result = suite::kSvdquantWgmmaResult;
  out.operands = {p->a, p->b};
  const auto buffer = [&](const char* name) -> Half {
    const auto& buffers = out.chain.launches[1].buffers;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].name == name) return {true, 1, i};
    throw machine::ModelBug(std::string("no buffer ") + name);
  };
  out.products = {{{m, n, k, 1}, dequantised(0), dequantised(1)},
                  {{m, n, rank, 1}, buffer("down"), buffer("up")}};
  out.element = [p, v, m, n](std::mt19937_64& random) {
    const int row = below(random, m), column = below(random, n);
    return std::pair(u(row) * u(n) + u(column), suite::svdquant_wgmma_element(*p, v, row, column));
  };
  return out;
}

}  // namespace

std::vector<std::function<SpeedCase()>> hopper_cases(std::string_view family, const std::string& kernels,
                                                     int ctas) {
  const suite::Build build{kernels, "sm_90a"};
  std::vector<std::function<SpeedCase()>> out;
  if (family == "grouped") {  // those that the contest timed
    for (const auto& [m, n, k] : {std::tuple{std::vector{80, 176, 128, 72, 64, 248, 96, 160}, 4096, 7168},
                                  {{40, 76, 168, 72, 164, 148, 196, 160}, 7168, 2048},
                                  {{192, 320}, 3072, 4096},
                                  {{128, 384}, 4096, 1536}})
      out.push_back([=] { return grouped(m, n, k, build, ctas); });
  } else if (family == "dual") {  // those that the contest timed
    for (const auto& [m, n, k] :
         {std::array{256, 4096, 7168}, {512, 4096, 7168}, {256, 3072, 4096}, {512, 3072, 7168}})
      out.push_back([=] { return dual(m, n, k, build, ctas); });
  } else if (family == "svdquant") {  // the production shapes of "Implementing SVDQuant W4A4 on Blackwell"
    for (const auto& [n, k, rank] :
         {std::array{3072, 3840, 128}, {15360, 3840, 128}, {3840, 15360, 128}, {3072, 10240, 32}})
      out.push_back([=] { return svdquant(4352, n, k, rank, ::svdquant::kHopperVariants[0], build, ctas); });
  } else {
    throw machine::InputError("no family '" + std::string(family) + "'; there are grouped, dual, svdquant");
  }
  return out;
}

}  // namespace bitwell::gpu
