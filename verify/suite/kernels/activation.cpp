#include "verify/suite/kernels/activation.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "kernels/quantise/activation.h"
#include "model/machine/failure.h"
#include "verify/oracle/epilogue.h"
#include "verify/oracle/gemm.h"
#include "verify/oracle/gemv.h"
#include "verify/oracle/tensor_dot.h"
#include "verify/schedules/schedules.h"
#include "verify/suite/kernels/halves.h"
#include "verify/suite/once.h"
#include "verify/suite/parallel.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {

using machine::InputError;

constexpr std::array<std::string_view, 5> kActivationNames{"normal", "ties", "cancellation", "wide", "zeros"};

const ActivationCase& checked(const ActivationCase& c) {
  if (c.m < 1) throw InputError("quantise_svdquant takes m of at least 1; got " + std::to_string(c.m));
  if (c.k < nvfp4::kGroup || c.k % nvfp4::kGroup != 0)
    throw InputError("quantise_svdquant takes k a positive multiple of 16; got k = " + std::to_string(c.k) +
                     ": pad rows with zeros");
  if (c.rank < quantise::kRankStep || c.rank % quantise::kRankStep != 0 || c.rank > quantise::kMostRank)
    throw InputError("quantise_svdquant takes a rank of 16, 32, ... 256; got " + std::to_string(c.rank) +
                     ": pad L1 with zeros");
  return c;
}

uint16_t code_of(double v, bool bf16) {
  return static_cast<uint16_t>(
      oracle::stored(static_cast<float>(v), bf16 ? oracle::Output::bf16 : oracle::Output::f16));
}

// Uniform in (-1, 1).
double uniform(std::mt19937_64& random) {
  return static_cast<double>(static_cast<int64_t>(random()) >> 11) * 0x1p-52;
}

// Element k of a row of x.
double draw(ActivationData data, int row, int k, std::mt19937_64& random) {
  const double v = uniform(random);
  switch (data) {
    case ActivationData::normal: return v + uniform(random) + uniform(random);
    case ActivationData::ties: {
      constexpr std::array kValues{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0};
      return std::copysign(kValues[u(row + k) % kValues.size()], v);
    }
    // Of four steps of 16 two large ones cancel, each column of L1 repeating itself from the first to the
    // third.
    case ActivationData::cancellation: return k / 16 % 4 == 0 ? 512 : k / 16 % 4 == 2 ? -512 : v;
    case ActivationData::wide: return std::ldexp(v, static_cast<int>(random() % 25) - 12);
    case ActivationData::zeros: return v < 0 ? -0.0 : 0.0;
  }
  return 0;
}

}  // namespace

std::string ActivationCase::describe() const {
  return "m=" + std::to_string(m) + " k=" + std::to_string(k) + " rank=" + std::to_string(rank) + " " +
         std::string(kActivationNames[static_cast<size_t>(data)]) + " seed " + std::to_string(seed);
}

ActivationProblem::ActivationProblem(const ActivationCase& c, bool as_bf16)
    : spec(checked(c)), bf16(as_bf16) {
  std::mt19937_64 random(c.seed);
  for (int row = 0; row < c.m; ++row)
    for (int k = 0; k < c.k; ++k) x.push_back(code_of(draw(c.data, row, k, random), bf16));
  for (int k = 0; k < c.k; ++k) {
    const double v = uniform(random);  // a factor of 1/4 to 4, rarely negative
    const double factor = std::ldexp(1 + std::fabs(v), static_cast<int>(random() % 4) - 2);
    smooth.push_back(code_of(c.data == ActivationData::ties ? 1 : v < -0.875 ? -factor : factor, bf16));
  }
  for (int column = 0; column < c.rank; ++column)
    for (int k = 0; k < c.k; ++k) {
      const bool repeats = c.data == ActivationData::cancellation && k / 16 % 4 == 2;
      const uint16_t code = code_of(uniform(random) / 4, bf16);
      lora.push_back(repeats ? lora[lora.size() - 32] : code);
    }
}

size_t ActivationProblem::scales_at() const { return u(spec.m) * u(spec.k) / 2; }
size_t ActivationProblem::down_at() const {
  return scales_at() + u(nvfp4::up(spec.m, nvfp4::kRows)) * u(nvfp4::up(spec.k, nvfp4::kStep)) * nvfp4::kAtom;
}

launch::Launch ActivationProblem::launch(const Build& build) const {
  launch::Launch out;
  out.entry = bf16 ? "quantise_svdquant_bf16" : "quantise_svdquant";
  out.ptx = build.file("quantise/" + out.entry);
  out.shape.block = {quantise::kActivationThreads, 1, 1};
  out.shape.grid = {w(quantise::activation_ctas(spec.m)), 1, 1};
  out.add_buffer({"x", bytes_of(x), true, true, false});
  out.add_buffer({"smooth", bytes_of(smooth), true, true, false});
  out.add_buffer({"lora", bytes_of(lora), true, true, false});
  const size_t all = out.add_buffer(
      {"out", std::vector<std::byte>(down_at() + u(spec.m) * u(spec.rank) * 2), false, false, true});
  for (const size_t at : {scales_at(), down_at()})
    out.arguments.push_back({std::vector<std::byte>(8), 0, {}, {{0, all, at}}});
  for (const int size : {spec.m, spec.k, spec.rank}) out.add_scalar(size);
  return out;
}

std::vector<std::byte> ActivationProblem::expected() const {
  static constexpr oracle::FusedDot kRule{16, 25, 0, -133};  // mma.sync of fp16 and bf16, fp32 sums
  const oracle::FieldFormat format =
      bf16 ? oracle::FieldFormat{8, 7, 127, 1, 0} : oracle::FieldFormat{5, 10, 15, 1, 0};
  const size_t k = u(spec.k), rank = u(spec.rank), groups = k / nvfp4::kGroup, across = (groups + 3) / 4;
  const std::vector<uint32_t> rows(x.begin(), x.end()), columns(lora.begin(), lora.end());
  std::vector<std::byte> out(down_at() + u(spec.m) * rank * 2);
  each_in_parallel(u(spec.m), 0, [&](size_t row) {
    for (size_t group = 0; group < groups; ++group) {
      const size_t first = row * k + group * nvfp4::kGroup;
      std::array<float, nvfp4::kGroup> values{};
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = value_of(x[first + i], bf16) / value_of(smooth[group * nvfp4::kGroup + i], bf16);
      const oracle::Nvfp4Group made = oracle::quantised(values);
      for (size_t i = 0; i < values.size(); i += 2)
        out[(first + i) / 2] = static_cast<std::byte>(made.codes[i] | made.codes[i + 1] << 4);
      out[scales_at() + (row / 128 * across + group / 4) * nvfp4::kAtom + row % 32 * 16 + row % 128 / 32 * 4 +
          group % 4] = static_cast<std::byte>(made.scale);
    }
    for (size_t column = 0; column < rank; ++column) {
      uint32_t sum = 0;
      for (size_t at = 0; at < k; at += 16)
        sum = oracle::fused_dot(kRule, format, std::span(rows).subspan(row * k + at, 16), format,
                                std::span(columns).subspan(column * k + at, 16), sum);
      const uint32_t word =
          oracle::stored(std::bit_cast<float>(sum), bf16 ? oracle::Output::bf16 : oracle::Output::f16);
      std::memcpy(&out[down_at() + (row * rank + column) * 2], &word, 2);
    }
  });
  return out;
}

std::vector<double> ActivationProblem::errors_ulp(const std::vector<std::byte>& outputs) const {
  std::vector<double> out(outputs.size());
  const size_t k = u(spec.k), rank = u(spec.rank);
  for (size_t i = 0; i < u(spec.m) * rank; ++i) {
    long double exact = 0;
    for (size_t j = 0; j < k; ++j)
      exact += static_cast<long double>(value_of(x[i / rank * k + j], bf16)) *
               static_cast<long double>(value_of(lora[i % rank * k + j], bf16));
    uint16_t word = 0;
    std::memcpy(&word, &outputs[down_at() + 2 * i], 2);
    out[down_at() + 2 * i] = oracle::error_ulp(word, exact, bf16 ? 8 : 5, bf16 ? 7 : 10);
  }
  return out;
}

namespace {

PlannedCase planned(const ActivationCase& c, bool bf16, bool full) {
  PlannedCase out;
  out.name = c.describe();
  out.recorded = !full;
  out.full = full;
  out.schedules = launch::schedules(full ? 1 : 2);
  out.draw = [c, bf16] {
    const auto problem = std::make_shared<const ActivationProblem>(c, bf16);
    DrawnCase drawn;
    drawn.result = kActivationResult;
    drawn.chain = [problem](const Build& build) { return Chain{{problem->launch(build)}, {}}; };
    drawn.expected = [problem, bf16] {  // the same on every architecture
      return *once<std::vector<std::byte>>(
          std::string("activation ") + (bf16 ? "bf16 " : "fp16 ") + problem->spec.describe(),
          [&] { return problem->expected(); });
    };
    drawn.errors_ulp = [problem](const std::vector<std::byte>& outputs) {
      return problem->errors_ulp(outputs);
    };
    return drawn;
  };
  return out;
}

std::vector<PlannedCase> cases_of(bool bf16) {
  std::vector<PlannedCase> out;
  uint64_t seed = 8200;
  for (const ActivationData data :
       {ActivationData::normal, ActivationData::ties, ActivationData::cancellation, ActivationData::wide,
        ActivationData::zeros})
    out.push_back(planned({18, 320, 32, data, seed++}, bf16, false));
  constexpr ActivationData kNormal = ActivationData::normal;
  out.push_back(planned({1, 16, 16, kNormal, seed++}, bf16, false));
  out.push_back(planned({130, 80, 48, kNormal, seed++}, bf16, false));  // a second tile of scales
  out.push_back(planned({9, 528, 256, kNormal, seed++}, bf16, false));  // every warp; a part of a stage
  out.push_back(planned({3, 1040, 112, ActivationData::cancellation, seed++}, bf16, false));
  out.push_back(planned({64, 3840, 128, kNormal, seed++}, bf16, true));
  return out;
}

}  // namespace

ActivationCase activation_random_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  return {1 + below(40), 16 * (1 + below(40)), 16 * (1 + below(16)), static_cast<ActivationData>(below(5)),
          random()};
}

std::vector<Kernel> activation_kernels() {
  std::vector<Kernel> out;
  for (const bool bf16 : {false, true}) {
    Kernel k;
    k.name = k.full_name = bf16 ? "quantise_svdquant_bf16" : "quantise_svdquant";
    k.entries = {{"quantise/" + k.name.substr(9), "quantise/" + k.name, k.name}};
    k.cases = [bf16] { return cases_of(bf16); };
    k.another = [bf16](uint64_t seed) { return planned(activation_random_case(seed), bf16, false); };
    out.push_back(k);
  }
  return out;
}

}  // namespace bitwell::suite
