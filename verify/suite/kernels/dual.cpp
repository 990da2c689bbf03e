// The gated dual NVFP4 GEMM of kernels/dual: problems, cases and suite. No B200 has run these kernels: the
// products are the oracle's arithmetic of tcgen05, which agrees with every published word.
#include "verify/suite/kernels/dual.h"

#include <array>
#include <bit>
#include <cstring>
#include <random>

#include "kernels/dual/launch.h"
#include "model/machine/failure.h"
#include "verify/oracle/gated.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/dual_wgmma.h"
#include "verify/suite/nvfp4/nvfp4_maps.h"
#include "verify/suite/once.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

using machine::InputError;

const DualCase& checked(const DualCase& c) {
  if (c.m < 1 || c.n < 1 || c.l < 1)
    throw InputError("dual takes m, n and l of at least 1; got m = " + std::to_string(c.m) +
                     ", n = " + std::to_string(c.n) + ", l = " + std::to_string(c.l));
  if (c.k < nvfp4::kStep || c.k % nvfp4::kStep != 0)
    throw InputError("dual takes k a positive multiple of 64; got k = " + std::to_string(c.k) +
                     ": pad A, B1 and B2 with zeros");
  if (c.ctas < 1) throw InputError("dual's CTAs are 1 or more; got " + std::to_string(c.ctas));
  return c;
}

}  // namespace

std::string DualCase::describe() const {
  return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
         " l=" + std::to_string(l) + " " + std::string(name_of(data)) + " seed " + std::to_string(seed) +
         (ctas != 2 ? " CTAs " + std::to_string(ctas) : "");
}

DualProblem::DualProblem(const DualCase& c) : DualProblem(checked(c), OperandSource(c.data, c.seed)) {}
DualProblem::DualProblem(const DualCase& c, OperandSource source)
    : spec(c),
      a(source, true, c.m, c.k, c.l, ScaleLayout::blocked),
      b1(source, false, c.n, c.k, c.l, ScaleLayout::blocked),
      b2(source, false, c.n, c.k, c.l, ScaleLayout::blocked) {}

launch::Launch DualProblem::launch(const dual::Variant& v, const Build& build) const {
  launch::Launch out;
  out.entry = v.name;
  out.ptx = build.file("dual/" + out.entry);
  out.shape.block = {dual::kThreads, 1, 1};
  out.shape.cluster = {w(v.ctas), 1, 1};
  out.shape.grid = {w(nvfp4::up(spec.m, v.ctas * nvfp4::kRows) * v.ctas), w(nvfp4::up(spec.n, v.n)),
                    w(spec.l)};
  if (v.tiles == dual::Tiles::fixed) out.shape.grid = {w(spec.ctas * v.ctas), 1, 1};
  out.shape.dynamic_shared = w(v.shared_bytes());
  const std::array<const Nvfp4Operand*, 3> operands{&a, &b1, &b2};
  for (const Nvfp4Operand* o : operands) out.add_hidden_buffer({"codes", o->codes, true, true, false});
  for (const Nvfp4Operand* o : operands) out.add_hidden_buffer({"scales", o->scales, true, true, false});
  for (size_t i = 0; i < 3; ++i) {
    out.buffers[i].name = std::array{"a", "b1", "b2"}[i];
    out.buffers[3 + i].name = std::array{"sfa", "sfb1", "sfb2"}[i];
    out.add_tensor_map(i, code_map(*operands[i], i == 0 ? nvfp4::kRows : v.n / v.ctas));
  }
  for (size_t i = 0; i < 3; ++i) out.add_tensor_map(3 + i, scale_map(*operands[i]));
  out.add_buffer({"d", std::vector<std::byte>(u(spec.l) * u(spec.m) * u(spec.n) * 2), false, false, true});
  for (const int size : {spec.m, spec.n, spec.k, spec.l}) out.add_scalar(size);
  return out;
}

std::shared_ptr<const DualSums> DualProblem::sums() const {
  DualCase key = spec;
  key.ctas = 2;
  return once<DualSums>(key.describe() + (spec.exact ? " exact" : ""), [&] {
    return DualSums{nvfp4_sums(a, b1, spec.exact), nvfp4_sums(a, b2, spec.exact)};
  });
}

std::vector<std::byte> DualProblem::expected() const {
  const std::shared_ptr<const DualSums> all = sums();
  std::vector<std::byte> out(all->gate.sums.size() * 2);
  for (size_t i = 0; i < all->gate.sums.size(); ++i) {
    const float gate = oracle::silu(std::bit_cast<float>(all->gate.sums[i]));
    const uint32_t word = oracle::stored(gate * std::bit_cast<float>(all->up.sums[i]), oracle::Output::f16);
    std::memcpy(&out[2 * i], &word, 2);
  }
  return out;
}

std::vector<double> DualProblem::errors_ulp(const std::vector<std::byte>& outputs) const {
  std::vector<double> out;
  const std::shared_ptr<const DualSums> all = sums();
  for (size_t i = 0; i < all->gate.exact.size(); ++i) {
    uint16_t word = 0;
    std::memcpy(&word, &outputs[2 * i], 2);
    out.push_back(oracle::gated_error_ulp(word, all->gate.exact[i], all->up.exact[i]));
  }
  return out;
}

namespace {

PlannedCase planned(const dual::Variant& v, const DualCase& c, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  const bool turns = c.k >= 2048 || (v.tiles == dual::Tiles::fixed && c.m > 256);
  out.schedules = launch::schedules(turns ? 9 : 2);
  if (full) out.schedules.resize(1);
  out.draw = [v, c] {
    const auto problem = std::make_shared<const DualProblem>(c);
    DrawnCase drawn;
    drawn.result = kDualResult;
    drawn.element = 2;
    drawn.chain = [problem, v](const Build& build) { return Chain{{problem->launch(v, build)}, {}}; };
    drawn.expected = [problem] { return problem->expected(); };
    drawn.errors_ulp = [problem](const std::vector<std::byte>& d) { return problem->errors_ulp(d); };
    return drawn;
  };
  return out;
}

std::vector<PlannedCase> cases_of(const dual::Variant& v) {
  std::vector<PlannedCase> out;
  for (const DualCase& c : dual_cases()) out.push_back(planned(v, c, false));
  for (const DualCase& c : dual_contest_cases()) {
    const bool whole = std::string_view(v.name) == "dual_n128";
    if (whole || c.exact || (c.m == 512 && v.stages() > 1)) out.push_back(planned(v, c, !c.exact));
  }
  // One stage more than the ring has: the thread that fetches may look at the last ones only when all have
  // been given back, one of them for the second time.
  PlannedCase late =
      planned(v, {1, 1, nvfp4::kTileK * v.stages() + nvfp4::kStep, 1, OperandData::moderate, 5100}, false);
  late.recorded = false;
  late.schedules = launch::schedules(64);
  out.push_back(late);
  return out;
}

Kernel kernel_of(const dual::Variant& v) {
  Kernel out;
  out.name = out.full_name = v.name;
  out.entries = {{"dual/" + out.name.substr(5), "dual/" + out.name, out.name}};
  if (v.n != 64 || v.tiles != dual::Tiles::single) out.entries[0].unlike = "dual/dual_n64";
  out.cases = [v] { return cases_of(v); };
  out.reserves = Reserves{"dual",
                          {{"tile_n", v.n},
                           {"ctas", v.ctas},
                           {"bs", dual::kBs},
                           {"accumulators", v.accumulators()},
                           {"most_stages", v.most_stages}},
                          v.stages(),
                          v.shared_bytes(),
                          v.columns()};
  out.another = [v](uint64_t seed) { return planned(v, dual_random_case(v.n, seed), false); };
  return out;
}

}  // namespace

std::vector<DualCase> dual_cases() {
  constexpr OperandData kData = OperandData::moderate, kContest = OperandData::contest_dual;
  std::vector<DualCase> quick;
  uint64_t seed = 5000;
  for (const auto& [data, name] : kOperandData) quick.push_back({50, 137, 320, 1, data, seed++});
  quick.push_back({9, 24, 128, 1, OperandData::one_zero, seed++});
  quick.push_back({1, 1, 64, 1, OperandData::all_codes, seed++});
  quick.push_back({130, 200, 192, 2, kContest, seed++});  // batches, odd tiles of 64 columns
  quick.push_back({20, 72, 64 * 81, 1, OperandData::swamped_tiles, seed++});  // round every ring twice
  quick.push_back({300, 330, 128, 2, kContest, seed++});  // many tiles for each of few CTAs
  quick.push_back({270, 140, 320, 1, kData, seed++, 1});
  return quick;
}

std::vector<DualCase> dual_contest_cases() {
  // m x n x k.
  static constexpr std::array<std::array<int, 3>, 9> kContestShapes{{{1536, 512, 7168},
                                                                     {256, 512, 256},
                                                                     {3072, 1024, 1536},
                                                                     {7168, 1024, 256},
                                                                     {7168, 2304, 2048},
                                                                     {4608, 384, 7168},
                                                                     {7168, 384, 2304},
                                                                     {512, 768, 7168},
                                                                     {4096, 768, 512}}};
  std::vector<DualCase> out;
  for (const auto& [m, n, k] : kContestShapes)
    out.push_back({m, n, k, 1, OperandData::contest_dual, 1111, 148, int64_t{m} * n * k <= 1 << 26});
  return out;
}

DualCase dual_random_case(int columns, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const auto pick = [&](auto... values) {
    const std::array list{values...};
    return list[random() % list.size()];
  };
  DualCase c{};
  c.m = pick(1, 127, 128, 129, 1 + below(280));
  c.n = pick(1, columns, columns + 1, 1 + below(300));
  c.k = 64 * pick(1, 3, 4, 5, 1 + below(24));
  c.l = 1 + below(2);
  c.data = pick(OperandData::contest_dual, OperandData::one_zero,
                kOperandData[static_cast<size_t>(below(static_cast<int>(kOperandData.size())))].first);
  c.ctas = 1 + below(4);
  c.seed = random();
  return c;
}

Suite dual_suite() {
  Suite out;
  out.name = "dual";
  out.about = "the gated dual NVFP4 GEMM for Blackwell and Hopper, silu(A * B1) * (A * B2)";
  out.description =
      "The gated dual NVFP4 GEMM for Blackwell, silu(A * B1) * (A * B2), both products' sums in tensor "
      "memory: ragged and "
      "adversarial cases, each under two schedules, long sums and persistent tiles under nine, a "
      "ring used once and a stage under 64. dual_wgmma is Hopper's. No B200 ran "
      "the others: the "
      "products' arithmetic is that of published words, silu's is IEEE 754's alone";
  out.full =
      "the shapes of GPU MODE's NVFP4 dual GEMM contest, its distribution of inputs: all for dual_n128";
  out.archs = {"sm_100a"};
  out.words_kind = "nvfp4";
  out.gives_word = [](const problem::Word& word) {
    return oracle::scaled_fp4_dot(word.a, word.b, word.c, false, word.scales_a, word.scales_b) == word.d;
  };
  for (const dual::Variant& v : dual::kVariants) out.kernels.push_back(kernel_of(v));
  out.kernels.push_back(dual_wgmma_kernel());
  return out;
}

}  // namespace bitwell::suite
