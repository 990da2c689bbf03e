// The grouped NVFP4 GEMM of kernels/grouped: problems, cases and suite. No B200 has run these kernels: their
// arithmetic is the oracle's of tcgen05, which agrees with every published word.
#include "verify/suite/kernels/grouped.h"

#include <array>
#include <bit>
#include <cstring>
#include <random>

#include "kernels/grouped/launch.h"
#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/grouped_wgmma.h"
#include "verify/suite/nvfp4/nvfp4_maps.h"
#include "verify/suite/once.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

using machine::InputError;

std::string list_of(const std::vector<int>& values) {
  std::string out;
  for (const int v : values) out += (out.empty() ? "" : ",") + std::to_string(v);
  return out;
}

void check(const GroupedCase& c) {
  const size_t count = c.m.size();
  if (c.n.size() != count || c.k.size() != count)
    throw InputError("grouped takes an m, an n and a k for each group; got " + std::to_string(count) + ", " +
                     std::to_string(c.n.size()) + " and " + std::to_string(c.k.size()));
  if (count == 0 || count > grouped::kMostGroups)
    throw InputError("grouped takes 1 to " + std::to_string(grouped::kMostGroups) + " groups a launch; got " +
                     std::to_string(count) + ": split the list into several launches");
  for (size_t g = 0; g < count; ++g) {
    const std::string who = "group " + std::to_string(g) + " of " + std::to_string(count);
    if (c.m[g] < 1 || c.n[g] < 1)
      throw InputError(who + " is empty: m = " + std::to_string(c.m[g]) + ", n = " + std::to_string(c.n[g]) +
                       "; leave it out of the lists");
    if (c.k[g] < nvfp4::kStep || c.k[g] % nvfp4::kStep != 0)
      throw InputError(who + " has k = " + std::to_string(c.k[g]) +
                       "; grouped takes positive multiples of 64: pad A and B with zeros");
  }
  if (c.ctas < 1) throw InputError("grouped's CTAs are 1 or more; got " + std::to_string(c.ctas));
}

}  // namespace

std::string GroupedCase::describe() const {
  return "m=" + list_of(m) + " n=" + list_of(n) + " k=" + list_of(k) + " " + std::string(name_of(data)) +
         " seed " + std::to_string(seed) + (ctas != 2 ? " CTAs " + std::to_string(ctas) : "");
}

GroupedProblem::GroupedProblem(const GroupedCase& c) : spec(c) {
  check(c);
  OperandSource source(c.data, c.seed);
  for (size_t g = 0; g < c.m.size(); ++g) {
    a.emplace_back(source, true, c.m[g], c.k[g], 1, ScaleLayout::blocked);
    b.emplace_back(source, false, c.n[g], c.k[g], 1, ScaleLayout::blocked);
  }
}

grouped::Metadata GroupedProblem::metadata() const { return grouped::metadata(spec.m, spec.n, spec.k); }

launch::Launch GroupedProblem::launch(const grouped::Variant& v, const Build& build,
                                      const grouped::Metadata& of) const {
  launch::Launch out;
  out.entry = v.name;
  out.ptx = build.file("grouped/" + out.entry);
  out.shape.block = {grouped::kThreads, 1, 1};
  const int ctas = v.tiles == grouped::Tiles::persistent ? spec.ctas : of.tiles;
  out.shape.grid = {w(ctas), 1, 1};
  out.shape.dynamic_shared = w(v.shared_bytes());
  const auto joined = [&](const char* name, const std::vector<Nvfp4Operand>& operands, auto member) {
    launch::Buffer all{name, {}, true, true, false};
    for (const Nvfp4Operand& o : operands)
      all.bytes.insert(all.bytes.end(), (o.*member).begin(), (o.*member).end());
    out.add_hidden_buffer(std::move(all));
  };
  joined("a", a, &Nvfp4Operand::codes);
  joined("b", b, &Nvfp4Operand::codes);
  joined("sfa", a, &Nvfp4Operand::scales);
  joined("sfb", b, &Nvfp4Operand::scales);
  const auto map = [&](size_t buffer, machine::TensorMap made, long long offset) {
    made.address = static_cast<uint64_t>(offset);
    out.add_tensor_map(buffer, made);
  };
  for (size_t i = 0; i < grouped::kMostGroups; ++i) {
    const size_t g = i < of.groups.size() && i < a.size() ? i : 0;
    const grouped::Group& group = of.groups[g];
    map(0, code_map(a[g], nvfp4::kRows), group.a);
    map(1, code_map(b[g], grouped::kTileN), group.b);
    map(2, scale_map(a[g]), group.sfa);
    map(3, scale_map(b[g]), group.sfb);
  }
  for (size_t i = 0; i < 4; ++i) out.arguments.push_back({{}, i});
  out.add_buffer(
      {"made", std::vector<std::byte>(u(ctas) * 4 * sizeof(machine::TensorMapBytes)), false, false, false});
  size_t outputs = 0;
  for (size_t g = 0; g < a.size(); ++g) outputs += u(spec.m[g]) * u(spec.n[g]);
  out.add_buffer({"d", std::vector<std::byte>(outputs * 2), false, false, true});
  launch::Buffer table{"groups", std::vector<std::byte>(of.groups.size() * sizeof(grouped::Group)), true,
                       true, false};
  std::memcpy(table.bytes.data(), of.groups.data(), table.bytes.size());
  out.add_buffer(std::move(table));
  out.add_scalar(static_cast<int>(of.groups.size()));
  return out;
}

std::shared_ptr<const std::vector<Nvfp4Sums>> GroupedProblem::sums() const {
  GroupedCase key = spec;
  key.ctas = 2;
  return once<std::vector<Nvfp4Sums>>(key.describe() + (spec.exact ? " exact" : ""), [&] {
    std::vector<Nvfp4Sums> out;
    for (size_t g = 0; g < a.size(); ++g) out.push_back(nvfp4_sums(a[g], b[g], spec.exact));
    return out;
  });
}

std::vector<std::byte> GroupedProblem::expected() const {
  std::vector<std::byte> out;
  for (const Nvfp4Sums& group : *sums())
    for (const uint32_t sum : group.sums) {
      const uint32_t word = oracle::stored(std::bit_cast<float>(sum), oracle::Output::f16);
      out.push_back(static_cast<std::byte>(word));
      out.push_back(static_cast<std::byte>(word >> 8));
    }
  return out;
}

std::vector<double> GroupedProblem::errors_ulp(const std::vector<std::byte>& outputs) const {
  std::vector<double> out;
  for (const Nvfp4Sums& group : *sums())
    for (const oracle::ExactDot& exact : group.exact) {
      uint16_t word = 0;
      std::memcpy(&word, &outputs[2 * out.size()], 2);
      out.push_back(oracle::error_ulp(word, exact));
    }
  return out;
}

namespace {

PlannedCase planned(const grouped::Variant& v, const GroupedCase& c, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  out.schedules = launch::schedules(full                                                      ? 1
                                    : v.tiles == grouped::Tiles::persistent && c.m.size() > 2 ? 9
                                                                                              : 2);
  out.draw = [v, c] {
    const auto problem = std::make_shared<const GroupedProblem>(c);
    DrawnCase drawn;
    drawn.result = kGroupedResult;
    drawn.element = 2;
    drawn.chain = [problem, v](const Build& build) {
      return Chain{{problem->launch(v, build, problem->metadata())}, {}};
    };
    drawn.expected = [problem] { return problem->expected(); };
    drawn.errors_ulp = [problem](const std::vector<std::byte>& d) { return problem->errors_ulp(d); };
    return drawn;
  };
  return out;
}

// One that a device run does not record, under that many schedules.
PlannedCase directed(const grouped::Variant& v, const GroupedCase& c, size_t under) {
  PlannedCase out = planned(v, c, false);
  out.recorded = false;
  out.schedules = launch::schedules(under);
  return out;
}

std::vector<PlannedCase> cases_of(const grouped::Variant& v) {
  std::vector<PlannedCase> out;
  for (const GroupedCase& c : grouped_cases()) out.push_back(planned(v, c, false));
  const std::vector<GroupedCase> contest = grouped_contest_cases();
  // The first and the ninth shape on every run.
  for (size_t i = 0; i < contest.size(); ++i) out.push_back(planned(v, contest[i], i != 0 && i != 8));
  uint64_t seed = 6016;
  // The last column at every place among the sixteen that a thread takes at a time; the other cases have 0,
  // 1, 2, 8 and 9.
  out.push_back(directed(v,
                         {{2, 2, 2, 2, 2, 2, 2, 2},
                          {3, 4, 5, 6, 7, 10, 11, 12},
                          {64, 64, 64, 64, 64, 64, 64, 64},
                          OperandData::moderate,
                          seed++},
                         2));
  // As many stages as leave one of the ring a phase ahead of the others when they are waited for at the end,
  // in CTAs of one tile and where three follow each other; under schedules at random too, which let a
  // multiplication overtake a copy, and all that is under way the thread that waits for it.
  out.push_back(
      directed(v, {{2, 2, 2}, {13, 14, 15}, {1088, 320, 320}, OperandData::moderate, seed++, 1}, 24));
  return out;
}

Kernel kernel_of(const grouped::Variant& v) {
  Kernel out;
  out.name = out.full_name = v.name;
  out.entries = {{"grouped/" + out.name.substr(8), "grouped/" + out.name, out.name}};
  if (&v != grouped::kVariants) out.entries[0].unlike = "grouped/grouped_sequential";
  out.cases = [v] { return cases_of(v); };
  out.reserves = Reserves{"grouped",
                          {{"tile_n", grouped::kTileN},
                           {"accumulators", v.accumulators()},
                           {"device_maps", v.maker == grouped::Maker::device ? 1 : 0},
                           {"most_stages", v.stages}},
                          v.stages,
                          v.shared_bytes(),
                          v.columns()};
  out.another = [v](uint64_t seed) { return planned(v, grouped_random_case(seed), false); };
  return out;
}

}  // namespace

std::vector<GroupedCase> grouped_cases() {
  std::vector<GroupedCase> quick;
  uint64_t seed = 6000;
  // Every kind of data; scale rows past m and n are NaN in every case.
  for (const auto& [data, name] : kOperandData) quick.push_back({{40, 7}, {136, 9}, {320, 64}, data, seed++});
  quick.push_back({{1}, {1}, {64}, OperandData::all_codes, seed++});
  quick.push_back({{40, 56, 64, 72}, {24, 40, 130, 8}, {128, 256, 64, 512}, OperandData::moderate, seed++});
  // As many groups as there may be, the shortest and the longest sums side by side.
  quick.push_back({{3, 129, 5, 40, 1, 72, 8, 20},
                   {8, 24, 130, 1, 17, 9, 32, 16},
                   {64, 128, 2624, 192, 320, 64, 1088, 256},
                   OperandData::moderate,
                   seed++,
                   3});
  quick.push_back(
      {{20, 9}, {72, 40}, {64 * 41, 64}, OperandData::swamped_tiles, seed++, 1});  // round every ring
  quick.push_back({{9}, {24}, {128}, OperandData::one_zero, seed++});
  return quick;
}

std::vector<GroupedCase> grouped_contest_cases() {
  // m, n and k of each group.
  static const std::vector<std::array<std::vector<int>, 3>> kShapes{
      {{{96, 128}, {128, 256}, {256, 512}}},
      {{{256, 72}, {512, 384}, {256, 256}}},
      {{{128, 128}, {128, 256}, {512, 256}}},
      {{{80, 128, 256}, {384, 256, 128}, {256, 512, 256}}},
      {{{64, 72, 96}, {128, 384, 512}, {512, 512, 256}}},
      {{{64, 256, 128}, {768, 128, 256}, {512, 256, 512}}},
      {{{128, 128, 64}, {256, 512, 512}, {768, 256, 768}}},
      {{{128, 128, 128, 128}, {128, 128, 128, 128}, {512, 256, 512, 256}}},
      {{{40, 56, 384, 512}, {512, 384, 256, 128}, {256, 256, 256, 256}}},
      {{{512, 384, 256, 128}, {256, 256, 256, 256}, {512, 768, 512, 768}}}};
  std::vector<GroupedCase> out;
  // Persistent kernels with fewer CTAs than tiles.
  for (const auto& [m, n, k] : kShapes)
    out.push_back({m, n, k, OperandData::contest_group, 1111, 5, out.empty()});
  return out;
}

GroupedCase grouped_random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const auto pick = [&](auto... values) {
    const std::array list{values...};
    return list[random() % list.size()];
  };
  GroupedCase c{};
  const int count = pick(1, 2, 3, grouped::kMostGroups);
  for (int g = 0; g < count; ++g) {
    c.m.push_back(pick(1, 40, 56, 64, 72, 128, 1 + below(200)));
    c.n.push_back(pick(1, 8, 128, 1 + below(150)));
    c.k.push_back(64 * pick(1, 3, 4, 5, 1 + below(20)));
  }
  c.data = pick(OperandData::contest_group, OperandData::one_zero,
                kOperandData[static_cast<size_t>(below(static_cast<int>(kOperandData.size())))].first);
  c.ctas = 1 + below(4);
  c.seed = random();
  return c;
}

Suite grouped_suite() {
  Suite out;
  out.name = "grouped";
  out.about = "the grouped NVFP4 GEMM for Blackwell and Hopper: groups of different m, n and k in one launch";
  out.description =
      "The grouped NVFP4 GEMM for Blackwell, step by step from one warp to persistent kernels that make "
      "their tensor maps "
      "themselves (kernels/README.md): ragged and adversarial groups with NaN in the padding of the scales, "
      "each under two "
      "schedules, persistent kernels under nine, a short one under 24. grouped_wgmma and "
      "grouped_wgmma_device are Hopper's. No B200 "
      "ran the others: the "
      "arithmetic is that of "
      "published words";
  out.full = "the ten test shapes of GPU MODE's NVFP4 grouped GEMM contest, its distribution of inputs";
  out.archs = {"sm_100a"};
  out.words_kind = "nvfp4";
  out.gives_word = [](const problem::Word& word) {
    return oracle::scaled_fp4_dot(word.a, word.b, word.c, false, word.scales_a, word.scales_b) == word.d;
  };
  for (const grouped::Variant& v : grouped::kVariants) out.kernels.push_back(kernel_of(v));
  for (const Kernel& k : grouped_wgmma_kernels()) out.kernels.push_back(k);
  return out;
}

}  // namespace bitwell::suite
