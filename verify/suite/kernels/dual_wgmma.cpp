#include "verify/suite/kernels/dual_wgmma.h"

#include <bit>
#include <cstring>

#include "kernels/gemm/launch.h"
#include "model/machine/arch.h"
#include "verify/oracle/gated.h"
#include "verify/oracle/gemm.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/hopper.h"
#include "verify/suite/once.h"

namespace bitwell::suite {
namespace {

std::shared_ptr<const DualSums> sums(const DualProblem& p) {
  DualCase key = p.spec;
  key.ctas = 2;
  return once<DualSums>("wgmma " + key.describe() + (p.spec.exact ? " exact" : ""), [&] {
    return DualSums{wgmma_sums(p.a, p.b1, p.spec.exact), wgmma_sums(p.a, p.b2, p.spec.exact)};
  });
}

PlannedCase planned(const DualCase& c, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  out.schedules = launch::schedules(full ? 1 : c.k >= 2048 || c.m > 256 ? 9 : 2);
  out.draw = [c] {
    const auto problem = std::make_shared<const DualProblem>(c);
    DrawnCase drawn;
    drawn.result = kDualWgmmaResult;
    drawn.element = 2;
    drawn.chain = [problem](const Build& build) {
      return dual_wgmma_chain(*problem, build, problem->spec.ctas);
    };
    drawn.expected = [problem] { return dual_wgmma_expected(*problem); };
    drawn.errors_ulp = [problem](const std::vector<std::byte>& d) {
      return dual_wgmma_errors_ulp(*problem, d);
    };
    return drawn;
  };
  return out;
}

std::vector<PlannedCase> cases() {
  std::vector<PlannedCase> out;
  for (const DualCase& c : dual_cases()) out.push_back(planned(c, false));
  for (const DualCase& c : dual_contest_cases())
    if (c.exact || c.m == 512) out.push_back(planned(c, !c.exact));
  // For what few cases show; no GPU records them.
  uint64_t seed = 5200;
  const auto directed = [&](const DualCase& c, size_t under) {
    out.push_back(planned(c, false));
    out.back().recorded = false;
    out.back().schedules = launch::schedules(under);
  };
  for (const int m : numbers_of_rows(128)) directed({m, 9, 64, 1, OperandData::moderate, seed++, 1}, 1);
  // silu of each of a thread's 64 elements some thousand times: a mistake in one's last bits shows in few,
  // and these are seeds where two do.
  for (const uint64_t one : {5232, 5268})
    directed({512, 1024, 64, 1, OperandData::contest_dual, one, 2, false}, 1);
  return out;
}

}  // namespace

Chain dual_wgmma_chain(const DualProblem& p, const Build& build, int ctas) {
  Chain out;
  out.launches.push_back(decode_launch(p.a, build));
  launch::Launch& launch = out.launches.emplace_back();
  launch.ptx = build.file("dual/dual_wgmma");
  launch.entry = "dual_wgmma";
  launch.shape.block = {gemm::kThreads, 1, 1};
  launch.shape.grid = {static_cast<uint32_t>(ctas), 1, 1};
  // All that a CTA may have; the kernel sizes its ring by it.
  launch.shape.dynamic_shared = static_cast<uint32_t>(machine::arch(90).shared);
  const DualCase& c = p.spec;
  const size_t decoded = launch.add_hidden_buffer(
      {"decoded", std::vector<std::byte>(out.launches[0].buffers[kDecoded].bytes.size()), true, true, false});
  const size_t b1 = launch.add_hidden_buffer({"b1", p.b1.codes, true, true, false});
  const size_t b2 = launch.add_hidden_buffer({"b2", p.b2.codes, true, true, false});
  launch.add_tensor_map(decoded, decoded_map(c.m, c.k, c.l, gemm::kTileN));
  launch.add_tensor_map(b1, code_bytes_map(c.n, c.k, c.l));
  launch.add_tensor_map(b2, code_bytes_map(c.n, c.k, c.l));
  launch.add_buffer({"sfb1", p.b1.scales, true, true, false});
  launch.add_buffer({"sfb2", p.b2.scales, true, true, false});
  const auto outputs = static_cast<size_t>(c.l) * static_cast<size_t>(c.m) * static_cast<size_t>(c.n);
  launch.add_buffer({"d", std::vector<std::byte>(outputs * 2), false, false, true});
  for (const int size : {c.m, c.n, c.k, c.l}) launch.add_scalar(size);
  out.last_overlaps = true;
  out.links.push_back({0, kDecoded, 1, decoded});
  return out;
}

uint16_t dual_wgmma_element(uint32_t gate, uint32_t up) {
  const float d = oracle::silu(std::bit_cast<float>(gate)) * std::bit_cast<float>(up);
  return static_cast<uint16_t>(oracle::stored(d, oracle::Output::f16));
}

std::vector<std::byte> dual_wgmma_expected(const DualProblem& problem) {
  const std::shared_ptr<const DualSums> all = sums(problem);
  std::vector<std::byte> out(all->gate.sums.size() * 2);
  for (size_t i = 0; i < all->gate.sums.size(); ++i) {
    const uint16_t word = dual_wgmma_element(all->gate.sums[i], all->up.sums[i]);
    std::memcpy(&out[2 * i], &word, 2);
  }
  return out;
}

std::vector<double> dual_wgmma_errors_ulp(const DualProblem& problem, const std::vector<std::byte>& outputs) {
  std::vector<double> out;
  const std::shared_ptr<const DualSums> all = sums(problem);
  for (size_t i = 0; i < all->gate.exact.size(); ++i) {
    uint16_t word = 0;
    std::memcpy(&word, &outputs[2 * i], 2);
    out.push_back(oracle::gated_error_ulp(word, all->gate.exact[i], all->up.exact[i]));
  }
  return out;
}

Kernel dual_wgmma_kernel() {
  Kernel out;
  out.name = out.full_name = "dual_wgmma";
  out.archs = {"sm_90a"};
  out.entries = {{"dual/wgmma", "dual/dual_wgmma", "dual_wgmma"}};
  out.cases = cases;
  out.reserves = ring_reserves(gemm::kTileN, 2, 0);
  out.another = [](uint64_t seed) { return planned(dual_random_case(gemm::kTileN, seed), false); };
  return out;
}

}  // namespace bitwell::suite
