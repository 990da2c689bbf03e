#include "verify/suite/schedules.h"

#include <algorithm>

#include "verify/launch/file/npy.h"

namespace bitwell::verify {

using isa::Policy;

std::vector<isa::Schedule> schedules(size_t n, machine::Promise kept) {
  std::vector<isa::Schedule> out;
  for (const Policy p :
       {Policy::lazy, Policy::eager, Policy::starve_producer, Policy::starve_consumer, Policy::starve_stores})
    if (out.size() < n) out.push_back({p, 0});
  for (uint64_t seed = 1; out.size() < n; ++seed) out.push_back({Policy::random, seed, kept});
  return out;
}

namespace {

std::string name_of(Policy policy) {
  for (const isa::PolicyName& p : isa::kPolicies)
    if (p.policy == policy) return std::string(p.name);
  throw machine::ModelBug("a policy without a name");
}

}  // namespace

std::string describe(const isa::Schedule& schedule) {
  return name_of(schedule.policy) +
         (schedule.policy == Policy::random ? ", seed " + std::to_string(schedule.seed) : "");
}

std::string replay_options(const isa::Schedule& schedule) {
  if (schedule.policy == Policy::lazy) return "";
  const bool random = schedule.policy == Policy::random;
  return " --schedule " + name_of(schedule.policy) +
         (random ? " --seed " + std::to_string(schedule.seed) : "") +
         (random && schedule.kept == machine::Promise::manual ? " --strict" : "");
}

std::optional<Disagreement> disagreement(
    const isa::Program& program, Launch& launch, isa::Options options,
    const std::vector<isa::Schedule>& under,
    const std::function<void(size_t done, const isa::Schedule& next)>& progress) {
  const Launch start = launch;
  for (size_t i = 0; i < under.size(); ++i) {
    Launch other = start;
    Launch& now = i == 0 ? launch : other;
    options.schedule = under[i];
    if (progress) progress(i, under[i]);
    try {
      simulate(program, now, options, true);
    } catch (const machine::Fault& fault) {
      return Disagreement{under[0], under[i], fault.what()};
    }
    options.print = nullptr;
    for (size_t b = 0; b < launch.buffers.size(); ++b) {
      if (!launch.buffers[b].output) continue;
      const std::vector<std::byte>& want = launch.buffers[b].bytes;
      const std::vector<std::byte>& got = now.buffers[b].bytes;
      const auto at = std::mismatch(want.begin(), want.end(), got.begin());
      if (at.first != want.end())
        return Disagreement{under[0],  under[i],  "", b, static_cast<uint64_t>(at.first - want.begin()),
                            *at.first, *at.second};
    }
  }
  return std::nullopt;
}

std::string element_at(const Output& output, uint64_t byte) {
  uint64_t element = byte / element_size(output.dtype);
  std::string out;
  for (size_t d = output.shape.size(); d-- > 0; element /= output.shape[d])
    out = std::to_string(element % output.shape[d]) + (out.empty() ? "" : ", " + out);
  return "[" + out + "]";
}

}  // namespace bitwell::verify
