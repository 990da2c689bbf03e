#include "verify/suite/kernels/grouped_wgmma.h"

#include <bit>
#include <cstring>

#include "kernels/gemm/launch.h"
#include "kernels/grouped/launch.h"
#include "model/machine/arch.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "verify/oracle/gemm.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/hopper.h"
#include "verify/suite/once.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

constexpr const char* kModule = "grouped/grouped_wgmma";

const char* name_of(grouped::Maker maker) {
  return maker == grouped::Maker::host ? "grouped_wgmma" : "grouped_wgmma_device";
}

// All groups' operands of a kind, one after another.
launch::Buffer joined(const char* name, const std::vector<Nvfp4Operand>& operands,
                      std::vector<std::byte> Nvfp4Operand::*member) {
  launch::Buffer out{name, {}, true, true, false};
  for (const Nvfp4Operand& o : operands)
    out.bytes.insert(out.bytes.end(), (o.*member).begin(), (o.*member).end());
  return out;
}

launch::Buffer table(const grouped::Metadata& of) {
  launch::Buffer out{"groups", std::vector<std::byte>(of.groups.size() * sizeof(grouped::Group)), true, true,
                     false};
  std::memcpy(out.bytes.data(), of.groups.data(), out.bytes.size());
  return out;
}

launch::Launch decode(const GroupedProblem& p, const grouped::Metadata& of, const Build& build) {
  launch::Launch out;
  out.ptx = build.file(kModule);
  out.entry = "grouped_wgmma_decode";
  const int most_m = *std::max_element(p.spec.m.begin(), p.spec.m.end());
  const int most_k = *std::max_element(p.spec.k.begin(), p.spec.k.end());
  out.shape.block = {gemm::kPrepareThreads, 1, 1};
  out.shape.grid = {w(32 * gemm::up(most_m, 128)), w(gemm::up(most_k / 8, gemm::kPrepareThreads)),
                    w(static_cast<int>(p.a.size()))};
  out.add_buffer(joined("a", p.a, &Nvfp4Operand::codes));
  out.add_buffer(joined("sfa", p.a, &Nvfp4Operand::scales));
  out.add_buffer({"decoded", std::vector<std::byte>(4 * out.buffers[0].bytes.size()), false, false, true});
  out.add_buffer(table(of));
  return out;
}

machine::TensorMap map_of_a(const GroupedProblem& p, size_t group) {
  return decoded_map(p.spec.m[group], p.spec.k[group], 1, nvfp4::kRows);
}
machine::TensorMap map_of_b(const GroupedProblem& p, size_t group) {
  return code_bytes_map(p.spec.n[group], p.spec.k[group], 1);
}

// The tensor maps of all groups, as grouped::HopperMaps has them.
launch::Argument maps(const GroupedProblem& p, const grouped::Metadata& of, size_t decoded, size_t b) {
  constexpr size_t kBytes = sizeof(machine::TensorMapBytes), kGroups = grouped::kMostGroups;
  launch::Argument out;
  out.scalar.resize(2 * kGroups * kBytes);
  for (size_t g = 0; g < p.a.size(); ++g) {
    machine::TensorMap of_a = map_of_a(p, g);
    of_a.address = static_cast<uint64_t>(4 * of.groups[g].a);
    machine::TensorMap of_b = map_of_b(p, g);
    of_b.address = static_cast<uint64_t>(of.groups[g].b);
    out.pointers.push_back({g * kBytes, decoded, 0, of_a});
    out.pointers.push_back({(kGroups + g) * kBytes, b, 0, of_b});
  }
  return out;
}

std::shared_ptr<const std::vector<Nvfp4Sums>> sums(const GroupedProblem& p) {
  GroupedCase key = p.spec;
  key.ctas = 2;
  return once<std::vector<Nvfp4Sums>>("wgmma " + key.describe() + (p.spec.exact ? " exact" : ""), [&] {
    std::vector<Nvfp4Sums> out;
    for (size_t g = 0; g < p.a.size(); ++g) out.push_back(wgmma_sums(p.a[g], p.b[g], p.spec.exact));
    return out;
  });
}

PlannedCase planned(grouped::Maker maker, const GroupedCase& c, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  out.schedules = launch::schedules(full ? 1 : c.m.size() > 2 ? 9 : 2);
  out.draw = [maker, c] {
    const auto problem = std::make_shared<const GroupedProblem>(c);
    DrawnCase drawn;
    drawn.result = kGroupedWgmmaResult;
    drawn.element = 2;
    drawn.chain = [maker, problem](const Build& build) {
      return grouped_wgmma_chain(*problem, build, problem->spec.ctas, maker);
    };
    drawn.expected = [problem] { return grouped_wgmma_expected(*problem); };
    drawn.errors_ulp = [problem](const std::vector<std::byte>& d) {
      return grouped_wgmma_errors_ulp(*problem, d);
    };
    return drawn;
  };
  return out;
}

std::vector<PlannedCase> cases(grouped::Maker maker) {
  std::vector<PlannedCase> out;
  for (const GroupedCase& c : grouped_cases()) out.push_back(planned(maker, c, false));
  const std::vector<GroupedCase> contest = grouped_contest_cases();
  for (size_t i = 0; i < contest.size(); ++i) out.push_back(planned(maker, contest[i], i != 0 && i != 8));
  // For what few cases show; no GPU records them.
  uint64_t seed = 6200;
  const auto directed = [&](const GroupedCase& c, size_t under) {
    out.push_back(planned(maker, c, false));
    out.back().recorded = false;
    out.back().schedules = launch::schedules(under);
  };
  for (const int m : numbers_of_rows(128)) directed({{m}, {9}, {64}, OperandData::moderate, seed++, 1}, 1);
  // A last group of one whole tile beside a taller one: nothing lies behind its scales.
  directed({{130, 128}, {1, 1}, {64, 64}, OperandData::moderate, seed++, 1}, 1);
  directed({{1}, {8}, {kNineRounds}, OperandData::moderate, seed++, 1}, 8);
  return out;
}

}  // namespace

Chain grouped_wgmma_chain(const GroupedProblem& p, const Build& build, int ctas, grouped::Maker maker) {
  const grouped::Metadata of = p.metadata();
  Chain out;
  out.launches.push_back(decode(p, of, build));
  launch::Launch& launch = out.launches.emplace_back();
  launch.ptx = build.file(kModule);
  launch.entry = name_of(maker);
  launch.shape.block = {gemm::kThreads, 1, 1};
  launch.shape.grid = {w(ctas), 1, 1};
  // All that a CTA may have; the kernel sizes its ring by it.
  launch.shape.dynamic_shared = static_cast<uint32_t>(machine::arch(90).shared);
  const size_t decoded = launch.add_hidden_buffer(
      {"decoded", std::vector<std::byte>(out.launches[0].buffers[kDecoded].bytes.size()), true, true, false});
  const size_t b = launch.add_hidden_buffer(joined("b", p.b, &Nvfp4Operand::codes));
  if (maker == grouped::Maker::host) {
    launch.arguments.push_back(maps(p, of, decoded, b));
  } else {
    launch.add_tensor_map(decoded, map_of_a(p, 0));
    launch.add_tensor_map(b, map_of_b(p, 0));
    for (const size_t buffer : {decoded, b}) launch.arguments.push_back({{}, buffer});
  }
  launch.add_buffer(joined("sfb", p.b, &Nvfp4Operand::scales));
  size_t outputs = 0;
  for (size_t g = 0; g < p.a.size(); ++g) outputs += u(p.spec.m[g]) * u(p.spec.n[g]);
  launch.add_buffer({"d", std::vector<std::byte>(outputs * 2), false, false, true});
  launch.add_buffer(table(of));
  launch.add_scalar(static_cast<int>(p.a.size()));
  if (maker == grouped::Maker::device)
    launch.add_buffer(
        {"made", std::vector<std::byte>(u(ctas) * 2 * sizeof(machine::TensorMapBytes)), false, false, false});
  out.last_overlaps = true;
  out.links.push_back({0, kDecoded, 1, decoded});
  return out;
}

Chain grouped_wgmma_chain(const GroupedProblem& p, const Build& build, int ctas) {
  return grouped_wgmma_chain(p, build, ctas, grouped::Maker::host);
}

std::vector<std::byte> grouped_wgmma_expected(const GroupedProblem& problem) {
  std::vector<std::byte> out;
  for (const Nvfp4Sums& group : *sums(problem))
    for (const uint32_t sum : group.sums) {
      const uint32_t word = oracle::stored(std::bit_cast<float>(sum), oracle::Output::f16);
      out.push_back(static_cast<std::byte>(word));
      out.push_back(static_cast<std::byte>(word >> 8));
    }
  return out;
}

std::vector<double> grouped_wgmma_errors_ulp(const GroupedProblem& problem,
                                             const std::vector<std::byte>& outputs) {
  std::vector<double> out;
  for (const Nvfp4Sums& group : *sums(problem))
    for (const oracle::ExactDot& exact : group.exact) {
      uint16_t word = 0;
      std::memcpy(&word, &outputs[2 * out.size()], 2);
      out.push_back(oracle::error_ulp(word, exact));
    }
  return out;
}

std::vector<Kernel> grouped_wgmma_kernels() {
  std::vector<Kernel> out;
  for (const grouped::Maker maker : {grouped::Maker::host, grouped::Maker::device}) {
    Kernel& k = out.emplace_back();
    k.name = k.full_name = name_of(maker);
    k.archs = {"sm_90a"};
    k.entries = {{"grouped/" + k.name.substr(8), kModule, k.name}};
    if (maker == grouped::Maker::host)
      k.entries.insert(k.entries.begin(),
                       {"grouped/wgmma_decode", kModule, "grouped_wgmma_decode", "gemm/prepare"});
    k.cases = [maker] { return cases(maker); };
    k.reserves = ring_reserves(gemm::kTileN, 1, maker == grouped::Maker::device ? 2 : 0);
    k.another = [maker](uint64_t seed) { return planned(maker, grouped_random_case(seed), false); };
  }
  return out;
}

}  // namespace bitwell::suite
