// Every suite's kernels, simulator against GPU: the recorded cases, and more of them, under every kind of
// schedule.
#include "verify/suite/suite.h"

#include <chrono>

#include "gpu.h"
#include "verify/device/compare.h"
#include "verify/verdict/judge.h"

namespace bitwell::device {
namespace {

constexpr const char* kArch = "sm_90a";    // the GPU's
constexpr std::chrono::minutes kLimit{2};  // before a launch counts as hung

// Of Kernel::another, where BITWELL_SUITE_CASES asks for others than the suite does.
uint64_t others_wanted(const suite::Suite& suite) {
  const char* text = std::getenv("BITWELL_SUITE_CASES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : suite.others;
}

// BITWELL_SUITE_ONLY: a part of "gemv/fused".
bool wanted(const suite::Suite& suite, const suite::Kernel& kernel) {
  const char* only = std::getenv("BITWELL_SUITE_ONLY");
  return only == nullptr || (suite.name + "/" + kernel.name).find(only) != std::string::npos;
}

// The digests that the device gives for a kernel.
std::map<std::string, std::string> compare_kernel(Device& device, const suite::Suite& suite,
                                                  const suite::Kernel& kernel) {
  std::vector<suite::PlannedCase> cases = kernel.cases();
  std::erase_if(cases, [](const suite::PlannedCase& c) { return !c.recorded; });
  const size_t recorded = cases.size();
  for (uint64_t seed = 1; seed <= others_wanted(suite); ++seed) cases.push_back(kernel.another(seed));
  const DeviceComparison compared = compare_on_device(
      device, {capture::share_folder("kernels"), kArch}, cases,
      [](size_t i) {
        return run::Schedule{run::kPolicies[i % run::kPolicies.size()].policy, i};
      },
      kLimit);
  std::vector<std::vector<std::byte>> results;
  uint64_t bytes = 0, wrong = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const ComparedCase& c = compared.cases[i];
    bytes += c.bytes;
    if (i < recorded) results.push_back(c.result);
    if (c.ran && c.difference.empty()) continue;
    if (++wrong <= 3)
      ADD_FAILURE() << suite.name << " " << kernel.name << ", " << cases[i].name << ": "
                    << (c.difference.empty() ? "did not run" : c.difference);
  }
  std::printf("%-30s %5zu cases, %llu bytes, %llu cases differ\n", kernel.full_name.c_str(), cases.size(),
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
  std::vector<std::vector<std::byte>> quick;
  for (size_t i = 0; i < recorded; ++i)
    if (!cases[i].full) quick.push_back(results[i]);
  return {{verdict::recorded_name(suite, kernel, true), verdict::recorded_digest(suite, results)},
          {verdict::recorded_name(suite, kernel, false), verdict::recorded_digest(suite, quick)}};
}

class SuiteOnGpu : public testing::TestWithParam<const suite::Suite*> {};

TEST_P(SuiteOnGpu, SimulatorAndGpuAgreeOnEveryByte) {
  BITWELL_NEEDS_GPU(device);
  const suite::Suite& suite = *GetParam();
  std::map<std::string, std::string> digests;
  bool all = true;
  for (const suite::Kernel& kernel : suite.kernels) {
    if (!suite.judged_on(kernel, kArch)) continue;
    all = all && wanted(suite, kernel);
    if (wanted(suite, kernel)) digests.merge(compare_kernel(*device, suite, kernel));
  }
  // Of a part of the kernels: to be added to the others'.
  if (!digests.empty()) record(*device, suite.name + (all ? ".json" : ".part.json"), digests);
}

std::vector<const suite::Suite*> all_suites() {
  std::vector<const suite::Suite*> out;
  for (const suite::Suite& s : suite::suites())
    if (std::any_of(s.kernels.begin(), s.kernels.end(),
                    [&](const suite::Kernel& k) { return s.judged_on(k, kArch); }))
      out.push_back(&s);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Suites, SuiteOnGpu, testing::ValuesIn(all_suites()),
                         [](const auto& suite) { return suite.param->name; });

}  // namespace
}  // namespace bitwell::device
