// What the race check costs: each kernel without it and with it in turn, in one run. On the counters:
// processor time of the fastest run of each, their ratio, the most that it may be, and bytes of the check's
// memory for a byte that the kernel touches.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "verify/capture/captures.h"
#include "verify/yardsticks/yardsticks.h"

namespace {

namespace capture = bitwell::capture;
namespace findings = bitwell::findings;
namespace machine = bitwell::machine;
namespace yardsticks = bitwell::yardsticks;

constexpr double kMostOfGemm = 3, kMostOfSimt = 5, kMostMemory = 4;

// Of this thread: other programs of a busy machine count little.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void races(benchmark::State& state, const yardsticks::Yardstick& yardstick) {
  yardsticks::YardstickRun run(yardstick, capture::share_folder("kernels"));
  const auto seconds_of = [&](findings::Watch* watch) {
    run.prepare();
    double start = 0;
    run.run(watch, watch == nullptr ? bitwell::machine::Observer{} : watch->observer(run.lines()),
            [&] { start = processor_seconds(); });
    return processor_seconds() - start;
  };
  double off = std::numeric_limits<double>::infinity(), on = off, memory = 0;
  for (auto _ : state) {
    off = std::min(off, seconds_of(nullptr));
    findings::Watch watch;
    const double seconds = seconds_of(&watch);
    on = std::min(on, seconds);
    state.SetIterationTime(seconds);
    const auto cost = watch.cost();
    memory = static_cast<double>(cost.shadow) / static_cast<double>(cost.touched);
  }
  state.counters["off ms"] = 1000 * off;
  state.counters["on ms"] = 1000 * on;
  state.counters["on/off"] = on / off;
  state.counters["most"] = yardstick.simt ? kMostOfSimt : kMostOfGemm;
  state.counters["B/B"] = memory;
  state.counters["most B/B"] = kMostMemory;
}

[[maybe_unused]] const bool registered = [] {
  for (const yardsticks::Yardstick& y : yardsticks::yardsticks())
    benchmark::RegisterBenchmark(("races/" + std::string(y.simt ? "simt/" : "gemm/") + y.name).c_str(),
                                 [&y](benchmark::State& state) { races(state, y); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
