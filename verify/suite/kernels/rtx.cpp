// No RTX Blackwell card has run these kernels: what they should give is the oracle's arithmetic of
// block-scaled mma.sync, which published models of such a card share with tcgen05.
#include "verify/suite/kernels/rtx.h"

#include <array>
#include <bit>
#include <memory>
#include <random>

#include "kernels/rtx/launch.h"
#include "model/machine/failure.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/gemv.h"
#include "verify/oracle/scaled_rows.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/nvfp4/nvfp4_maps.h"
#include "verify/suite/nvfp4/nvfp4_sums.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

oracle::Output stored_as(rtx::Output o) {
  return o == rtx::Output::f32    ? oracle::Output::f32
         : o == rtx::Output::bf16 ? oracle::Output::bf16
                                  : oracle::Output::f16;
}

void append(std::vector<std::byte>& out, float value, rtx::Output output) {
  const uint32_t word = oracle::stored(value, stored_as(output));
  for (int i = 0; i < rtx::bytes_of(output); ++i) out.push_back(static_cast<std::byte>(word >> 8 * i));
}

const RtxCase& checked(const RtxCase& s) {
  if (s.m < 1 || s.n < 1 || s.l < 1 || s.k < 64 || s.k % 64 != 0)
    throw machine::InputError(
        "rtx takes m, n and l of at least 1 and k a positive multiple of 64; got m = " + std::to_string(s.m) +
        ", n = " + std::to_string(s.n) + ", k = " + std::to_string(s.k) + ", l = " + std::to_string(s.l));
  return s;
}

}  // namespace

std::string RtxCase::describe() const {
  return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
         " l=" + std::to_string(l) + " " + std::string(name_of(data)) + " seed " + std::to_string(seed);
}

RtxProblem::RtxProblem(const RtxCase& c) : RtxProblem(checked(c), OperandSource(c.data, c.seed)) {}
RtxProblem::RtxProblem(const RtxCase& c, OperandSource source)
    : spec(c),
      a(source, true, c.m, c.k, c.l, ScaleLayout::blocked),
      b(source, false, c.n, c.k, c.l, ScaleLayout::blocked) {}

launch::Launch RtxProblem::gemm(const rtx::Variant& v, const Build& build) const {
  const RtxCase& s = spec;
  launch::Launch out;
  out.ptx = build.file("rtx/" + std::string(v.name));
  out.entry = v.name;
  out.shape.block = {rtx::kGemmThreads, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(rtx::up(s.n, v.n)), static_cast<uint32_t>(rtx::up(s.m, rtx::kRows)),
                    static_cast<uint32_t>(s.l)};
  out.shape.dynamic_shared = static_cast<uint32_t>(v.shared_bytes());
  const auto operand = [&](const char* name, const std::vector<std::byte>& bytes,
                           const machine::TensorMap& map) {
    out.add_tensor_map(out.add_hidden_buffer({name, bytes, true, true, false}), map);
  };
  operand("a", a.codes, code_map(a, rtx::kRows));
  operand("b", b.codes, code_map(b, v.n));
  operand("sfa", a.scales, scale_map(a));
  operand("sfb", b.scales, scale_map(b));
  const size_t bytes = u(s.l) * u(s.m) * u(s.n) * u(rtx::bytes_of(v.output));
  out.add_buffer({"d", std::vector<std::byte>(bytes), false, false, true});
  out.add_scalar(s.m);
  out.add_scalar(s.n);
  out.add_scalar(s.k);
  return out;
}

launch::Launch RtxProblem::gemv(const Build& build) const {
  const RtxCase& s = spec;
  launch::Launch out;
  out.ptx = build.file("rtx/rtx_gemv");
  out.entry = "rtx_gemv";
  out.shape.block = {rtx::kGemvWarps * 32, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(rtx::up(s.m, rtx::kGemvRows)), static_cast<uint32_t>(s.l), 1};
  out.add_buffer({"a", a.codes, true, true, false});
  out.add_buffer({"b", b.codes, true, true, false});
  out.add_buffer({"sfa", a.scales, true, true, false});
  out.add_buffer({"sfb", b.scales, true, true, false});
  out.add_buffer({"c", std::vector<std::byte>(u(s.l) * u(s.m) * 2), false, false, true});
  out.add_scalar(s.m);
  out.add_scalar(s.k);
  return out;
}

std::vector<std::byte> RtxProblem::gemm_expected(const rtx::Variant& v) const {
  std::vector<std::byte> out;
  for (const uint32_t sum : nvfp4_sums(a, b, false).sums) append(out, std::bit_cast<float>(sum), v.output);
  return out;
}

std::vector<std::byte> RtxProblem::gemv_expected() const {
  std::vector<std::byte> out;
  const size_t step = u(rtx::kStep), k = u(spec.k);
  for (int batch = 0; batch < spec.l; ++batch) {
    const Nvfp4Operand::Row vector = b.row(batch, 0);
    const oracle::ScaledRow of_b(vector.codes, vector.scales);
    for (int m = 0; m < spec.m; ++m) {
      const Nvfp4Operand::Row row = a.row(batch, m);
      const oracle::ScaledRow of_a(row.codes, row.scales);
      float sum = 0;
      for (size_t w = 0; w < u(rtx::kGemvWarps); ++w) {
        uint32_t part = 0;
        for (size_t at = w * step; at < k; at += u(rtx::kGemvWarps) * step)
          part = oracle::scaled_sum(of_a, of_b, part, at, at + step);
        sum = w == 0 ? std::bit_cast<float>(part) : sum + std::bit_cast<float>(part);
      }
      append(out, sum, rtx::Output::f16);
    }
  }
  return out;
}

namespace {

std::vector<RtxCase> gemm_cases(const rtx::Variant& v) {
  std::vector<RtxCase> out;
  uint64_t seed = 7000;
  const auto add = [&](int m, int n, int k, int l, OperandData data) {
    out.push_back({m, n, k, l, data, seed++});
  };
  // Every kind of data on a ragged shape of several tiles, whose last stage is not full; padding is NaN.
  for (const auto& [data, name] : kOperandData) add(140, v.n + 9, 320, 1, data);
  add(9, 24, 128, 1, OperandData::one_zero);
  add(1, 1, 64, 1, OperandData::all_codes);
  add(3, 3 * v.n + 1, 128, 2, OperandData::moderate);  // an odd number of tiles, batches
  add(130, 8, 192, 1, OperandData::moderate);          // two tiles of rows
  add(20, v.n, 256 * (4 * v.stages() + 1) + 64, 1, OperandData::swamped_tiles);  // round the ring four times
  add(70, 131, 256 * v.stages(), 2, OperandData::all_codes);                     // a ring filled once
  return out;
}

std::vector<RtxCase> gemv_cases() {
  std::vector<RtxCase> out;
  uint64_t seed = 7200;
  const auto add = [&](int m, int k, int l, OperandData data) { out.push_back({m, 1, k, l, data, seed++}); };
  for (const auto& [data, name] : kOperandData) add(37, 1152, 1, data);  // ragged rows, unequal warps
  add(9, 1152, 1, OperandData::one_zero);
  for (int steps = 1; steps <= 5; ++steps) add(5, 64 * steps, 1, OperandData::moderate);  // warps without any
  add(1, 64, 1, OperandData::all_codes);
  add(129, 128, 2, OperandData::moderate);  // one row more than an atom's, and another batch after it
  add(24, 8192, 1, OperandData::swamped);
  add(24, 8192, 3, OperandData::swamped_tiles);
  return out;
}

struct Shape {
  int exponent_bits, fraction_bits;
};
Shape shape_of(rtx::Output o) {
  return o == rtx::Output::f32 ? Shape{8, 23} : o == rtx::Output::bf16 ? Shape{8, 7} : Shape{5, 10};
}

std::vector<double> errors_of(const RtxProblem& p, rtx::Output output,
                              const std::vector<std::byte>& outputs) {
  const Shape shape = shape_of(output);
  const std::vector<oracle::ExactDot> exact = nvfp4_sums(p.a, p.b, true).exact;
  const size_t element = u(rtx::bytes_of(output));
  std::vector<double> out;
  for (size_t i = 0; i < exact.size(); ++i) {
    uint32_t word = 0;
    for (size_t byte = 0; byte < element; ++byte)
      word |= std::to_integer<uint32_t>(outputs[i * element + byte]) << 8 * byte;
    out.push_back(oracle::error_ulp(word, exact[i], shape.exponent_bits, shape.fraction_bits));
  }
  return out;
}

// Long sums under more schedules than short ones: the default and one of the others, by the seed.
std::vector<run::Schedule> schedules_of(const RtxCase& c) {
  const std::vector<run::Schedule> all = launch::schedules(9);
  if (c.k >= 1024) return all;
  return {all[0], all[1 + c.seed % 8]};
}

// `variant`: of the GEMM; or nullptr, the GEMV.
PlannedCase planned(const rtx::Variant* variant, const RtxCase& c, bool recorded, bool full) {
  const auto draw = [variant, c] {
    const auto problem = std::make_shared<const RtxProblem>(c);
    const rtx::Output output = variant == nullptr ? rtx::Output::f16 : variant->output;
    DrawnCase out;
    out.result = kRtxResult;
    out.element = u(rtx::bytes_of(output));
    out.chain = [problem, variant](const Build& build) {
      return Chain{{variant == nullptr ? problem->gemv(build) : problem->gemm(*variant, build)}, {}};
    };
    out.expected = [problem, variant] {
      return variant == nullptr ? problem->gemv_expected() : problem->gemm_expected(*variant);
    };
    out.errors_ulp = [problem, output](const std::vector<std::byte>& outputs) {
      return errors_of(*problem, output, outputs);
    };
    return out;
  };
  return {c.describe(), recorded, full, schedules_of(c), draw};
}

RtxCase random_case(const rtx::Variant* variant, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const auto pick = [&](auto... values) {
    const std::array list{values...};
    return list[random() % list.size()];
  };
  RtxCase c{};
  c.m = pick(1, 16, 17, 127, 128, 129, 1 + below(300));
  c.n = variant == nullptr ? 1 : pick(1, 8, variant->n, variant->n + 1, 1 + below(300));
  c.k = 64 * pick(1, 2, 3, 4, 5, 1 + below(24));
  c.l = 1 + below(2);
  c.data = kOperandData[static_cast<size_t>(below(static_cast<int>(kOperandData.size())))].first;
  c.seed = random();
  return c;
}

Kernel kernel_of(const rtx::Variant* variant) {
  Kernel out;
  const std::string name = variant == nullptr ? "rtx_gemv" : variant->name;
  out.name = out.full_name = name;
  out.entries = {{"rtx/" + name.substr(4), "rtx/" + name, name}};
  // The GEMM's kernels differ in their tile and in how D leaves.
  if (variant != nullptr && variant != std::begin(rtx::kVariants))
    out.entries[0].unlike = "rtx/" + std::string(rtx::kVariants[0].name);
  out.cases = [variant] {
    std::vector<PlannedCase> all;
    for (const RtxCase& c : variant == nullptr ? gemv_cases() : gemm_cases(*variant))
      all.push_back(planned(variant, c, true, false));
    all.push_back(planned(variant,
                          variant == nullptr ? RtxCase{7168, 1, 2048, 1, OperandData::moderate, 7300}
                                             : RtxCase{256, 512, 2048, 1, OperandData::moderate, 7301},
                          false, true));
    return all;
  };
  out.another = [variant](uint64_t seed) {
    return planned(variant, random_case(variant, seed), false, false);
  };
  return out;
}

}  // namespace

Suite rtx_suite() {
  Suite out;
  out.name = "rtx";
  out.about =
      "an NVFP4 GEMM and a GEMV for RTX Blackwell cards: TMA, mbarriers, block-scaled mma.sync, sm_120a";
  out.description =
      "NVFP4 on RTX Blackwell cards (sm_120a) by mma.sync with block scales: a GEMM whose operands come by "
      "TMA, and "
      "a GEMV (kernels/README.md), ragged and adversarial cases, each under two schedules, long sums under "
      "nine. No "
      "such card ran these kernels: the arithmetic is that of published models of one";
  out.full = "a GEMM of 256x512x2048 and a GEMV of 7168x2048";
  out.archs = {"sm_120a"};
  out.published_by = "MMA-Sim, of an RTX PRO 6000";
  out.words_kind = "nvfp4";
  out.gives_word = [](const problem::Word& w) {
    return oracle::scaled_fp4_dot(w.a, w.b, w.c, false, w.scales_a, w.scales_b) == w.d;
  };
  for (const rtx::Variant& v : rtx::kVariants) out.kernels.push_back(kernel_of(&v));
  out.kernels.push_back(kernel_of(nullptr));
  return out;
}

}  // namespace bitwell::suite
