// Every sm_90a rung of the GEMV ladder, simulator against GPU, bit for bit.
#include "verify/suite/gemv.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "../by_name.h"
#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/capture/digest.h"
#include "verify/suite/same.h"

namespace bitwell::verify {
namespace {

class GemvOnGpu : public testing::TestWithParam<GemvRung> {};

struct Compiled {
  isa::Program programs[2];
  std::shared_ptr<Device::Module> module;
  std::string path;
};

Compiled compile(Device& device, const GemvRung& rung) {
  const std::string path = share_folder("kernels") + "/gemv/" + std::string(rung.name) + ".sm_90a.ptx";
  const std::string text = read_file(path);
  const ptx::Module module = ptx::parse(text);
  return {{isa::compile(module, gemv_entry(rung, ScaleLayout::row_major)),
           isa::compile(module, gemv_entry(rung, ScaleLayout::blocked))},
          device.load(text),
          path};
}

// Runs one case on both; returns the outputs compared.
uint64_t compare(Device& device, std::mutex& one_at_a_time, const GemvRung& rung, const Compiled& compiled,
                 const GemvCase& c, std::vector<std::byte>& device_output) {
  const GemvProblem problem(c);
  Launch on_gpu = problem.launch(rung, compiled.path);
  Launch simulated = on_gpu;
  {
    const std::scoped_lock lock(one_at_a_time);
    device.run(*compiled.module, on_gpu);
  }
  simulate(compiled.programs[static_cast<int>(c.layout)], simulated, {}, true);
  device_output = bytes_of(on_gpu, "c");
  EXPECT_TRUE(same_bits(bytes_of(simulated, "c"), device_output)) << rung.name << " " << c.describe();
  return device_output.size() / 2;
}

TEST_P(GemvOnGpu, SimulatorAndGpuAgreeOnTenMillionOutputs) {
  BITWELL_NEEDS_GPU(device);
  const GemvRung& rung = GetParam();
  const Compiled compiled = compile(*device, rung);
  std::vector<GemvCase> cases;
  uint64_t seed = 90000;
  for (int round = 0; round < 5; ++round)
    for (const auto& [data, name] : kOperandData)
      for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
        cases.push_back({4096 - 37 * round, round % 2 == 0 ? 128 : 384, 28, data, layout, seed++});
  std::mutex one_at_a_time;
  std::atomic<size_t> next = 0;
  std::atomic<uint64_t> outputs = 0;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&] {
        std::vector<std::byte> unused;
        for (size_t i = next++; i < cases.size(); i = next++)
          outputs += compare(*device, one_at_a_time, rung, compiled, cases[i], unused);
      });
  }
  EXPECT_GE(outputs, 10'000'000u);
  std::printf("gemv_%s: %llu outputs compared with %s\n", std::string(rung.name).c_str(),
              static_cast<unsigned long long>(outputs.load()), device->name().c_str());
}

INSTANTIATE_TEST_SUITE_P(Rungs, GemvOnGpu, testing::ValuesIn(gemv_rungs()),
                         [](const auto& rung) { return std::string(rung.param.name); });

TEST(GemvCapture, SuitesAreRecorded) {
  BITWELL_NEEDS_GPU(device);
  std::map<std::string, std::string> digests;
  std::mutex one_at_a_time;
  std::atomic<size_t> next = 0;
  const std::vector<GemvRung>& rungs = gemv_rungs();
  std::vector<std::pair<std::string, std::string>> found(rungs.size());
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
      pool.emplace_back([&] {
        for (size_t i = next++; i < rungs.size(); i = next++) {
          const Compiled compiled = [&] {
            const std::scoped_lock lock(one_at_a_time);
            return compile(*device, rungs[i]);
          }();
          Digest digest;
          const auto add = [&](const std::vector<GemvCase>& cases) {
            for (const GemvCase& c : cases) {
              std::vector<std::byte> output;
              compare(*device, one_at_a_time, rungs[i], compiled, c, output);
              digest.add(output);
            }
            return digest.hex();
          };
          found[i].first = add(gemv_reduced_cases(rungs[i]));
          found[i].second = add(gemv_full_cases());
        }
      });
  }
  for (size_t i = 0; i < rungs.size(); ++i) {
    digests["gemv/" + std::string(rungs[i].name)] = found[i].first;
    digests["gemv-full/" + std::string(rungs[i].name)] = found[i].second;
  }
  record(*device, "gemv.json", digests);
}

}  // namespace
}  // namespace bitwell::verify
