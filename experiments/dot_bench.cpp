// Tensor-core dot products in multiply-adds a second: the fast tiles beside their definition.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "model/number/tile/dot_tile.h"

namespace {

namespace number = bitwell::number;

constexpr size_t kRows = 64;
constexpr size_t kColumns = 128;
constexpr size_t kK = 256;

void rate(benchmark::State& state, size_t macs) {
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(macs), benchmark::Counter::kIsIterationInvariantRate);
}

// Finite codes near one, one a word.
template <class T>
std::vector<T> words(size_t count, const number::Format& f) {
  std::vector<T> out(count);
  std::mt19937_64 random(1);
  for (T& v : out) {
    const uint64_t bits = random();
    const auto field = static_cast<uint64_t>(std::max(0, f.bias - 2 + static_cast<int>(bits >> 40 & 3)));
    v = static_cast<T>(((bits & (f.fraction_mask() | f.sign_mask())) | field << f.fraction_bits)
                       << f.ignored_low);
  }
  return out;
}

const number::DotRule& nvfp4() {
  return *number::find_dot_rule("blackwell", "mxf4nvf4", number::e2m1, number::e2m1, number::f32,
                                &number::ue4m3, 16);
}

void nvfp4_tile(benchmark::State& state, const char* level) {
  const auto a = words<uint32_t>(kRows * kK, number::e2m1);
  const auto b = words<uint32_t>(kColumns * kK, number::e2m1);
  const auto sa = words<uint8_t>(kRows * kK / 16, number::ue4m3);
  const auto sb = words<uint8_t>(kColumns * kK / 16, number::ue4m3);
  const number::DotColumns prepared = number::prepare_columns(nvfp4(), {&number::e2m1, b, sb}, kColumns, kK);
  std::vector<uint32_t> d(kRows * kColumns);
  for (auto _ : state) {
    number::dot_tile(nvfp4(), {&number::e2m1, a, sa}, kRows, prepared, d, level);
    benchmark::ClobberMemory();
  }
  rate(state, kRows * kColumns * kK);
}
BENCHMARK_CAPTURE(nvfp4_tile, best, "");
BENCHMARK_CAPTURE(nvfp4_tile, avx2, "avx2");

void nvfp4_definition(benchmark::State& state) {
  const auto a = words<uint32_t>(64, number::e2m1);
  const auto b = words<uint32_t>(64, number::e2m1);
  const auto s = words<uint8_t>(4, number::ue4m3);
  uint32_t d = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        d = number::dot(nvfp4(), {&number::e2m1, a, s}, {&number::e2m1, b, s}, d & 0xFFFF));
  rate(state, 64);
}
BENCHMARK(nvfp4_definition);

struct Row {
  const char* name;
  const char* architecture;
  const char* instruction;
  const number::Format* input;
};
constexpr Row kRowsOfRules[] = {{"f16 wgmma", "hopper", "wgmma", &number::f16},
                                {"bf16 wgmma", "hopper", "wgmma", &number::bf16},
                                {"tf32 wgmma", "hopper", "wgmma", &number::tf32},
                                {"e4m3 wgmma", "hopper", "wgmma", &number::e4m3},
                                {"e4m3 tcgen05", "blackwell", "tcgen05", &number::e4m3}};

void plain_tile(benchmark::State& state, const Row& row) {
  const number::DotRule* rule =
      number::find_dot_rule(row.architecture, row.instruction, *row.input, *row.input, number::f32);
  const auto a = words<uint32_t>(kRows * kK, *row.input);
  const auto codes = words<uint32_t>(kColumns * kK, *row.input);
  const number::DotColumns b = number::prepare_columns(*rule, {row.input, codes}, kColumns, kK);
  std::vector<uint32_t> d(kRows * kColumns);
  for (auto _ : state) {
    number::dot_tile(*rule, {row.input, a}, kRows, b, d);
    benchmark::ClobberMemory();
  }
  rate(state, kRows * kColumns * kK);
}

void plain_definition(benchmark::State& state, const Row& row) {
  const number::DotRule* rule =
      number::find_dot_rule(row.architecture, row.instruction, *row.input, *row.input, number::f32);
  const auto a = words<uint32_t>(kK, *row.input);
  uint32_t d = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(d = number::dot(*rule, {row.input, a}, {row.input, a}, d & 0xFFFF));
  rate(state, kK);
}

const bool registered = [] {
  for (const Row& r : kRowsOfRules) {
    benchmark::RegisterBenchmark((std::string(r.name) + ", tile").c_str(), plain_tile, r);
    benchmark::RegisterBenchmark((std::string(r.name) + ", definition").c_str(), plain_definition, r);
  }
  return true;
}();

}  // namespace
