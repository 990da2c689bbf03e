// The NVFP4 quantiser of kernels/quantise: problems, cases and suite.
#include "verify/suite/kernels/quantise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/quantise/launch.h"
#include "model/machine/failure.h"
#include "verify/oracle/two_level.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/activation.h"
#include "verify/suite/kernels/halves.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

constexpr std::array<std::string_view, 6> kDataNames{"normal", "ties", "wide", "zeros", "tiny", "special"};

std::string text(float v) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%g", static_cast<double>(v));
  return out.data();
}

float value_of(uint16_t code) { return std::bit_cast<float>(uint32_t{code} << 16); }
uint16_t cut(double v) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(v)) >> 16); }

uint16_t draw(TensorData data, std::mt19937_64& random) {
  const uint64_t r = random();
  const auto sign = static_cast<uint16_t>(r >> 63 << 15);
  switch (data) {
    case TensorData::normal: {  // a sum of twelve uniform ones
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
      return cut(sum);
    }
    case TensorData::ties: return sign | cut(static_cast<double>(r % 13));
    case TensorData::wide:
      return r % 8 == 0 ? sign : static_cast<uint16_t>(sign | (107 + (r >> 8) % 40) << 7 | (r >> 16 & 0x7F));
    case TensorData::zeros: return sign;
    case TensorData::tiny: return static_cast<uint16_t>(sign | (r >> 16 & 0x3FF));
    case TensorData::special: return draw(TensorData::normal, random);
  }
  return 0;
}

// Of five groups one each with NaNs of both signs, an infinity, both, NaNs alone and neither.
void make_special(std::vector<uint16_t>& x) {
  constexpr uint16_t kNan = 0x7FC1, kInfinity = 0x7F80, kMinus = 0x8000;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t kind = i / nvfp4::kGroup % 5, place = i % nvfp4::kGroup;
    if (kind == 3 || ((kind == 0 || kind == 2) && place % 4 == 0))
      x[i] = static_cast<uint16_t>(kNan | (place % 8 == 0 ? kMinus : 0));
    if ((kind == 1 || kind == 2) && place % 8 == 1)
      x[i] = static_cast<uint16_t>(kInfinity | (place == 1 ? kMinus : 0));
  }
}

size_t result_bytes(const QuantiseCase& s) {
  return u(s.m) * u(s.k) / 2 +
         u(nvfp4::up(s.m, nvfp4::kRows)) * u(nvfp4::up(s.k, nvfp4::kStep)) * nvfp4::kAtom;
}

}  // namespace

std::string QuantiseCase::describe() const {
  return "m=" + std::to_string(m) + " k=" + std::to_string(k) + " " +
         std::string(kDataNames[static_cast<size_t>(data)]) + " seed " + std::to_string(seed) +
         (range == 0 ? "" : " range " + text(range));
}

QuantiseProblem::QuantiseProblem(const QuantiseCase& c) : spec(c) {
  if (c.m < 1) throw machine::InputError("quantise takes m of at least 1; got " + std::to_string(c.m));
  if (c.k < nvfp4::kGroup || c.k % nvfp4::kGroup != 0)
    throw machine::InputError("quantise takes k a positive multiple of 16; got k = " + std::to_string(c.k) +
                              ": pad rows with zeros");
  if (!(c.range >= 0 && c.range <= std::numeric_limits<float>::max()))
    throw machine::InputError("quantise takes a range of 0, for none, or a finite number above; got " +
                              text(c.range));
  std::mt19937_64 random(c.seed);
  for (size_t i = 0; i < u(c.m) * u(c.k); ++i) x.push_back(draw(c.data, random));
  if (c.data == TensorData::special) make_special(x);
}

float QuantiseProblem::largest() const {
  float out = spec.range;
  if (out != 0) return out;
  for (const uint16_t code : x) out = std::max(out, std::fabs(value_of(code)));
  return out;
}

Chain QuantiseProblem::chain(std::string_view name, const Build& build) const {
  launch::Launch make;
  make.entry = name;
  make.ptx = build.file("quantise/" + make.entry);
  make.shape.block = {quantise::kThreads, 1, 1};
  // Every place of the scales' tiling has a thread.
  make.shape.grid = {w(nvfp4::up(spec.m, quantise::kThreads)), w(nvfp4::up(spec.k, nvfp4::kStep) * 4), 1};
  make.add_buffer({"x", bytes_of(x), true, true, false});
  std::vector<std::byte> range(sizeof(float));
  std::memcpy(range.data(), &spec.range, range.size());
  make.add_buffer({"largest", range, true, true, false});
  make.add_scalar(spec.m);
  make.add_scalar(spec.k);
  make.add_buffer({"out", std::vector<std::byte>(result_bytes(spec)), false, false, true});
  if (spec.range != 0) return {{make}, {}};
  launch::Launch find;
  find.entry = make.entry + "_largest";
  find.ptx = make.ptx;
  find.shape.block = make.shape.block;
  find.shape.grid = {4, 1, 1};
  find.add_buffer({"x", bytes_of(x), true, true, false});
  find.add_scalar(static_cast<int>(x.size()));
  find.add_buffer({"largest", std::vector<std::byte>(4), true, false, true});
  return {{find, make}, {{0, 1, 1, 1}}};
}

std::vector<std::byte> QuantiseProblem::expected(std::string_view name) const {
  const std::string_view recipe = name.substr(std::string_view("quantise_").size());
  std::vector<std::byte> out(result_bytes(spec));
  const float g = largest();
  const size_t groups = u(spec.k) / nvfp4::kGroup, across = (groups + 3) / 4;
  for (size_t row = 0; row < u(spec.m); ++row)
    for (size_t group = 0; group < groups; ++group) {
      const size_t first = row * u(spec.k) + group * nvfp4::kGroup;
      std::array<float, nvfp4::kGroup> values{};
      for (size_t i = 0; i < values.size(); ++i) values[i] = value_of(x[first + i]);
      const oracle::Nvfp4Group made = oracle::two_level(recipe, values, g);
      for (size_t i = 0; i < values.size(); i += 2)
        out[(first + i) / 2] = static_cast<std::byte>(made.codes[i] | made.codes[i + 1] << 4);
      out[x.size() / 2 + (row / 128 * across + group / 4) * nvfp4::kAtom + row % 32 * 16 +
          row % 128 / 32 * 4 + group % 4] = static_cast<std::byte>(made.scale);
    }
  return out;
}

namespace {

// Whether the recipe is that of a kernel which says what becomes of NaNs and infinities.
bool of_kernel(std::string_view name) {
  return name == "quantise_vllm" || name == "quantise_tensorrt_llm" || name == "quantise_flashinfer";
}

using Change = std::function<void(std::vector<uint16_t>& x)>;

// `change`: of the codes as they are drawn; no GPU records what it makes.
PlannedCase planned(const std::string& name, const QuantiseCase& c, bool full,
                    const Change& change = nullptr) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full && !change;
  out.full = full;
  out.schedules = launch::schedules(full ? 1 : 2);
  out.draw = [name, c, change] {
    const auto made = std::make_shared<QuantiseProblem>(c);
    if (change) change(made->x);
    const std::shared_ptr<const QuantiseProblem> problem = made;
    DrawnCase drawn;
    drawn.result = kQuantiseResult;
    drawn.chain = [problem, name](const Build& build) { return problem->chain(name, build); };
    drawn.expected = [problem, name] { return problem->expected(name); };
    // Codes are what they should be or not: the distance of a code is no measure.
    drawn.errors_ulp = [](const std::vector<std::byte>& outputs) {
      return std::vector<double>(outputs.size());
    };
    return drawn;
  };
  return out;
}

// One element beyond all others: a tensor whose largest is missed, or cut, is scaled otherwise. It is
// negative and an odd multiple of its last place, and has the exponent's highest bit.
PlannedCase largest_alone(const std::string& name, int m, size_t place) {
  PlannedCase out = planned(name, {m, nvfp4::kGroup, TensorData::normal, 8100}, false,
                            [place](std::vector<uint16_t>& x) { x[place] = cut(-7.03125); });
  out.name += ", its largest alone at " + std::to_string(place);
  return out;
}

// Under a scale of 1, which every recipe computes exactly from a tensor's 2688 and a group's 6: each place of
// a group holds each value in the middle between two codes.
PlannedCase midpoints(const std::string& name) {
  PlannedCase out = planned(name, {9, nvfp4::kGroup, TensorData::zeros, 8101}, false,
                            [](std::vector<uint16_t>& x) {  // of zeros: signs
                              constexpr std::array kValues{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0};
                              for (size_t i = 0; i < x.size(); ++i)
                                x[i] |= cut(kValues[(i / nvfp4::kGroup + i) % kValues.size()]);
                              x[0] = cut(2688);  // its group is the one of another scale
                            });
  out.name = "m=9 k=16 midpoints between codes";
  return out;
}

// Under a range that calibration gave: scales beyond 448 and between E4M3's least numbers, and, for recipes
// of kernels, numbers that are none.
void add_calibrated(std::vector<PlannedCase>& all, const std::string& name, uint64_t seed) {
  std::vector<QuantiseCase> cases{
      {33, 80, TensorData::normal, seed++, 0.5f},    {33, 80, TensorData::normal, seed++, 1e6f},
      {33, 80, TensorData::ties, seed++, 2688},      {18, 80, TensorData::zeros, seed++, 3},
      {33, 80, TensorData::wide, seed++, 0x1p-124f}, {33, 80, TensorData::tiny, seed++, 0x1p-119f},
      {33, 80, TensorData::tiny, seed++, 0x1p100f}};
  if (of_kernel(name)) {
    cases.push_back({33, 80, TensorData::special, seed++, 5});
    cases.push_back({33, 80, TensorData::special, seed++, 0x1p-124f});
  }
  for (const QuantiseCase& c : cases) all.push_back(planned(name, c, false));
}

// Groups whose largest is bf16's least normal number, or the one below it, under ranges by which their scales
// are numbers, and vanish.
void add_least_normal(std::vector<PlannedCase>& all, const std::string& name, uint64_t seed) {
  for (const float range : {0x1p-124f, 0x1p-110f}) {
    all.push_back(planned(name, {5, 4 * nvfp4::kGroup, TensorData::zeros, seed++, range}, false,
                          [](std::vector<uint16_t>& x) {
                            for (size_t i = 0; i < x.size(); i += 3)
                              x[i] |= i / nvfp4::kGroup % 2 == 0 ? 0x80 : 0x7F;
                          }));
    all.back().name += ", the least normal number";
  }
}

Kernel kernel_of(const quantise::Variant& variant) {
  const std::string name = variant.name;
  Kernel out;
  out.name = out.full_name = name;
  if (variant.hopper_alone) out.archs = {"sm_90a"};
  const std::string module = "quantise/" + name;
  out.entries = {{"quantise/" + name.substr(9), module, name},
                 {"quantise/" + name.substr(9) + " largest", module, name + "_largest"}};
  out.cases = [name] {
    std::vector<PlannedCase> all;
    uint64_t seed = 8000;
    for (const TensorData data :
         {TensorData::normal, TensorData::ties, TensorData::wide, TensorData::zeros, TensorData::tiny})
      for (const auto& [m, k] : {std::array{130, 208}, {1, 16}, {33, 1024}})
        all.push_back(planned(name, {m, k, data, seed++}, false));
    all.push_back(planned(name, {2048, 1024, TensorData::normal, seed++}, true));
    // A thread of the first kernel takes four elements, 512 apart, at a time: the first and last ones of such
    // fours, and threads that have but three.
    for (const size_t place : {0u, 512u, 1023u, 1024u, 1535u, 2047u})
      all.push_back(largest_alone(name, 128, place));
    for (const size_t place : {0u, 1535u}) all.push_back(largest_alone(name, 96, place));
    all.push_back(midpoints(name));
    add_calibrated(all, name, 8150);
    add_least_normal(all, name, 8170);
    return all;
  };
  out.another = [name](uint64_t seed) {
    QuantiseCase c = quantise_random_case(seed);
    if (of_kernel(name) && c.range != 0 && seed % 2 == 0) c.data = TensorData::special;
    return planned(name, c, false);
  };
  return out;
}

}  // namespace

QuantiseCase quantise_random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  QuantiseCase out{1 + below(140), 16 * (1 + below(20)), static_cast<TensorData>(below(5)), random()};
  if (below(3) == 0)
    out.range = std::ldexp(1 + static_cast<float>(below(1 << 20)) * 0x1p-20f, below(250) - 123);
  return out;
}

Suite quantise_suite() {
  Suite out;
  out.name = "quantise";
  out.about = "bf16 to NVFP4 with two levels of scales, by the recipes of nine projects, sm_90a and sm_100a";
  out.description =
      "The NVFP4 quantiser: a tensor's largest magnitude, then E2M1 codes and E4M3 scales of 16, by the "
      "recipes of Transformer Engine, torchao, ModelOpt, compressed-tensors, vLLM's emulation and MSLK, "
      "which "
      "differ in their roundings; on sm_90a alone, whose reciprocals an H200 gave (rcp.approx, div.full), "
      "those "
      "of vLLM's, TensorRT-LLM's, FlashInfer's and FBGEMM's kernels; and SVDQuant's activations, one level "
      "of "
      "scales, with their product with LoRA-down by mma.sync";
  out.full = "a tensor of 2048 x 1024, and of SVDQuant's activations 64 x 3840 at a rank of 128";
  out.archs = {"sm_90a", "sm_100a"};
  out.recorded = Suite::Recorded::digests;
  for (const quantise::Variant& v : quantise::kNames) out.kernels.push_back(kernel_of(v));
  for (const Kernel& k : activation_kernels()) out.kernels.push_back(k);
  return out;
}

}  // namespace bitwell::suite
