#include "verify/suite/gemm.h"

#include <algorithm>
#include <array>
#include <random>

#include "model/machine/failure.h"
#include "verify/suite/schedules.h"

namespace bitwell::verify {

using machine::InputError;
using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

namespace {

constexpr int kStep = 64;               // elements of k
constexpr int kTileN = 128;             // rows of B a CTA
constexpr uint32_t kShared = 232448;    // all that a CTA may have; the kernel sizes its ring by it
constexpr uint32_t kPieceBytes = 8192;  // of D in one store: 64 columns
constexpr int kPrepareThreads = 128;

size_t u(int v) { return static_cast<size_t>(v); }
int up(int v, int to) { return (v + to - 1) / to; }
int steps_of(int k) { return up(k, kStep); }
int bytes_of(oracle::Output o) { return o == oracle::Output::f32 ? 4 : 2; }
// Of a row of B: TMA takes multiples of 16.
int pitch_of(int k) { return up(k / 2, 16) * 16; }

struct Tiles {
  int m, groups_n;
  int all(int l) const { return m * groups_n * l; }
};
Tiles tiles_of(const GemmVariant& v, int m, int n, int peers) {
  return {up(m, v.tile_m), up(up(n, kTileN), peers)};
}

TensorMap box3(TensorType type, int element, std::array<int, 3> dims, int pitch, std::array<uint32_t, 2> box,
               TensorSwizzle swizzle) {
  TensorMap t;
  t.type = type;
  t.rank = 3;
  t.dims = {u(dims[0]), u(dims[1]), u(dims[2]), 1, 1};
  t.strides = {u(element), u(pitch), u(pitch) * u(dims[1]), 0, 0};
  t.box = {box[0], box[1], 1, 1, 1};
  t.swizzle = swizzle;
  return t;
}

Launch decode_launch(const GemmProblem& p, const std::string& kernels) {
  const GemmCase& s = p.spec;
  Launch out;
  out.ptx = kernels + "/gemm/prepare.sm_90a.ptx";
  out.entry = "gemm_decode";
  const size_t pieces = u(steps_of(s.k)) * 8;  // of a row, 16 bytes each
  out.shape.block = {kPrepareThreads, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(32 * up(s.m, 128)),
                    static_cast<uint32_t>((pieces + kPrepareThreads - 1) / kPrepareThreads),
                    static_cast<uint32_t>(s.l)};
  out.add_buffer({"a", p.a.codes, true, true, false});
  out.add_buffer({"sfa", p.a.scales, true, true, false});
  out.add_buffer({"decoded", std::vector<std::byte>(u(s.l) * u(s.m) * pieces * 16), false, false, true});
  out.add_scalar(s.m);
  out.add_scalar(s.k);
  return out;
}

Launch pad_launch(const GemmProblem& p, const std::string& kernels) {
  const GemmCase& s = p.spec;
  Launch out;
  out.ptx = kernels + "/gemm/prepare.sm_90a.ptx";
  out.entry = "gemm_pad_rows";
  const size_t rows = u(s.l) * u(s.n);
  const size_t threads = rows * u(pitch_of(s.k) / 8);
  out.shape.block = {kPrepareThreads, 1, 1};
  out.shape.grid = {static_cast<uint32_t>((threads + kPrepareThreads - 1) / kPrepareThreads), 1, 1};
  out.add_buffer({"b", p.b.codes, true, true, false});
  out.add_buffer({"padded", std::vector<std::byte>(threads * 8), false, false, true});
  out.add_scalar(static_cast<long long>(rows));
  out.add_scalar(s.k / 2);
  out.add_scalar(pitch_of(s.k));
  return out;
}

Launch gemm_launch(const GemmProblem& p, const GemmVariant& v, const std::string& kernels) {
  const GemmCase& s = p.spec;
  const int element = bytes_of(v.output);
  const auto peers = static_cast<uint32_t>(s.peers);
  const auto split = static_cast<uint32_t>(v.split);
  const int clusters = s.clusters > 0 ? s.clusters : tiles_of(v, s.m, s.n, s.peers).all(s.l);
  Launch out;
  out.ptx = kernels + "/gemm/" + v.name() + ".sm_90a.ptx";
  out.entry = v.name();
  out.shape.block = {384, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(clusters) * peers, split, 1};
  out.shape.cluster = {peers, split, 1};
  out.shape.dynamic_shared = kShared;
  const int padded_k = steps_of(s.k) * kStep;
  const size_t a = out.add_hidden_buffer(
      {"decoded", std::vector<std::byte>(u(s.l) * u(s.m) * u(padded_k) * 2), true, true, false});
  const size_t b = out.add_hidden_buffer({"b", p.b.codes, true, true, false});
  const TensorMap a_map = box3(TensorType::f16, 2, {padded_k, s.m, s.l}, padded_k * 2,
                               {kStep, static_cast<uint32_t>(v.tile_m / s.peers)}, TensorSwizzle::b128);
  out.add_tensor_map(a, a_map);
  out.add_tensor_map(b, box3(TensorType::u8, 1, {pitch_of(s.k), s.n, s.l}, pitch_of(s.k),
                             {kStep / 2, static_cast<uint32_t>(kTileN)}, TensorSwizzle::none));
  const size_t d = out.add_hidden_buffer(
      {"d", std::vector<std::byte>(u(s.l) * u(s.m) * u(s.n) * u(element)), false, false, true});
  const auto type = v.output == oracle::Output::f16    ? TensorType::f16
                    : v.output == oracle::Output::bf16 ? TensorType::bf16
                                                       : TensorType::f32;
  // Rows that TMA cannot store are stored by threads; the map is then not looked at.
  const bool by_tma = s.n * element % 16 == 0;
  const auto columns = static_cast<uint32_t>(128 / element);
  // A whole number of boxes makes the rows that a CTA of a split finishes: 16 of 48 where three share k.
  const uint32_t rows = v.split == 3 ? 16
                                     : std::min(kPieceBytes / (64 * static_cast<uint32_t>(element)),
                                                static_cast<uint32_t>(v.tile_m / v.split));
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
         std::string(kGemmOutputs[static_cast<size_t>(output)]);
}

const std::vector<GemmVariant>& gemm_variants() {
  static const std::vector<GemmVariant> all = [] {
    std::vector<GemmVariant> out;
    for (const auto& [tile_m, split] : {std::pair{128, 1}, {128, 2}, {128, 3}, {128, 4}, {256, 1}})
      for (const auto output : {oracle::Output::f16, oracle::Output::bf16, oracle::Output::f32})
        out.push_back({tile_m, split, output});
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
  GemmChoice best{};
  double least = 0;
  for (const GemmVariant& v : gemm_variants())
    for (const int peers : {1, 2}) {
      if (v.output != output) continue;
      const int tiles = tiles_of(v, m, n, peers).all(l);
      const int clusters = std::min(tiles, at_once(peers * v.split));
      if (clusters == 0) continue;
      // Time of a CTA in steps of a 128-row tile, as an H200 shows it: a wider tile uses the tensor cores
      // better, sums take twelve steps to leave, the parts of a split a few to meet; shared tiles gain
      // little.
      const double tile = up(steps_of(k), v.split) * (v.tile_m == 256 ? 1.7 : 1.0) +
                          12.0 * v.tile_m / 128 / v.split + (v.split > 1 ? 4 : 0);
      const double time = up(tiles, clusters) * tile * (peers == 2 ? 0.99 : 1.0);
      if (least == 0 || time < least) {
        least = time;
        best = {v, peers, clusters};
      }
    }
  return best;
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

Chain GemmProblem::chain(const GemmVariant& variant, const std::string& kernels) const {
  Chain out;
  out.launches.push_back(decode_launch(*this, kernels));
  const bool pad = spec.k % 32 != 0;
  if (pad) out.launches.push_back(pad_launch(*this, kernels));
  out.launches.push_back(gemm_launch(*this, variant, kernels));
  const size_t last = out.launches.size() - 1;
  out.links.push_back({0, 2, last, 0});
  if (pad) out.links.push_back({1, 1, last, 1});
  return out;
}

const std::vector<std::byte>& gemm_result(const Chain& chain) {
  for (const Buffer& b : chain.launches.back().buffers)
    if (b.name == "d") return b.bytes;
  throw machine::ModelBug("a GEMM without a result");
}

std::vector<std::byte> GemmProblem::expected(const GemmVariant& variant) const {
  std::vector<std::byte> out;
  const auto element = u(bytes_of(variant.output));
  out.reserve(u(spec.l) * u(spec.m) * u(spec.n) * element);
  const auto rows = [](const Nvfp4Operand& operand, int batch) {
    std::vector<std::vector<oracle::HalfWord>> decoded;
    for (int r = 0; r < operand.rows; ++r) {
      const Nvfp4Operand::Row row = operand.row(batch, r);
      decoded.push_back(oracle::decoded_row(row.codes, row.scales));
    }
    return decoded;
  };
  for (int batch = 0; batch < spec.l; ++batch) {
    const auto of_a = rows(a, batch);
    const auto of_b = rows(b, batch);
    for (const auto& row : of_a)
      for (const auto& column : of_b) {
        const uint32_t word = oracle::gemm_element(row, column, variant.split, variant.output);
        for (size_t i = 0; i < element; ++i) out.push_back(static_cast<std::byte>(word >> (8 * i)));
      }
  }
  return out;
}

SuiteCase GemmProblem::suite_case(const GemmVariant& variant, const std::string& kernels) const {
  constexpr size_t kSchedules = 13;
  SuiteCase out;
  out.name = spec.describe();
  out.chain = chain(variant, kernels);
  const std::vector<Buffer>& buffers = out.chain.launches.back().buffers;
  while (buffers[out.result].name != "d") ++out.result;
  out.element = u(bytes_of(variant.output));
  out.expected = expected(variant);
  out.schedules = schedules(kSchedules);
  if (spec.clusters == 0) out.schedules = {out.schedules[0], out.schedules[1 + spec.seed % (kSchedules - 1)]};
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

}  // namespace bitwell::verify
