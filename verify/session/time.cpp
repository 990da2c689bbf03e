#include "verify/session/time.h"

#include <algorithm>

namespace bitwell::session {

namespace {

const timing::Device& table_of(const std::string& name) {
  if (const timing::Device* const found = timing::device(name); found != nullptr) return *found;
  std::string all;
  for (const timing::Device& d : timing::devices()) all += (all.empty() ? "" : ", ") + std::string(d.name);
  throw machine::InputError("there is no table of costs of '" + name + "'; there is one of " + all);
}

struct Timed {
  std::vector<timing::TimedLaunch> launches;
  std::vector<timing::FromDram> from_dram;
  std::vector<std::shared_ptr<const isa::Program>> programs;
};

Timed run_once(const TimeQuestion& question, const timing::Device& device, uint32_t most,
               const std::vector<timing::FromDram>& from_dram, bool observed) {
  timing::Launches clocks(device, most, from_dram);
  Timed out;
  run::Options options;
  options.checked = false;
  options.chooser = &clocks;
  options.observers.push_back(clocks.observer());
  if (observed && question.observer) options.observers.push_back(question.observer(clocks));
  question.run(options,
               [&](const std::shared_ptr<const isa::Program>& program) { out.programs.push_back(program); });
  out.launches = clocks.timed();
  out.from_dram = clocks.from_dram();
  return out;
}

}  // namespace

TimeQuestion time_question(const launch::Launch& launch) {
  TimeQuestion out;
  if (launch.module != nullptr) out.device = timing::device_for(launch.module->heads().target).name;
  out.run = [&launch](const run::Options& options, const TimeQuestion::Begins& begins) {
    launch::simulate(
        launch, options, false,
        [&](const std::shared_ptr<const isa::Program>& program, const launch::Step*) { begins(program); });
  };
  return out;
}

TimeAnswer time_of(const TimeQuestion& question) {
  const timing::Device& device = table_of(question.device);
  TimeAnswer out;
  out.device = &device;
  // First what is asked of memory, then when it comes.
  const auto twice = [&](uint32_t most) {
    const Timed first = run_once(question, device, most, {}, false);
    return run_once(question, device, most, first.from_dram, true);
  };
  Timed timed;
  try {
    timed = twice(question.most);
  } catch (const machine::Fault&) {
    // Clusters that wait for others come to no end without them.
    if (question.most == 0) throw;
    timed = twice(0);
    out.whole = true;
  }
  for (size_t i = 0; i < timed.launches.size(); ++i) {
    const timing::Estimate e = timing::estimate(device, timed.launches[i]);
    if (const std::string& target = timed.programs.at(i)->target; !timing::runs(device, target))
      out.foreign.insert(target);
    out.us += e.us;
    out.low += e.low;
    out.high += e.high;
    out.launches.push_back({std::move(timed.launches[i]), e, timed.programs.at(i)});
  }
  return out;
}

}  // namespace bitwell::session
