#include "verify/suite/kernels/gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "kernels/gemm/launch.h"
#include "model/machine/arch.h"
#include "model/machine/failure.h"
#include "verify/oracle/gemv.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/hopper.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {

using machine::InputError;
using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

namespace {

constexpr size_t kResult = 2;  // buffer of the last launch: d

int bytes_of(oracle::Output o) { return o == oracle::Output::f32 ? 4 : 2; }

launch::Launch pad_launch(const GemmProblem& p, const Build& build) {
  const GemmCase& s = p.spec;
  launch::Launch out;
  out.ptx = build.file("gemm/prepare");
  out.entry = "gemm_pad_rows";
  const size_t rows = u(s.l) * u(s.n);
  const size_t threads = rows * u(gemm::pitch_of(s.k) / 8);
  out.shape.block = {gemm::kPrepareThreads, 1, 1};
  out.shape.grid = {static_cast<uint32_t>((threads + gemm::kPrepareThreads - 1) / gemm::kPrepareThreads), 1,
                    1};
  out.add_buffer({"b", p.b.codes, true, true, false});
  out.add_buffer({"padded", std::vector<std::byte>(threads * 8), false, false, true});
  out.add_scalar(static_cast<long long>(rows));
  out.add_scalar(s.k / 2);
  out.add_scalar(gemm::pitch_of(s.k));
  return out;
}

launch::Launch gemm_launch(const GemmProblem& p, const GemmVariant& v, const Build& build) {
  const GemmCase& s = p.spec;
  const int element = bytes_of(v.output);
  const auto peers = static_cast<uint32_t>(s.peers);
  const auto split = static_cast<uint32_t>(v.split);
  const int clusters = s.clusters > 0 ? s.clusters : gemm::tiles_of(v.tile_m, s.m, s.n, s.l, s.peers);
  launch::Launch out;
  out.ptx = build.file("gemm/" + v.name());
  out.entry = v.name();
  out.shape.block = {gemm::kThreads, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(clusters) * peers, split, 1};
  out.shape.cluster = {peers, split, 1};
  // All that a CTA may have; the kernel sizes its ring by it.
  out.shape.dynamic_shared = static_cast<uint32_t>(machine::arch(90).shared);
  const int padded_k = gemm::steps_of(s.k) * gemm::kStep;
  const size_t a = out.add_hidden_buffer(
      {"decoded", std::vector<std::byte>(u(s.l) * u(s.m) * u(padded_k) * 2), true, true, false});
  const size_t b = out.add_hidden_buffer({"b", p.b.codes, true, true, false});
  const TensorMap a_map = decoded_map(s.m, s.k, s.l, v.tile_m / s.peers);
  out.add_tensor_map(a, a_map);
  out.add_tensor_map(b, code_bytes_map(s.n, s.k, s.l));
  const size_t d = out.add_hidden_buffer(
      {"d", std::vector<std::byte>(u(s.l) * u(s.m) * u(s.n) * u(element)), false, false, true});
  const auto type = v.output == oracle::Output::f16    ? TensorType::f16
                    : v.output == oracle::Output::bf16 ? TensorType::bf16
                                                       : TensorType::f32;
  // Rows that TMA cannot store are stored by threads; the map is then not looked at.
  const bool by_tma = s.n * element % 16 == 0;
  const auto columns = static_cast<uint32_t>(128 / element);
  const auto rows = static_cast<uint32_t>(gemm::stored_rows({v.tile_m, v.split}, element));
  out.add_tensor_map(by_tma ? d : a, by_tma ? box3(type, element, {s.n, s.m, s.l}, s.n * element,
                                                   {columns, rows}, TensorSwizzle::b128)
                                            : a_map);
  out.add_buffer({"sfb", p.b.scales, true, true, false});
  out.arguments.push_back({{}, d});
  out.add_scalar(s.m);
  out.add_scalar(s.n);
  out.add_scalar(s.k);
  out.add_scalar(s.l);
  return out;
}

}  // namespace

std::string GemmVariant::name() const {
  return "gemm_m" + std::to_string(tile_m) + "_split" + std::to_string(split) + "_" +
         gemm::kOutputs[static_cast<size_t>(output)];
}

const std::vector<GemmVariant>& gemm_variants() {
  static const std::vector<GemmVariant> all = [] {
    std::vector<GemmVariant> out;
    for (const gemm::Variant& tile : gemm::kTiles)
      for (size_t o = 0; o < std::size(gemm::kOutputs); ++o)
        out.push_back({tile.m, tile.split, static_cast<oracle::Output>(o)});
    return out;
  }();
  return all;
}

const GemmVariant& gemm_variant(std::string_view name) {
  std::string known;
  for (const GemmVariant& v : gemm_variants()) {
    if (v.name() == name) return v;
    known += (known.empty() ? "" : ", ") + v.name();
  }
  throw InputError("no GEMM kernel '" + std::string(name) + "'; there are " + known);
}

std::string GemmCase::describe() const {
  return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
         " l=" + std::to_string(l) + " " + std::string(name_of(data)) + " peers " + std::to_string(peers) +
         (clusters == 0 ? " single wave" : " clusters " + std::to_string(clusters)) + " seed " +
         std::to_string(seed);
}

GemmChoice choose_gemm(int m, int n, int k, int l, oracle::Output output,
                       const std::function<int(int size)>& at_once) {
  const gemm::Choice best = gemm::choose(m, n, k, l, at_once);
  return {{best.tile.m, best.tile.split, output}, best.peers, best.clusters};
}

namespace {

const GemmCase& checked(const GemmCase& s) {
  if (s.m < 1 || s.n < 1 || s.l < 1 || s.k < 16 || s.k % 16 != 0)
    throw InputError("gemm takes m, n and l of at least 1 and k a positive multiple of 16; got m = " +
                     std::to_string(s.m) + ", n = " + std::to_string(s.n) + ", k = " + std::to_string(s.k) +
                     ", l = " + std::to_string(s.l));
  if (s.peers != 1 && s.peers != 2)
    throw InputError("gemm's CTAs share A by 1 or 2; got peers = " + std::to_string(s.peers));
  if (s.clusters < 0)
    throw InputError("gemm's clusters are 0 (one a tile) or more; got " + std::to_string(s.clusters));
  return s;
}

}  // namespace

GemmProblem::GemmProblem(const GemmCase& c) : GemmProblem(checked(c), OperandSource(c.data, c.seed)) {}
GemmProblem::GemmProblem(const GemmCase& c, OperandSource source)
    : spec(c),
      a(source, true, c.m, c.k, c.l, ScaleLayout::blocked),
      b(source, false, c.n, c.k, c.l, ScaleLayout::blocked) {}

Chain GemmProblem::chain(const GemmVariant& variant, const Build& build) const {
  Chain out;
  out.launches.push_back(decode_launch(a, build));
  const bool pad = spec.k % 32 != 0;
  if (pad) out.launches.push_back(pad_launch(*this, build));
  out.launches.push_back(gemm_launch(*this, variant, build));
  const size_t last = out.launches.size() - 1;
  out.last_overlaps = true;
  out.links.push_back({0, 2, last, 0});
  if (pad) out.links.push_back({1, 1, last, 1});
  return out;
}

const std::vector<std::byte>& gemm_result(const Chain& chain) {
  return chain.launches.back().buffers[kResult].bytes;
}

std::vector<oracle::HalfWord> gemm_operand(const Nvfp4Operand::Row& row) {
  const std::vector<oracle::HalfWord> in_order = oracle::decoded(row.codes, row.scales);
  const auto size = static_cast<int>(in_order.size());
  std::vector<oracle::HalfWord> out(u(gemm::steps_of(size) * gemm::kStep));
  for (int i = 0; i < static_cast<int>(out.size()); ++i) {
    const int k = i / gemm::kStep * gemm::kStep + gemm::element_at(i % gemm::kStep);
    if (k < size) out[u(i)] = in_order[u(k)];
  }
  return out;
}

uint32_t gemm_element(const GemmVariant& variant, const std::vector<oracle::HalfWord>& a,
                      const std::vector<oracle::HalfWord>& b) {
  const int part = gemm::steps_of_part(static_cast<int>(a.size()), variant.split) * gemm::kStep;
  return oracle::gemm_element(a, b, u(part), u(variant.split), variant.output);
}

std::vector<std::byte> GemmProblem::expected(const GemmVariant& variant) const {
  std::vector<std::byte> out;
  const auto element = u(bytes_of(variant.output));
  out.reserve(u(spec.l) * u(spec.m) * u(spec.n) * element);
  const auto rows = [](const Nvfp4Operand& operand, int batch) {
    std::vector<std::vector<oracle::HalfWord>> decoded;
    for (int r = 0; r < operand.rows; ++r) decoded.push_back(gemm_operand(operand.row(batch, r)));
    return decoded;
  };
  for (int batch = 0; batch < spec.l; ++batch) {
    const auto of_a = rows(a, batch);
    const auto of_b = rows(b, batch);
    for (const auto& row : of_a)
      for (const auto& column : of_b) {
        const uint32_t word = gemm_element(variant, row, column);
        for (size_t i = 0; i < element; ++i) out.push_back(static_cast<std::byte>(word >> (8 * i)));
      }
  }
  return out;
}

std::vector<double> GemmProblem::errors_ulp(const GemmVariant& variant,
                                            const std::vector<std::byte>& outputs) const {
  const auto element = u(bytes_of(variant.output));
  const int exponent_bits = variant.output == oracle::Output::f16 ? 5 : 8;
  const int fraction_bits = variant.output == oracle::Output::f16    ? 10
                            : variant.output == oracle::Output::bf16 ? 7
                                                                     : 23;
  std::vector<double> out;
  for (int batch = 0; batch < spec.l; ++batch) {
    std::vector<Nvfp4Operand::Row> columns;
    for (int n = 0; n < spec.n; ++n) columns.push_back(b.row(batch, n));
    for (int m = 0; m < spec.m; ++m) {
      const Nvfp4Operand::Row of_a = a.row(batch, m);
      for (const Nvfp4Operand::Row& of_b : columns) {
        uint32_t word = 0;
        std::memcpy(&word, &outputs[out.size() * element], element);
        out.push_back(oracle::error_ulp(word, oracle::dot(of_a.codes, of_b.codes, of_a.scales, of_b.scales),
                                        exponent_bits, fraction_bits));
      }
    }
  }
  return out;
}

std::vector<GemmCase> gemm_cases() {
  std::vector<GemmCase> out;
  uint64_t seed = 2000;
  const auto add = [&](int m, int n, int k, int l, OperandData data, int peers, int clusters) {
    out.push_back({m, n, k, l, data, peers, clusters, seed++});
  };
  // Every kind of data on a ragged shape of several tiles and k that ends inside a step.
  for (const auto& [data, name] : kOperandData) add(50, 136, 352, 1, data, 2, 0);
  add(1, 1, 16, 1, OperandData::all_codes, 1, 0);           // one element, half a TMA row
  add(3, 7, 48, 2, OperandData::moderate, 1, 0);            // rows that only threads can store
  add(130, 264, 1040, 1, OperandData::moderate, 2, 1);      // one persistent cluster, the ring wraps
  add(257, 72, 128, 1, OperandData::moderate, 1, 2);        // over both tile heights by one
  add(64, 300, 96, 3, OperandData::swamped, 2, 1);          // batches, an odd number of tiles for two peers
  add(128, 128, 64, 1, OperandData::all_codes, 2, 0);       // a peer with nothing to store; parts without k
  add(20, 128, 4096, 1, OperandData::swamped_tiles, 1, 0);  // long sums
  return out;
}

std::vector<GemmCase> gemm_unrecorded_cases(const GemmVariant& variant) {
  constexpr OperandData kData = OperandData::moderate;
  std::vector<GemmCase> out{{228, 131, 64, 2, kData, 2, 1, 2100},
                            {260, 136, 48, 1, kData, 1, 1, 2101},
                            {5, 9, 32, 1, kData, 1, 2, 2102},
                            {9, 24, 96, 1, OperandData::one_zero, 1, 0, 2103},
                            {3, 10, 32, 1, kData, 1, 0, 2105},
                            // Two CTAs, tiles above each other: rows past a tile's end are the other's.
                            {variant.tile_m + 5, 9, 16, 1, kData, 1, 2, 2106},
                            // A step of k a CTA and tile: tiles begin and end at every stage of the ring.
                            // Other cases go round a ring often only where k is split in two at most: seven
                            // rounds, after which an arrival too few in each makes a phase of its own.
                            {9, 8, 64 * variant.split, variant.split > 2 ? 42 : 14, kData, 1, 1, 2104}};
  // A thread stores every second row of a piece of D, four in a round of its loop.
  const int piece = variant.split == 3 ? 16 : 32;
  for (int from = 0; from < variant.tile_m; from += piece)
    for (int m = from + 2; m <= from + 8; m += 2)
      out.push_back({m, 9, 16, 1, kData, 1, 0, 2200 + static_cast<uint64_t>(m)});
  return out;
}

std::vector<GemmCase> gemm_full_cases(const GemmVariant& variant) {
  const OperandData data = OperandData::moderate;
  if (variant.output != oracle::Output::f16) return {{256, 256, 1024, 1, data, 2, 0, 3000}};
  if (variant.tile_m == 256) return {{1024, 1024, 4096, 1, data, 2, 0, 3001}};
  if (variant.split == 2) return {{128, 7168, 2048, 1, data, 2, 0, 3002}};
  if (variant.split == 3) return {{128, 4096, 7168, 1, data, 2, 0, 3003}};
  return {{512, 512, 2048, 1, data, 2, 0, 3004}};
}

GemmCase gemm_random_case(const GemmVariant& variant, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](auto... values) {
    const std::array list{values...};
    return list[random() % list.size()];
  };
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  GemmCase c{};
  c.m = pick(1, 8, 63, variant.tile_m, variant.tile_m + 1, 1 + below(variant.tile_m + 40));
  c.n = pick(1, 8, 64, 128, 130, 1 + below(300), 8 * (1 + below(40)));
  c.k = 16 * pick(1, 2, 3, 4, 5, 1 + below(24), 1 + below(70));
  c.l = pick(1, 1, 1, 2, 3);
  c.data = kOperandData[random() % kOperandData.size()].first;
  c.peers = pick(1, 2);
  c.clusters = pick(0, 0, 1, 2, 3);
  c.seed = random();
  return c;
}

namespace {

// The default schedule and others: thirteen where CTAs take tile after tile, one of them in turn elsewhere.
std::vector<run::Schedule> schedules_of(const GemmCase& c) {
  constexpr size_t kSchedules = 14;
  std::vector<run::Schedule> all = launch::schedules(kSchedules);
  if (c.clusters != 0) return all;
  return {all[0], all[1 + c.seed % (kSchedules - 1)]};
}

PlannedCase planned(const GemmVariant& variant, const GemmCase& c, bool recorded, bool full) {
  const auto draw = [&variant, c] {
    const auto problem = std::make_shared<const GemmProblem>(c);
    DrawnCase out;
    out.result = kResult;
    out.element = u(bytes_of(variant.output));
    out.chain = [problem, &variant](const Build& build) { return problem->chain(variant, build); };
    out.expected = [problem, &variant] { return problem->expected(variant); };
    out.errors_ulp = [problem, &variant](const std::vector<std::byte>& outputs) {
      return problem->errors_ulp(variant, outputs);
    };
    return out;
  };
  return {c.describe(), recorded, full, schedules_of(c), draw};
}

Kernel kernel_of(const GemmVariant& variant) {
  Kernel out;
  out.name = out.full_name = variant.name();
  if (&variant == &gemm_variants().front())
    out.entries = {{"gemm/decode", "gemm/prepare", "gemm_decode"},
                   {"gemm/pad_rows", "gemm/prepare", "gemm_pad_rows"}};
  // The kernels of one tile differ in how D leaves alone.
  const GemmVariant first{variant.tile_m, variant.split, oracle::Output::f16};
  out.entries.push_back({"gemm/" + out.name.substr(5), "gemm/" + out.name, out.name,
                         variant.output == first.output ? "" : "gemm/" + first.name()});
  out.cases = [&variant] {
    std::vector<PlannedCase> all;
    for (const GemmCase& c : gemm_cases()) all.push_back(planned(variant, c, true, false));
    for (const GemmCase& c : gemm_unrecorded_cases(variant)) all.push_back(planned(variant, c, false, false));
    for (const GemmCase& c : gemm_full_cases(variant)) all.push_back(planned(variant, c, false, true));
    return all;
  };
  // All of a multiprocessor's shared memory, of which the kernel makes its ring.
  out.reserves =
      Reserves{"gemm",
               {{"tile_m", variant.tile_m}, {"split", variant.split}, {"element", bytes_of(variant.output)}},
               0,
               static_cast<int64_t>(machine::arch(90).shared),
               0};
  out.another = [&variant](uint64_t seed) {
    return planned(variant, gemm_random_case(variant, seed), false, false);
  };
  return out;
}

}  // namespace

Suite gemm_suite() {
  Suite out;
  out.name = "gemm";
  out.about = "the NVFP4 GEMM for Hopper: TMA, mbarriers, clusters, wgmma";
  out.description = "The NVFP4 GEMM for Hopper: " + std::to_string(gemm_variants().size()) +
                    " kernels, ragged and adversarial cases, each under two schedules, persistent ones under "
                    "thirteen";
  out.full = "large shapes, 1024x1024x4096 and two that GPU MODE's NVFP4 GEMM contest timed among them";
  out.archs = {"sm_90a"};
  out.recorded = Suite::Recorded::digests;
  out.others = 1000;
  for (const GemmVariant& v : gemm_variants()) out.kernels.push_back(kernel_of(v));
  return out;
}

}  // namespace bitwell::suite
