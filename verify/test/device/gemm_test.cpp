// The NVFP4 GEMM on the GPU: every byte of D is the simulator's, whatever the schedule.
#include <atomic>
#include <mutex>
#include <thread>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/capture/digest.h"
#include "verify/suite/same.h"
#include "verify/verdict/gemm_verdict.h"

namespace bitwell::verify {
namespace {

// Random launches of a variant; BITWELL_GEMM_LAUNCHES asks for others.
uint64_t launches_wanted() {
  const char* text = std::getenv("BITWELL_GEMM_LAUNCHES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1000;
}

struct Compiled {
  isa::Program program;
  std::shared_ptr<Device::Module> module;
};

TEST(Gemm, SimulatorAndGpuAgreeOnEveryByte) {
  BITWELL_NEEDS_GPU(device);
  const std::string kernels = share_folder("kernels");
  std::map<std::string, std::string> digests;
  std::map<std::string, Compiled> compiled;  // by entry
  const auto load = [&](const Launch& launch) {
    if (compiled.count(launch.entry) != 0) return;
    const std::string text = read_file(launch.ptx);
    compiled.emplace(launch.entry,
                     Compiled{isa::compile(ptx::parse(text), launch.entry), device->load(text)});
  };
  const char* only = std::getenv("BITWELL_GEMM_ONLY");  // a part of the variants' names
  for (const GemmVariant& variant : gemm_variants()) {
    if (only != nullptr && variant.name().find(only) == std::string::npos) continue;
    std::vector<GemmCase> cases = gemm_cases();
    const size_t named = cases.size();
    for (uint64_t i = 0; i < launches_wanted(); ++i) cases.push_back(gemm_random_case(variant, i + 1));
    for (const int k : {16, 32})  // with and without padding: every entry that a chain may use
      for (const Launch& l :
           GemmProblem({1, 1, k, 1, OperandData::zeros, 1, 0, 1}).chain(variant, kernels).launches)
        load(l);
    std::vector<std::string> digest_of(named);
    std::atomic<size_t> next = 0;
    std::mutex mutex;  // of the device and of what follows
    uint64_t wrong = 0;
    const auto work = [&] {
      for (size_t i = next++; i < cases.size(); i = next++) {
        std::string difference;
        try {
          const GemmProblem problem(cases[i]);
          Chain simulated = problem.chain(variant, kernels);
          Chain on_gpu = simulated;
          isa::Options options;
          options.schedule = {isa::kPolicies[i % isa::kPolicies.size()].policy, i};
          run(simulated, [&](Launch& l) { simulate(compiled.at(l.entry).program, l, options, true); });
          const std::scoped_lock lock(mutex);
          run(on_gpu, [&](Launch& l) { device->run(*compiled.at(l.entry).module, l); });
          if (i < named) {
            Digest digest;
            digest.add(gemm_result(on_gpu));
            digest_of[i] = digest.hex();
          }
          if (!same_bits(gemm_result(simulated), gemm_result(on_gpu))) difference = "bytes differ";
        } catch (const std::exception& e) {
          difference = e.what();
        }
        if (difference.empty()) continue;
        const std::scoped_lock lock(mutex);
        if (++wrong <= 3)
          ADD_FAILURE() << variant.name() << ", " << cases[i].describe() << ": " << difference;
      }
    };
    {
      std::vector<std::jthread> pool;
      for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) pool.emplace_back(work);
      work();
    }
    digests["gemm/" + variant.name()] = gemm_digest(digest_of);
    std::printf("%-24s %6zu launches, %llu differ\n", variant.name().c_str(), cases.size(),
                static_cast<unsigned long long>(wrong));
    std::fflush(stdout);
  }
  if (only == nullptr) record(*device, "gemm.json", digests);
}

}  // namespace
}  // namespace bitwell::verify
