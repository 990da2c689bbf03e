#include "verify/launch/schedule_list.h"

#include "model/machine/failure.h"

namespace bitwell::launch {

using run::Policy;

std::vector<run::Schedule> schedules(size_t n, machine::Promise kept) {
  std::vector<run::Schedule> out;
  for (const Policy p :
       {Policy::lazy, Policy::eager, Policy::starve_producer, Policy::starve_consumer, Policy::starve_stores})
    if (out.size() < n) out.push_back({p, 0});
  for (uint64_t seed = 1; out.size() < n; ++seed) out.push_back({Policy::random, seed, kept});
  return out;
}

std::vector<run::Schedule> other_schedules(size_t n, const std::string& but, machine::Promise kept) {
  std::vector<run::Schedule> out = schedules(n + 1, kept);
  std::erase_if(out, [&](const run::Schedule& s) { return describe(s) == but; });
  out.resize(n);
  return out;
}

namespace {

std::string name_of(Policy policy) {
  for (const run::PolicyName& p : run::kPolicies)
    if (p.policy == policy) return std::string(p.name);
  throw machine::ModelBug("a policy without a name");
}

}  // namespace

std::string describe(const run::Schedule& schedule) {
  return name_of(schedule.policy) +
         (schedule.policy == Policy::random ? ", seed " + std::to_string(schedule.seed) : "");
}

std::string replay_options(const run::Schedule& schedule) {
  if (schedule.policy == Policy::lazy) return "";
  const bool random = schedule.policy == Policy::random;
  return " --schedule " + name_of(schedule.policy) +
         (random ? " --seed " + std::to_string(schedule.seed) : "") +
         (random && schedule.kept == machine::Promise::manual ? " --strict" : "");
}

}  // namespace bitwell::launch
