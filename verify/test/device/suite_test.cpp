// Every suite's kernels, simulator against GPU: the recorded cases, and more of them, under every kind of
// schedule.
#include "verify/suite/suite.h"

#include <atomic>
#include <mutex>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/suite/parallel.h"
#include "verify/suite/same.h"
#include "verify/verdict/judge.h"

namespace bitwell::verify {
namespace {

constexpr const char* kArch = "sm_90a";  // the GPU's

// Of Kernel::another, where BITWELL_SUITE_CASES asks for others than the suite does.
uint64_t others_wanted(const Suite& suite) {
  const char* text = std::getenv("BITWELL_SUITE_CASES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : suite.others;
}

// BITWELL_SUITE_ONLY: a part of "gemv/fused".
bool wanted(const Suite& suite, const Kernel& kernel) {
  const char* only = std::getenv("BITWELL_SUITE_ONLY");
  return only == nullptr || (suite.name + "/" + kernel.name).find(only) != std::string::npos;
}

// Entries that launches name, compiled for both when one of them does for the first time.
class Compiled {
 public:
  explicit Compiled(Device& device) : device_(device) {}
  void simulate_chain(Chain& chain, const isa::Options& options) {
    simulate(
        chain, [&](const Launch& l) -> const isa::Program& { return entry(l).program; }, options, true);
  }
  // One launch at a time.
  void run_on_gpu(Chain& chain) {
    for (size_t i = 0; i < chain.launches.size(); ++i) {
      Launch& l = chain.launches[i];
      for (const Chain::Link& link : chain.links)
        if (link.to == i)
          l.buffers[link.to_buffer].bytes = chain.launches[link.from].buffers[link.from_buffer].bytes;
      const Entry& e = entry(l);
      const std::scoped_lock lock(gpu_);
      device_.run(*e.module, l);
    }
  }

 private:
  struct Entry {
    isa::Program program;
    std::shared_ptr<Device::Module> module;
  };
  const Entry& entry(const Launch& l) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(l.entry);
    if (found != entries_.end()) return found->second;
    const std::string text = read_file(l.ptx);
    const std::scoped_lock gpu_lock(gpu_);
    return entries_.emplace(l.entry, Entry{isa::compile(ptx::parse(text), l.entry), device_.load(text)})
        .first->second;
  }
  Device& device_;
  std::mutex mutex_, gpu_;
  std::map<std::string, Entry> entries_;  // a map's elements stay where they are
};

struct Compared {
  std::string difference;  // or empty
  std::vector<std::byte> on_gpu;
};

Compared compare(Compiled& compiled, const DrawnCase& drawn, const isa::Schedule& schedule) {
  Compared out;
  try {
    Chain simulated = drawn.chain({share_folder("kernels"), kArch});
    Chain on_gpu = simulated;
    isa::Options options;
    options.schedule = schedule;
    compiled.simulate_chain(simulated, options);
    compiled.run_on_gpu(on_gpu);
    out.on_gpu = on_gpu.launches.back().buffers[drawn.result].bytes;
    if (!same_bits(simulated.launches.back().buffers[drawn.result].bytes, out.on_gpu))
      out.difference = "bytes differ";
  } catch (const std::exception& e) {
    out.difference = e.what();
  }
  return out;
}

// The digests that the device gives for a kernel.
std::map<std::string, std::string> compare_kernel(Device& device, const Suite& suite, const Kernel& kernel) {
  std::vector<PlannedCase> cases = kernel.cases();
  std::erase_if(cases, [](const PlannedCase& c) { return !c.recorded; });
  const size_t recorded = cases.size();
  for (uint64_t seed = 1; seed <= others_wanted(suite); ++seed) cases.push_back(kernel.another(seed));
  Compiled compiled(device);
  std::vector<std::vector<std::byte>> results(recorded);
  std::atomic<uint64_t> outputs = 0;
  std::mutex mutex;
  uint64_t wrong = 0;
  each_in_parallel(cases.size(), 0, [&](size_t i) {
    const DrawnCase drawn = cases[i].draw();
    Compared c = compare(compiled, drawn, {isa::kPolicies[i % isa::kPolicies.size()].policy, i});
    outputs += c.on_gpu.size() / drawn.element;
    if (i < recorded) results[i] = std::move(c.on_gpu);
    if (c.difference.empty()) return;
    const std::scoped_lock lock(mutex);
    if (++wrong <= 3)
      ADD_FAILURE() << suite.name << " " << kernel.name << ", " << cases[i].name << ": " << c.difference;
  });
  std::printf("%-30s %5zu cases, %llu outputs, %llu cases differ\n", kernel.full_name.c_str(), cases.size(),
              static_cast<unsigned long long>(outputs.load()), static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
  std::vector<std::vector<std::byte>> quick;
  for (size_t i = 0; i < recorded; ++i)
    if (!cases[i].full) quick.push_back(results[i]);
  return {{recorded_name(suite, kernel, true), recorded_digest(suite, results)},
          {recorded_name(suite, kernel, false), recorded_digest(suite, quick)}};
}

class SuiteOnGpu : public testing::TestWithParam<const Suite*> {};

TEST_P(SuiteOnGpu, SimulatorAndGpuAgreeOnEveryByte) {
  BITWELL_NEEDS_GPU(device);
  const Suite& suite = *GetParam();
  std::map<std::string, std::string> digests;
  bool all = true;
  for (const Kernel& kernel : suite.kernels) {
    if (!suite.judged_on(kernel, kArch)) continue;
    all = all && wanted(suite, kernel);
    if (wanted(suite, kernel)) digests.merge(compare_kernel(*device, suite, kernel));
  }
  // Of a part of the kernels: to be added to the others'.
  if (!digests.empty()) record(*device, suite.name + (all ? ".json" : ".part.json"), digests);
}

std::vector<const Suite*> all_suites() {
  std::vector<const Suite*> out;
  for (const Suite& s : suites())
    if (std::any_of(s.kernels.begin(), s.kernels.end(),
                    [&](const Kernel& k) { return s.judged_on(k, kArch); }))
      out.push_back(&s);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Suites, SuiteOnGpu, testing::ValuesIn(all_suites()),
                         [](const auto& suite) { return suite.param->name; });

}  // namespace
}  // namespace bitwell::verify
