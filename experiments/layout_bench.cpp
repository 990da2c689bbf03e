// Layouts and budgets: whole-layout checks of one tile, the audit of all shipped specs, the searches, and the
// host scale-factor swizzle beside a memory copy.
#include <benchmark/benchmark.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "model/budget/audit.h"
#include "model/budget/search.h"
#include "model/layout/operands.h"
#include "model/layout/scale_factors.h"
#include "model/layout/scale_swizzle.h"

namespace {

namespace layout = bitwell::layout;
namespace budget = bitwell::budget;

// Every operand of a 256x256x256 tile: all offsets, and that no two share one.
void check_tile(benchmark::State& state) {
  for (auto _ : state) {
    for (const layout::Hardware& h : {layout::operand_tile(256, 256, 4, layout::SharedSwizzle::b128),
                                      layout::operand_tile(256, 256, 4, layout::SharedSwizzle::b128),
                                      layout::scales_shared(256, 256, 16, layout::SharedOrder::dsl),
                                      layout::scales_shared(256, 256, 16, layout::SharedOrder::cutlass)})
      benchmark::DoNotOptimize(layout::collision(h.layout.layout));
  }
}
BENCHMARK(check_tile)->Unit(benchmark::kMillisecond);

std::vector<budget::Spec> shipped() {
  std::vector<budget::Spec> out;
  for (const auto& file : std::filesystem::directory_iterator(BITWELL_BUDGETS)) {
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    out.push_back(budget::parse_spec(text.str()));
  }
  return out;
}

void audit_all_shipped(benchmark::State& state) {
  for (auto _ : state)
    for (const budget::Spec& s : shipped()) benchmark::DoNotOptimize(budget::audit(s));
}
BENCHMARK(audit_all_shipped)->Unit(benchmark::kMillisecond);

void search_all_shipped(benchmark::State& state) {
  for (auto _ : state)
    for (const budget::Spec& s : shipped())
      if (!s.search.empty()) benchmark::DoNotOptimize(budget::search(s));
}
BENCHMARK(search_all_shipped)->Unit(benchmark::kMillisecond);

constexpr size_t kRows = 1024;
constexpr size_t kScales = 256;  // 256 KiB: source and destination in the L2

void scales(benchmark::State& state) {
  state.counters["scales/s"] =
      benchmark::Counter(static_cast<double>(kRows * kScales), benchmark::Counter::kIsIterationInvariantRate);
}

void swizzle(benchmark::State& state) {
  std::vector<uint8_t> linear(kRows * kScales, 1);
  std::vector<uint8_t> tiled(layout::tiled_size(kRows, kScales));
  for (auto _ : state) {
    layout::swizzle_scales(linear, kRows, kScales, tiled);
    benchmark::ClobberMemory();
  }
  scales(state);
}
BENCHMARK(swizzle);

void unswizzle(benchmark::State& state) {
  std::vector<uint8_t> linear(kRows * kScales);
  std::vector<uint8_t> tiled(layout::tiled_size(kRows, kScales), 1);
  for (auto _ : state) {
    layout::unswizzle_scales(tiled, kRows, kScales, linear);
    benchmark::ClobberMemory();
  }
  scales(state);
}
BENCHMARK(unswizzle);

void swizzle_by_formula(benchmark::State& state) {
  std::vector<uint8_t> linear(kRows * kScales, 1);
  std::vector<uint8_t> tiled(layout::tiled_size(kRows, kScales));
  for (auto _ : state) {
    for (size_t r = 0; r < kRows; ++r)
      for (size_t c = 0; c < kScales; ++c)
        tiled[(r / 128 * (kScales / 4) + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4] =
            linear[r * kScales + c];
    benchmark::ClobberMemory();
  }
  scales(state);
}
BENCHMARK(swizzle_by_formula);

void copy_scales(benchmark::State& state) {
  std::vector<uint8_t> from(kRows * kScales, 1);
  std::vector<uint8_t> to(kRows * kScales);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  scales(state);
}
BENCHMARK(copy_scales);

}  // namespace
