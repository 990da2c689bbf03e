// What a process that lives on pays for one small thing after the other: load, allocate, launch of one empty
// CTA, free, unload; the launch alone; and 10,000 modules at once.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "model/isa/context/context.h"

namespace {

using namespace bitwell;

// `plain` has no variables, the other has some in both memories.
std::string text(bool plain, int number = 0) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" +
         (plain ? std::string()
                : ".visible .global .align 4 .u32 total = " + std::to_string(number) +
                      ";\n.visible .const .align 4 .u32 step = 3;\n") +
         ".visible .entry k(.param .u64 out)\n{\nret;\n}\n";
}

double resident_mib() {
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0, pages = 0;
  in >> size >> pages;
  return static_cast<double>(pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) / (1 << 20);
}

void life(benchmark::State& state, bool plain) {
  isa::Context context;
  const std::string source = text(plain);
  run::Shape shape;
  shape.block = {32, 1, 1};
  const auto once = [&] {
    const isa::ModuleHandle m = context.load(source);
    const isa::Allocation x = context.allocate("x", 400);
    context.launch(m, "k", shape, {isa::argument(x)});
    context.free(x);
    context.unload(m);
  };
  constexpr int kWarm = 10000;
  for (int i = 0; i < kWarm; ++i) once();
  const double before = resident_mib();
  for (auto _ : state) once();
  state.counters["MiB more"] = resident_mib() - before;
}
BENCHMARK_CAPTURE(life, plain, true)
    ->Name("context: load, allocate, launch, free, unload")
    ->Iterations(100000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(life, variables, false)
    ->Name("context: the same with variables")
    ->Iterations(100000)
    ->Unit(benchmark::kMicrosecond);

void launch(benchmark::State& state, uint32_t threads) {
  isa::Context context;
  const isa::ModuleHandle m = context.load(text(true));
  const isa::Allocation x = context.allocate("x", 400);
  run::Shape shape;
  shape.block = {threads, 1, 1};
  for (auto _ : state) context.launch(m, "k", shape, {isa::argument(x)});
}
BENCHMARK_CAPTURE(launch, warp, 32)
    ->Name("context: launch of one empty CTA of 32 threads")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(launch, cta, 256)
    ->Name("context: launch of one empty CTA of 256 threads")
    ->Unit(benchmark::kMicrosecond);

// Each another text, or all of one text; loaded, launched and unloaded.
void many(benchmark::State& state, bool distinct) {
  constexpr int kModules = 10000;
  run::Shape shape;
  shape.block = {32, 1, 1};
  for (auto _ : state) {
    isa::Context context;
    const isa::Allocation x = context.allocate("x", 400);
    std::vector<isa::ModuleHandle> modules;
    for (int i = 0; i < kModules; ++i) modules.push_back(context.load(text(false, distinct ? i : 0)));
    for (const isa::ModuleHandle m : modules) context.launch(m, "k", shape, {isa::argument(x)});
    for (const isa::ModuleHandle m : modules) context.unload(m);
  }
  state.counters["modules/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kModules), benchmark::Counter::kIsRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK_CAPTURE(many, same, false)
    ->Name("context: 10,000 modules of one text at once")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(many, distinct, true)
    ->Name("context: 10,000 modules of as many texts at once")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
