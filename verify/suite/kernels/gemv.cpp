#include "verify/suite/kernels/gemv.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "kernels/gemv/streamed.h"
#include "model/machine/failure.h"
#include "verify/problem/published.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/published_outputs.h"

namespace bitwell::suite {

using machine::InputError;
using number::Combine;
using number::GroupSum;
using number::Join;

const std::vector<GemvRung>& gemv_rungs() {
  static const std::vector<GemvRung> rungs{
      {"naive", {128, 1, 1}, 128, 16, {.name = "naive", .tile = 16, .group = GroupSum::scaled_products_f32}},
      {"shared_b",
       {32, 8, 1},
       8,
       128,
       {.name = "shared_b",
        .threads = 32,
        .tile = 2,
        .group = GroupSum::running_f16,
        .combine = Combine::shuffle_down,
        .combine_f16 = true}},
      {"intrinsics",
       {32, 8, 1},
       8,
       64,
       {.name = "intrinsics",
        .threads = 32,
        .group = GroupSum::fma_chain_f32,
        .join = Join::fused,
        .combine = Combine::shuffle_down}},
      {"ptx_decode",
       {32, 8, 1},
       8,
       64,
       {.name = "ptx_decode",
        .threads = 32,
        .group = GroupSum::two_chains_f16x2,
        .join = Join::multiply_add,
        .combine = Combine::shuffle_down}},
      {"two_tiles",
       {32, 8, 1},
       8,
       64,
       {.name = "two_tiles",
        .threads = 32,
        .group = GroupSum::two_chains_f16x2,
        .join = Join::fused,
        .accumulators = 2,
        .combine = Combine::shuffle_down}},
      {"fused",
       {32, 8, 1},
       8,
       64,
       {.name = "fused",
        .threads = 32,
        .group = GroupSum::one_chain_f16x2,
        .join = Join::gathered,
        .combine = Combine::shuffle_down}},
      {"split_k_shared",
       {16, 16, 1},
       16,
       64,
       {.name = "split_k_shared",
        .threads = 16,
        .group = GroupSum::products_times_scale_f32,
        .combine = Combine::sequential}},
      {"split_k_shuffle",
       {16, 16, 1},
       16,
       64,
       {.name = "split_k_shuffle",
        .threads = 16,
        .group = GroupSum::products_times_scale_f32,
        .combine = Combine::butterfly}},
      {"fp16_combine",
       {8, 32, 1},
       32,
       64,
       {.name = "fp16_combine",
        .threads = 8,
        .group = GroupSum::running_f16x2,
        .combine = Combine::butterfly,
        .combine_f16 = true}},
      {"fp32_combine",
       {8, 32, 1},
       32,
       64,
       {.name = "fp32_combine",
        .threads = 8,
        .group = GroupSum::running_f16x2,
        .drain_each_tile = true,
        .combine = Combine::butterfly}},
      {"four_rows",
       {32, 8, 1},
       32,
       32,
       {.name = "four_rows",
        .threads = 32,
        .tile = 32,
        .group = GroupSum::fma_chain_f32,
        .join = Join::gathered,
        .combine = Combine::butterfly},
       false},
      {"streamed",
       {gemv::kThreads, 1, 1},
       0,
       32,
       {.name = "streamed",
        .threads = 32,
        .tile = 32,
        .group = GroupSum::fma_chain_f32,
        .join = Join::fused,
        .combine = Combine::butterfly,
        .span = 1024}}};
  return rungs;
}

run::Shape gemv_streamed_shape(int m, int k, int l, int ctas) {
  const gemv::StreamedGrid grid = gemv::streamed_grid(m, k, l, ctas);
  run::Shape out;
  out.grid = {static_cast<uint32_t>(grid.x), static_cast<uint32_t>(grid.cluster), static_cast<uint32_t>(l)};
  out.cluster = {1, static_cast<uint32_t>(grid.cluster), 1};
  out.dynamic_shared = gemv::kSharedBytes;
  return out;
}

const GemvRung& gemv_rung(std::string_view name) {
  std::string known;
  for (const GemvRung& r : gemv_rungs()) {
    if (r.name == name) return r;
    known += (known.empty() ? "" : ", ") + std::string(r.name);
  }
  throw InputError("no GEMV kernel '" + std::string(name) + "'; there are " + known);
}

std::string gemv_entry(const GemvRung& rung, ScaleLayout layout) {
  return "gemv_" + std::string(rung.name) + (layout == ScaleLayout::row_major ? "_row_major" : "_blocked");
}

std::string GemvCase::describe() const {
  return "m=" + std::to_string(m) + " k=" + std::to_string(k) + " l=" + std::to_string(l) + " " +
         std::string(name_of(data)) + (layout == ScaleLayout::row_major ? " row-major" : " blocked") +
         " seed " + std::to_string(seed) +
         (x == 0 ? "" : " grid " + std::to_string(x) + "x" + std::to_string(cluster));
}

GemvProblem::GemvProblem(const GemvCase& c) : GemvProblem(c, OperandSource(c.data, c.seed)) {}
GemvProblem::GemvProblem(const GemvCase& c, OperandSource source)
    : spec(c), a(source, true, c.m, c.k, c.l, c.layout), b(source, false, 1, c.k, c.l, c.layout) {}

GemvProblem::GemvProblem(const problem::Inputs& whole, int row, int l)
    : spec{1, static_cast<int>(whole.a.k), l, OperandData::problem, ScaleLayout::blocked, 0},
      a(whole.a, row, 1, l, spec.layout),
      b(whole.b, 0, 1, l, spec.layout) {}

launch::Launch GemvProblem::launch(const GemvRung& rung, const std::string& ptx) const {
  const auto& s = spec;
  if (s.k % rung.k_multiple != 0 || s.k < 0 || s.m <= 0 || s.l <= 0)
    throw InputError("gemv_" + std::string(rung.name) + " takes m and l of at least 1 and k a multiple of " +
                     std::to_string(rung.k_multiple) + "; got m = " + std::to_string(s.m) +
                     ", k = " + std::to_string(s.k) + ", l = " + std::to_string(s.l));
  launch::Launch out;
  out.ptx = ptx;
  out.entry = gemv_entry(rung, s.layout);
  if (rung.rows == 0)
    out.shape = gemv_streamed_shape(s.m, s.k, s.l);
  else
    out.shape.grid = {(static_cast<uint32_t>(s.m) + rung.rows - 1) / rung.rows, static_cast<uint32_t>(s.l),
                      1};
  if (s.x != 0) {
    out.shape.grid = {s.x, s.cluster, static_cast<uint32_t>(s.l)};
    out.shape.cluster = {1, s.cluster, 1};
  }
  out.shape.block = rung.block;
  out.add_buffer({"a", a.codes, true, true, false});
  out.add_buffer({"b", b.codes, true, true, false});
  out.add_buffer({"sfa", a.scales, true, true, false});
  out.add_buffer({"sfb", b.scales, true, true, false});
  out.add_buffer({"c", std::vector<std::byte>(2 * static_cast<size_t>(s.m) * static_cast<size_t>(s.l)), false,
                  false, true});
  out.add_scalar(s.m);
  out.add_scalar(s.k);
  out.add_scalar(s.l);
  return out;
}

GemvProblem::Row GemvProblem::row(int batch, int row) const {
  Nvfp4Operand::Row of_a = a.row(batch, row);
  Nvfp4Operand::Row of_b = b.row(batch, 0);
  return {std::move(of_a.codes), std::move(of_b.codes), std::move(of_a.scales), std::move(of_b.scales)};
}

std::vector<std::byte> GemvProblem::expected(const GemvRung& rung) const {
  std::vector<std::byte> out;
  for (int batch = 0; batch < spec.l; ++batch)
    for (int i = 0; i < spec.m; ++i) {
      const Row data = row(batch, i);
      const uint16_t code = number::evaluate(rung.order, data.operands());
      out.push_back(static_cast<std::byte>(code & 0xFF));
      out.push_back(static_cast<std::byte>(code >> 8));
    }
  return out;
}

std::vector<double> GemvProblem::errors_ulp(const std::vector<std::byte>& outputs) const {
  std::vector<double> out;
  for (size_t i = 0; i < outputs.size() / 2; ++i) {
    uint16_t code = 0;
    std::memcpy(&code, &outputs[2 * i], 2);
    const int at = static_cast<int>(i);
    const Row data = row(at / spec.m, at % spec.m);
    out.push_back(oracle::error_ulp(code, oracle::dot(data.a, data.b, data.sfa, data.sfb)));
  }
  return out;
}

std::vector<GemvCase> gemv_reduced_cases(const GemvRung& rung) {
  std::vector<GemvCase> out;
  uint64_t seed = 1000;
  const auto add = [&](int m, int k, int l, OperandData data) {
    for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
      out.push_back({m, k, l, data, layout, seed++});
  };
  for (const auto& [data, name] : kOperandData) {
    add(37, 1152, 1, data);   // ragged m, k that no thread count divides
    add(200, 2048, 2, data);  // more than one scale atom
  }
  add(1, 128, 1, OperandData::all_codes);
  add(128, 256, 3, OperandData::moderate);
  add(256, 7168, 1, OperandData::moderate);  // a contest test shape
  add(24, 8192, 1, OperandData::swamped);    // several tiles a thread
  add(24, 8192, 1, OperandData::swamped_tiles);
  if (rung.k_multiple <= 64) add(65, 64, 2, OperandData::moderate);
  if (rung.rows == 0) {
    add(300, 2080, 1, OperandData::moderate);
    add(300, 17440, 1, OperandData::moderate);  // more spans than a CTA takes at once
    add(24, 36896, 1, OperandData::moderate);   // a cluster shares them
  }
  if (rung.k_multiple <= 16) {
    add(129, 16, 1, OperandData::all_codes);
    add(33, 48, 2, OperandData::moderate);
    add(5, 0, 2, OperandData::moderate);  // k = 0: +0
  }
  return out;
}

std::vector<GemvCase> gemv_full_cases() {
  std::vector<GemvCase> out;
  uint64_t seed = 1111;
  for (const auto& [m, k, l] :
       {std::array{7168, 16384, 1}, std::array{4096, 7168, 8}, std::array{7168, 2048, 4}})
    out.push_back({m, k, l, OperandData::moderate, ScaleLayout::blocked, seed++});
  return out;
}

std::vector<GemvCase> gemv_unrecorded_cases(const GemvRung& rung) {
  constexpr size_t kSchedules = 8;
  constexpr OperandData kData = OperandData::moderate;
  std::vector<GemvCase> out;
  uint64_t seed = 1200;
  const auto add = [&](int m, int k, int l, OperandData data) {
    for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
      out.push_back({m, k, l, data, layout, seed++});
  };
  add(5, 0, 2, kData);
  add(9, 1152, 1, OperandData::one_zero);
  add(227, 128, 1, kData);  // rows end in the fourth quarter of a scale atom
  add(129, 128, 2, kData);  // one row more than an atom's, and another batch after it
  if (rung.rows == 0)
    for (int spans = 3; spans < 16; ++spans) add(3, 1024 * spans - 480, 1, kData);
  if (rung.rows != 0) {
    for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
      out.push_back({37, 1152, 1, kData, layout, seed++, kSchedules});
    return out;
  }
  struct Grid {
    int m, k, l;
    uint32_t x, cluster;
  };
  for (const Grid& g : {Grid{600, 544, 1, 1, 1}, Grid{600, 1056, 1, 1, 1}, Grid{140, 17440, 2, 1, 1},
                        Grid{600, 2080, 1, 3, 2}, Grid{300, 2080, 2, 1, 2}, Grid{140, 17440, 1, 2, 2},
                        Grid{9, 36896, 1, 1, 2}, Grid{70, 36896, 2, 1, 2}, Grid{9, 4128, 1, 1, 4},
                        Grid{2, 2080, 1, 1, 2}, Grid{10, 2080, 1, 1, 2}, Grid{40, 5152, 1, 1, 2},
                        Grid{300, 4128, 2, 1, 4}, Grid{9, 36896, 1, 1, 4}, Grid{40, 135200, 1, 1, 4}})
    for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
      out.push_back({g.m, g.k, g.l, kData, layout, seed++, kSchedules, g.x, g.cluster});
  return out;
}

namespace {

std::string module_of(const GemvRung& rung) { return "gemv/" + std::string(rung.name); }

DrawnCase drawn_of(const std::shared_ptr<const GemvProblem>& problem, const GemvRung& rung) {
  DrawnCase out;
  out.result = 4;
  out.element = 2;
  out.chain = [problem, &rung](const Build& build) {
    return Chain{{problem->launch(rung, build.file(module_of(rung)))}, {}};
  };
  out.expected = [problem, &rung] { return problem->expected(rung); };
  out.errors_ulp = [problem](const std::vector<std::byte>& outputs) { return problem->errors_ulp(outputs); };
  return out;
}

PlannedCase planned(const GemvRung& rung, const problem::PublishedGemv& published) {
  PlannedCase out;
  out.name = "B200's outputs, " + std::to_string(published.m) + "x" + std::to_string(published.k) + "x" +
             std::to_string(published.l) + ", row " + std::to_string(published.row);
  out.schedules = launch::schedules(1);
  out.published = true;
  out.draw = [&rung, published] {
    const auto u = [](int v) { return static_cast<uint64_t>(v); };
    const problem::Inputs whole(problem::kGemv, u(published.m), 1, u(published.k), u(published.l),
                                problem::kPublishedSeed);
    DrawnCase drawn =
        drawn_of(std::make_shared<const GemvProblem>(whole, published.row, published.batches), rung);
    drawn.expected = [published] {
      return as_halves(std::span(published.outputs).first(static_cast<size_t>(published.batches)));
    };
    return drawn;
  };
  return out;
}

PlannedCase planned(const GemvRung& rung, const GemvCase& c, bool recorded, bool full) {
  const auto draw = [&rung, c] { return drawn_of(std::make_shared<const GemvProblem>(c), rung); };
  return {c.describe(), recorded, full, launch::schedules(c.schedules), draw};
}

// Ten million outputs are 110 of them: every kind of data, five times.
GemvCase large_case(uint64_t seed) {
  const size_t i = seed - 1;
  const auto round = static_cast<int>(i / (2 * kOperandData.size()));
  const OperandData data = kOperandData[i / 2 % kOperandData.size()].first;
  return {4096 - 37 * (round % 100),
          round % 2 == 0 ? 128 : 384,
          28,
          data,
          i % 2 == 0 ? ScaleLayout::row_major : ScaleLayout::blocked,
          90000 + i};
}

Kernel kernel_of(const GemvRung& rung) {
  Kernel out;
  out.name = rung.name;
  out.full_name = "gemv_" + out.name;
  for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
    out.entries.push_back({module_of(rung) + (layout == ScaleLayout::row_major ? " row-major" : " blocked"),
                           module_of(rung), gemv_entry(rung, layout)});
  out.cases = [&rung] {
    std::vector<PlannedCase> all;
    for (const GemvCase& c : gemv_reduced_cases(rung)) all.push_back(planned(rung, c, true, false));
    for (const GemvCase& c : gemv_full_cases()) all.push_back(planned(rung, c, true, true));
    for (const GemvCase& c : gemv_unrecorded_cases(rung)) all.push_back(planned(rung, c, false, false));
    for (const problem::PublishedGemv& p : problem::kPublishedGemvs) all.push_back(planned(rung, p));
    return all;
  };
  out.another = [&rung](uint64_t seed) { return planned(rung, large_case(seed), false, false); };
  return out;
}

}  // namespace

Suite gemv_suite() {
  Suite out;
  out.name = "gemv";
  const std::string count = std::to_string(gemv_rungs().size());
  out.about = "the NVFP4 batched GEMV, " + count + " kernels from naive to streamed, sm_90a and sm_100a";
  out.description = "The NVFP4 batched GEMV: " + count +
                    " kernels, two architectures, adversarial inputs, some under eight schedules";
  out.full =
      "the three shapes that GPU MODE's NVFP4 GEMV contest timed: 7168x16384x1, 4096x7168x8, 7168x2048x4";
  out.archs = {"sm_90a", "sm_100a"};
  out.others = 110;
  for (const GemvRung& r : gemv_rungs()) out.kernels.push_back(kernel_of(r));
  return out;
}

}  // namespace bitwell::suite
