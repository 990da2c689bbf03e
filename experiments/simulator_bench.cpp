// The simulator in lane-instructions a second (one PTX instruction for one active thread), on one core: a
// saxpy loop and every GEMV rung, checked and unchecked. Peers measured elsewhere: gpuocelot 0.04 to 0.05 G,
// GPGPU-Sim 0.01 G.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstring>
#include <optional>

#include "kernels/dense/launch.h"
#include "model/ptx/parse.h"
#include "verify/capture/captures.h"
#include "verify/suite/kernels/dense.h"
#include "verify/suite/kernels/gemm.h"
#include "verify/suite/kernels/gemv.h"

namespace {

namespace capture = bitwell::capture;
namespace isa = bitwell::isa;
namespace launch = bitwell::launch;
namespace machine = bitwell::machine;
namespace run = bitwell::run;
namespace suite = bitwell::suite;
namespace ptx = bitwell::ptx;

// y[i] = a * x[i] + y[i] over n elements by one CTA of 128 threads.
constexpr const char* kSaxpy = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry saxpy(.param .f32 pa, .param .u64 px, .param .u64 py, .param .u32 pn)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.f32 %f0, [pa];
  ld.param.u64 %rd0, [px];
  ld.param.u64 %rd1, [py];
  ld.param.u32 %r0, [pn];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
L: ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd4], %f3;
  add.u64 %rd3, %rd3, 512;
  add.u64 %rd4, %rd4, 512;
  add.u32 %r1, %r1, 128;
  setp.lt.u32 %p1, %r1, %r0;
  @%p1 bra L;
  ret;
})";

void rate(benchmark::State& state, uint64_t instructions) {
  state.counters["lane-inst/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void saxpy(benchmark::State& state, bool checked) {
  constexpr uint32_t n = 1 << 16;
  const ptx::Module module = ptx::parse(kSaxpy);
  const isa::Program program = isa::compile(module, "saxpy");
  bitwell::machine::Memory memory;
  std::vector<std::vector<std::byte>> arguments;
  const auto add = [&](auto value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    arguments.push_back(std::move(bytes));
  };
  add(1.5f);
  for (const char* name : {"x", "y"}) {
    auto& region = memory.allocate(name, 4 * n);
    region.mark_all_defined();
    add(region.base());
  }
  add(n);
  run::Shape shape;
  shape.block = {128, 1, 1};
  run::Options options;
  options.checked = checked;
  uint64_t instructions = 0;
  for (auto _ : state) instructions += run::run(program, shape, arguments, memory, options).lane_instructions;
  rate(state, instructions);
}
BENCHMARK_CAPTURE(saxpy, checked, true)->Name("saxpy loop, checked")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(saxpy, unchecked, false)->Name("saxpy loop, unchecked")->Unit(benchmark::kMillisecond);

void rung(benchmark::State& state, const suite::GemvRung& r, const std::string& arch, bool checked) {
  const std::string path =
      capture::share_folder("kernels") + "/gemv/" + std::string(r.name) + "." + arch + ".ptx";
  const suite::GemvProblem problem(
      {128, 4096, 1, suite::OperandData::moderate, suite::ScaleLayout::blocked, 1});
  launch::Launch launch = problem.launch(r, path);
  launch.module = launch::load_module(path);
  launch.module->program(launch.entry);  // compiled once, and not in the first turn
  uint64_t instructions = 0;
  run::Options options;
  options.checked = checked;
  for (auto _ : state) instructions += launch::simulate(launch, options, false).result.lane_instructions;
  rate(state, instructions);
}

// The whole GEMM, checked: A decoded, then the kernel; multiply-accumulates a second.
void gemm(benchmark::State& state, const char* name, int m, int n, int k) {
  const suite::GemmVariant& variant = suite::gemm_variant(name);
  const suite::GemmProblem problem({m, n, k, 1, suite::OperandData::moderate, 2, 0, 1});
  launch::Modules modules;
  const suite::Chain chain = problem.chain(variant, {capture::share_folder("kernels"), "sm_90a"});
  for (const launch::Launch& l : chain.launches) modules(l)->program(l.entry);
  for (auto _ : state) {
    suite::Chain run = chain;
    suite::simulate(run, std::ref(modules), {}, true);
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["MAC/s"] = benchmark::Counter(runs * m * n * k, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(gemm, small, "gemm_m128_split1_f16", 256, 256, 1024)
    ->Name("gemm 256x256x1024, checked")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gemm, large, "gemm_m256_split1_f16", 1024, 1024, 4096)
    ->Name("gemm 1024x1024x4096, checked")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// The dense GEMM for Blackwell, checked; its arithmetic alone is the NVFP4 tile of dot_bench. Judged: inputs
// drawn, every sum worked out by the oracle, and D compared.
struct DenseRun {
  const char* kernel;
  int m, n, k;
  bool judged = false;
};
void dense(benchmark::State& state, const DenseRun& run) {
  const dense::Variant v = dense::variant(run.kernel);
  suite::DenseCase spec{run.m, run.n, run.k, 1, suite::OperandData::moderate, 4101};
  spec.contest = run.judged;
  spec.clusters = 148 / v.cluster();  // an SM of a B200 for each CTA
  std::optional<suite::DenseProblem> drawn;
  if (!run.judged) drawn.emplace(spec);
  const suite::Build build{capture::share_folder("kernels"), "sm_100a"};
  const auto module = launch::load_module(build.file(std::string("dense/") + run.kernel));
  module->program(run.kernel);
  for (auto _ : state) {
    if (run.judged) drawn.emplace(spec);
    launch::Launch launch = drawn->launch(v, build);
    launch.module = module;
    launch::simulate(launch, {}, true).keep(launch);
    if (run.judged && launch.buffers[suite::kDenseResult].bytes != drawn->expected(v))
      state.SkipWithError("wrong bits");
  }
  state.counters["MAC/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * run.m * run.n * run.k, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(dense, one, {"dense_m128_n256", 256, 512, 2048})
    ->Name("dense 256x512x2048 by one CTA a tile, checked")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(dense, pair, {"dense_m256_n256", 256, 512, 2048})
    ->Name("dense 256x512x2048 by pairs, checked")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(dense, small, {"dense_m128_n256", 128, 512, 256})
    ->Name("dense 128x512x256, checked")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(dense, large, {"dense_m256_n256_asked_tma", 2304, 4608, 7168})
    ->Name("dense 2304x4608x7168, checked")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(dense, judged, {"dense_m256_n256_asked_tma", 2304, 4608, 7168, true})
    ->Name("dense 2304x4608x7168, judged")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// Two megabytes read and written by TMA again and again, 128-byte swizzle, checked.
void tensor_copy(benchmark::State& state) {
  constexpr uint32_t kSide = 1024;
  launch::Launch launch;
  launch.ptx = capture::share_folder("kernels") + "/peer/tensor_copy.sm_90a.ptx";
  launch.entry = "tensor_copy";
  launch.shape.grid = {kSide / 64, 1, 1};
  launch.shape.block = {32, 1, 1};
  bitwell::machine::TensorMap map;
  map.type = bitwell::machine::TensorType::f16;
  map.rank = 3;
  map.dims = {kSide, kSide, 1, 1, 1};
  map.strides = {2, 2 * kSide, 2 * kSide * kSide, 0, 0};
  map.box = {64, 64, 1, 1, 1};
  map.swizzle = bitwell::machine::TensorSwizzle::b128;
  constexpr size_t kBytes = size_t{2} * kSide * kSide;
  for (const bool output : {false, true})
    launch.add_tensor_map(launch.add_hidden_buffer({output ? "to" : "from", std::vector<std::byte>(kBytes),
                                                    !output, !output, output}),
                          map);
  constexpr int kTimes = 32;
  launch.add_scalar(static_cast<int>(kSide / 64));
  launch.add_scalar(kTimes);
  launch.module = launch::load_module(launch.ptx);
  launch.module->program(launch.entry);
  for (auto _ : state) launch::simulate(launch, {}, true);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kTimes * 2 * kBytes));
}
BENCHMARK(tensor_copy)->Name("TMA 64x64 boxes in and out, checked")->Unit(benchmark::kMillisecond);

[[maybe_unused]] const bool registered = [] {
  for (const suite::GemvRung& r : suite::gemv_rungs())
    for (const char* arch : {"sm_90a", "sm_100a"})
      for (const bool checked : {true, false})
        benchmark::RegisterBenchmark(
            ("gemv_" + std::string(r.name) + " " + arch + (checked ? ", checked" : ", unchecked")).c_str(),
            [&r, arch, checked](benchmark::State& state) { rung(state, r, arch, checked); })
            ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
