#include "verify/verdict/exhaust.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "verify/suite/parallel.h"
#include "verify/verdict/asked.h"

namespace bitwell::verdict {
namespace {

ExhaustedCase exhaust_case(const suite::Kernel& kernel, const std::string& arch,
                           const suite::PlannedCase& planned, const Plan& plan, uint64_t most,
                           unsigned threads) {
  ExhaustedCase row{kernel.full_name, arch, planned.name, 0, {}, "", true};
  const suite::SuiteCase c = suite::suite_case(planned, planned.draw(), {plan.ptx, arch});
  if (c.chain.launches.size() != 1) {
    row.wrong = "not tried: several launches";
    return row;
  }
  const launch::Launch& launch = c.chain.launches[0];
  const auto& [grid, block] = std::pair{launch.shape.grid, launch.shape.block};
  row.warps = uint64_t{grid[0]} * grid[1] * grid[2] * ((block[0] * block[1] * block[2] + 31) / 32);
  try {
    run::Options options;
    options.threads = threads;
    row.all = schedules::exhaust(launch, options, most);
  } catch (const machine::InputError& e) {
    row.wrong = std::string("not tried: ") + e.what();
    return row;
  }
  for (const schedules::Ended& end : row.all.ends) {
    if (end.fault.empty() && end.buffers[c.result] == c.expected) continue;
    row.holds = false;
    row.wrong = (end.fault.empty() ? "other bits" : end.fault) + ", under " + schedules::schedule_of(end);
    break;
  }
  return row;
}

}  // namespace

std::vector<ExhaustedCase> exhaust(const std::vector<const suite::Suite*>& suites, const Plan& plan,
                                   uint64_t most,
                                   const std::function<void(const std::string& kernel)>& progress) {
  struct First {
    const suite::Kernel& kernel;
    std::string arch;
    suite::PlannedCase planned;
  };
  std::vector<First> firsts;
  for (const suite::Suite* suite : suites) {
    const Asked asked = asked_of(*suite, plan);
    expect_modules(asked);
    for (size_t i = 0; i < asked.kernels.size(); ++i) {
      const std::vector<suite::PlannedCase> cases = asked.kernels[i]->cases();
      const auto first = std::find_if(cases.begin(), cases.end(), [](const auto& c) { return !c.full; });
      if (first == cases.end()) continue;
      for (const std::string& arch : asked.archs[i]) firsts.push_back({*asked.kernels[i], arch, *first});
    }
  }
  std::vector<ExhaustedCase> rows(firsts.size());
  // Threads that have no kernel of their own help with the others'.
  const unsigned all =
      plan.threads > 0 ? static_cast<unsigned>(plan.threads) : std::thread::hardware_concurrency();
  const auto each = static_cast<unsigned>(all / std::max<size_t>(1, firsts.size()));
  std::mutex mutex;
  suite::each_in_parallel(firsts.size(), plan.threads, [&](size_t i) {
    const First& first = firsts[i];
    {
      const std::scoped_lock lock(mutex);
      progress(first.kernel.full_name + " " + first.arch);
    }
    rows[i] = exhaust_case(first.kernel, first.arch, first.planned, plan, most, each);
  });
  return rows;
}

}  // namespace bitwell::verdict
