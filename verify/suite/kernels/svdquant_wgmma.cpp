#include "verify/suite/kernels/svdquant_wgmma.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/gemm/launch.h"
#include "kernels/svdquant/wgmma.h"
#include "model/machine/arch.h"
#include "verify/oracle/epilogue.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/halves.h"
#include "verify/suite/kernels/hopper.h"
#include "verify/suite/parallel.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

using svdquant::Definition;
using svdquant::HopperVariant;

constexpr int kCtas = 2;  // of the cases

std::vector<uint32_t> rank_row(const std::vector<uint16_t>& lora, int row, int rank) {
  const auto from = lora.begin() + static_cast<std::ptrdiff_t>(row) * rank;
  return {from, from + rank};
}

// `sum` and LoRA's products, 16 of the rank after 16.
float add_lora(float sum, const std::vector<uint32_t>& down, const std::vector<uint32_t>& up, bool bf16) {
  static constexpr oracle::FusedDot kWgmma{16, 25, 0, -133};  // fp16 and bf16, fp32 sums
  const oracle::FieldFormat format =
      bf16 ? oracle::FieldFormat{8, 7, 127, 1, 0} : oracle::FieldFormat{5, 10, 15, 1, 0};
  return std::bit_cast<float>(
      oracle::fused_dot(kWgmma, format, down, format, up, std::bit_cast<uint32_t>(sum)));
}

// y of the main sum and a column's LoRA operands, scale and bias.
uint16_t finished(const HopperVariant& v, float main, const std::vector<uint32_t>& down,
                  const std::vector<uint32_t>& up, float wcscale, float bias) {
  const bool apart = v.definition == Definition::apart;
  const float lora = add_lora(apart ? 0 : main, down, up, v.bf16);
  const float y = apart ? std::fma(main, wcscale, bias) + lora : std::fma(lora, wcscale, bias);
  return static_cast<uint16_t>(oracle::stored(y, v.bf16 ? oracle::Output::bf16 : oracle::Output::f16));
}

PlannedCase planned(const HopperVariant& v, const SvdquantCase& c, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  out.schedules = launch::schedules(full ? 1 : c.k >= 1024 || c.m > 128 ? 9 : 2);
  out.draw = [v, c] {
    const auto problem = std::make_shared<const SvdquantProblem>(c, v.bf16);
    DrawnCase drawn;
    drawn.result = kSvdquantWgmmaResult;
    drawn.element = 2;
    drawn.chain = [problem, v](const Build& build) {
      return svdquant_wgmma_chain(*problem, v, build, kCtas);
    };
    drawn.expected = [problem, v] { return svdquant_wgmma_expected(*problem, v); };
    drawn.errors_ulp = [problem, v](const std::vector<std::byte>& y) {
      return problem->errors_ulp(v.definition, v.bf16, y);
    };
    return drawn;
  };
  return out;
}

std::vector<PlannedCase> cases_of(const HopperVariant& v) {
  std::vector<SvdquantCase> quick;
  uint64_t seed = 7200;
  for (const auto& [data, name] : kOperandData) quick.push_back({18, 30, 320, 32, data, seed++});
  constexpr OperandData kData = OperandData::moderate;
  quick.push_back({1, 1, 64, 16, OperandData::all_codes, seed++});
  quick.push_back({5, 9, 128, 256, kData, seed++});      // more of the rank than of k
  quick.push_back({7, 80, 832, 80, kData, seed++});      // a rank that ends inside a stage
  quick.push_back({130, 134, 192, 48, kData, seed++});   // tile after tile
  quick.push_back({3, 8, 64 * 41, 128, kData, seed++});  // round the ring
  quick.push_back({33, 70, 256, 64, OperandData::cancellation, seed++});
  std::vector<PlannedCase> out;
  for (const SvdquantCase& c : quick) out.push_back(planned(v, c, false));
  // For what few cases show; no GPU records them.
  const auto directed = [&](const SvdquantCase& c, size_t under) {
    out.push_back(planned(v, c, false));
    out.back().recorded = false;
    out.back().schedules = launch::schedules(under);
  };
  uint64_t other = 7300;
  for (const int m : numbers_of_rows(v.tile_m)) directed({m, 9, 64, 16, kData, other++}, 1);
  directed({1, 8, kNineRounds, 16, kData, other++}, 8);
  directed({2 * v.tile_m + 5, 9, 128, 32, kData, other++}, 8);  // tiles below each other
  // Six tiles a CTA, which go round the ring: what gives back a stage of k or of the rank, the last or
  // another, must do so.
  for (const int rank : {256, 192, 64}) directed({1, 128 * 11 + 1, 128 + rank, rank, kData, other++}, 2);
  // The same with an odd number of stages a tile: one starts in each of six.
  for (const auto& [k, rank] : {std::pair{128, 192}, {320, 128}})
    directed({1, 128 * 11 + 1, k, rank, kData, other++}, 13);
  // The last row of `up`, of either of a thread's two, ends at every place of its registers: nothing lies
  // behind it.
  for (const int rank : {16, 32, 48, 80, 96, 112, 144, 160, 176})
    for (const int n : {1, 9}) directed({1, n, 64, rank, kData, other++}, 1);
  // The production shapes of "Implementing SVDQuant W4A4 on Blackwell", n x k and rank, two rows of them.
  for (const auto& [n, k, rank] :
       {std::array{3072, 3840, 128}, {15360, 3840, 128}, {3840, 15360, 128}, {3072, 10240, 32}})
    out.push_back(planned(v, {2, n, k, rank, kData, seed++}, true));
  return out;
}

}  // namespace

Chain svdquant_wgmma_chain(const SvdquantProblem& p, const HopperVariant& v, const Build& build, int ctas) {
  Chain out;
  out.launches.push_back(decode_launch(p.a, build));
  launch::Launch& launch = out.launches.emplace_back();
  launch.entry = v.name;
  launch.ptx = build.file("svdquant/" + launch.entry);
  launch.shape.block = {gemm::kThreads, 1, 1};
  launch.shape.grid = {static_cast<uint32_t>(ctas), 1, 1};
  // All that a CTA may have; the kernel sizes its ring by it.
  launch.shape.dynamic_shared = static_cast<uint32_t>(machine::arch(90).shared);
  const SvdquantCase& c = p.spec;
  const size_t decoded = launch.add_hidden_buffer(
      {"decoded", std::vector<std::byte>(out.launches[0].buffers[kDecoded].bytes.size()), true, true, false});
  const size_t b = launch.add_hidden_buffer({"b", p.b.codes, true, true, false});
  const size_t down = launch.add_hidden_buffer({"down", bytes_of(p.down), true, true, false});
  launch.add_tensor_map(decoded, decoded_map(c.m, c.k, 1, v.tile_m));
  launch.add_tensor_map(b, code_bytes_map(c.n, c.k, 1));
  launch.add_tensor_map(
      down, box3(v.bf16 ? machine::TensorType::bf16 : machine::TensorType::f16, 2, {c.rank, c.m, 1},
                 c.rank * 2, {gemm::kStep, static_cast<uint32_t>(v.tile_m)}, machine::TensorSwizzle::b128));
  launch.add_buffer({"sfb", p.b.scales, true, true, false});
  launch.add_buffer({"up", bytes_of(p.up), true, true, false});
  launch.add_buffer({"wcscale", bytes_of(p.wcscale), true, true, false});
  launch.add_buffer({"bias", bytes_of(p.bias), true, true, false});
  launch.add_buffer({"y", std::vector<std::byte>(u(c.m) * u(c.n) * 2), false, false, true});
  for (const int size : {c.m, c.n, c.k, c.rank}) launch.add_scalar(size);
  out.last_overlaps = true;
  out.links.push_back({0, kDecoded, 1, decoded});
  return out;
}

uint16_t svdquant_wgmma_element(const SvdquantProblem& p, const HopperVariant& v, int m, int n) {
  const auto main = std::bit_cast<float>(wgmma_sum(p.a.row(0, m), p.b.row(0, n)));
  return finished(v, main, rank_row(p.down, m, p.spec.rank), rank_row(p.up, n, p.spec.rank),
                  value_of(p.wcscale[u(n)], v.bf16), value_of(p.bias[u(n)], v.bf16));
}

std::vector<std::byte> svdquant_wgmma_expected(const SvdquantProblem& p, const HopperVariant& v) {
  const std::vector<uint32_t> main = wgmma_sums(p.a, p.b, false).sums;
  std::vector<std::byte> out(main.size() * 2);
  std::vector<std::vector<uint32_t>> up;
  for (int n = 0; n < p.spec.n; ++n) up.push_back(rank_row(p.up, n, p.spec.rank));
  each_in_parallel(u(p.spec.m), 0, [&](size_t m) {
    const std::vector<uint32_t> down = rank_row(p.down, static_cast<int>(m), p.spec.rank);
    for (size_t n = 0; n < up.size(); ++n) {
      const size_t at = m * up.size() + n;
      const uint16_t word = finished(v, std::bit_cast<float>(main[at]), down, up[n],
                                     value_of(p.wcscale[n], v.bf16), value_of(p.bias[n], v.bf16));
      std::memcpy(&out[2 * at], &word, 2);
    }
  });
  return out;
}

std::vector<Kernel> svdquant_wgmma_kernels() {
  std::vector<Kernel> out;
  for (const HopperVariant& v : svdquant::kHopperVariants) {
    Kernel& k = out.emplace_back();
    k.name = k.full_name = v.name;
    k.archs = {"sm_90a"};
    k.entries = {{"svdquant/" + k.name.substr(9), "svdquant/" + k.name, k.name}};
    if (&v != svdquant::kHopperVariants) k.entries[0].unlike = "svdquant/svdquant_wgmma";
    k.cases = [v] { return cases_of(v); };
    k.reserves = ring_reserves(v.tile_m, 1, 0);
    k.another = [v](uint64_t seed) { return planned(v, svdquant_random_case(seed), false); };
  }
  return out;
}

}  // namespace bitwell::suite
