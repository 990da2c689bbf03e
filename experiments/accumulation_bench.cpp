// Accumulation orders in products a second: the fast tiles beside their definition.
#include <benchmark/benchmark.h>

#include <random>

#include "model/number/tile/accumulation_tile.h"
#include "verify/suite/kernels/gemv.h"

namespace {

namespace number = bitwell::number;

constexpr size_t kRows = 16;
constexpr size_t kColumns = 64;
constexpr size_t kK = 4096;

struct Tile {
  std::vector<uint8_t> a, sfa, b, sfb;
  Tile() {
    std::mt19937_64 random(1);
    const auto fill = [&](std::vector<uint8_t>& to, size_t count, unsigned least, unsigned range) {
      for (size_t i = 0; i < count; ++i) to.push_back(static_cast<uint8_t>(least + (random() >> 40) % range));
    };
    fill(a, kRows * kK, 0, 16);
    fill(b, kColumns * kK, 0, 16);
    fill(sfa, kRows * kK / 16, 0x30, 16);
    fill(sfb, kColumns * kK / 16, 0x30, 16);
  }
};

void rate(benchmark::State& state, size_t products) {
  state.counters["products/s"] =
      benchmark::Counter(static_cast<double>(products), benchmark::Counter::kIsIterationInvariantRate);
}

void accumulation_tile(benchmark::State& state, std::string_view rung, std::string_view level) {
  const Tile t;
  const number::AccumulationColumns b(t.b, t.sfb, kColumns, kK);
  std::vector<uint16_t> c(kRows * kColumns);
  for (auto _ : state) {
    number::accumulation_tile(bitwell::suite::gemv_rung(rung).order, t.a, t.sfa, kRows, b, c, level);
    benchmark::ClobberMemory();
  }
  rate(state, kRows * kColumns * kK);
}
BENCHMARK_CAPTURE(accumulation_tile, naive, "naive", "");
BENCHMARK_CAPTURE(accumulation_tile, shared_b, "shared_b", "");
BENCHMARK_CAPTURE(accumulation_tile, fused, "fused", "");
BENCHMARK_CAPTURE(accumulation_tile, fp16_combine, "fp16_combine", "");
BENCHMARK_CAPTURE(accumulation_tile, fp32_combine, "fp32_combine", "");
BENCHMARK_CAPTURE(accumulation_tile, fp32_combine_avx2, "fp32_combine", "avx2");

void accumulation_definition(benchmark::State& state, std::string_view rung) {
  const Tile t;
  const number::DotOperands d{std::span(t.a).first(kK), std::span(t.b).first(kK),
                              std::span(t.sfa).first(kK / 16), std::span(t.sfb).first(kK / 16)};
  for (auto _ : state) benchmark::DoNotOptimize(number::evaluate(bitwell::suite::gemv_rung(rung).order, d));
  rate(state, kK);
}
BENCHMARK_CAPTURE(accumulation_definition, fp32_combine, "fp32_combine");

}  // namespace
