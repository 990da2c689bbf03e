#include "verify/verdict/asked.h"

#include <algorithm>
#include <filesystem>

namespace bitwell::verdict {
namespace {

// What each kernel is to be judged on: of what the plan asks for, what the kernel is made for. A kernel that
// is named and made for none of that is a mistake.
std::vector<std::vector<std::string>> archs_of(const suite::Suite& suite,
                                               const std::vector<const suite::Kernel*>& kernels,
                                               const Plan& plan) {
  const std::vector<std::string> known = suite.all_archs();
  for (const std::string& arch : plan.archs)
    if (std::find(known.begin(), known.end(), arch) == known.end())
      throw machine::InputError("the suite '" + suite.name + "' is not judged on '" + arch + "'");
  std::vector<std::vector<std::string>> out;
  for (const suite::Kernel* kernel : kernels) {
    out.push_back(plan.archs.empty() ? suite.archs_of(*kernel) : plan.archs);
    std::erase_if(out.back(), [&](const std::string& arch) { return !suite.judged_on(*kernel, arch); });
    if (out.back().empty() && !plan.kernels.empty())
      throw machine::InputError("'" + kernel->full_name + "' is a kernel for " +
                                suite.archs_of(*kernel).front() + ", which --arch leaves out");
  }
  return out;
}

// To the kernel and the architecture of the one case, where there is one.
Plan narrowed(const suite::Suite& suite, Plan plan) {
  if (!plan.only) return plan;
  if (plan.only->suite != suite.name)
    throw machine::InputError("'" + suite::text_of(*plan.only) + "' is a case of another suite than '" +
                              suite.name + "'");
  plan.kernels = {plan.only->kernel};
  plan.archs = {plan.only->arch};
  return plan;
}

}  // namespace

Asked asked_of(const suite::Suite& suite, const Plan& plan) {
  Asked out{narrowed(suite, plan), {}, {}};
  for (const std::string& name : out.plan.kernels) out.kernels.push_back(&suite::kernel(suite, name));
  if (out.plan.kernels.empty())
    for (const suite::Kernel& k : suite.kernels) out.kernels.push_back(&k);
  out.archs = archs_of(suite, out.kernels, out.plan);
  return out;
}

void expect_modules(const Asked& asked) {
  for (size_t i = 0; i < asked.kernels.size(); ++i)
    for (const suite::Entry& entry : asked.kernels[i]->entries)
      for (const std::string& arch : asked.archs[i]) {
        const std::string path = suite::Build{asked.plan.ptx, arch}.file(entry.module);
        if (std::filesystem::exists(path)) continue;
        throw machine::InputError("'" + asked.kernels[i]->full_name + "' is not compiled: there is no " +
                                  path +
                                  "; 'cmake --build --preset release --target bitwell_kernels' compiles the "
                                  "kernels of all suites");
      }
}

}  // namespace bitwell::verdict
