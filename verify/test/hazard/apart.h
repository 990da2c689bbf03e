// A launch whose race check is told of clusters apart, on so many host threads, or of all in order; and what
// it comes to.
#pragma once
#include <string>
#include <vector>

#include "verify/findings/watch.h"
#include "verify/launch/launch.h"

namespace bitwell::hazard {

inline std::string text_of(const Party& p) {
  return std::to_string(p.site.ptx_line) + " by " + std::to_string(static_cast<int>(p.site.actor)) + " " +
         machine::triple(p.cta) + " warp " + std::to_string(p.warp) + " lane " + std::to_string(p.lane);
}

inline std::string text_of(const Finding& f) {
  std::string out(row_of(f.kind).name);
  const auto add = [&](const auto&... words) { ((out += ", ", out += words), ...); };
  const auto number = [](auto n) { return std::to_string(n); };
  add(text_of(f.earlier), text_of(f.later), number(static_cast<int>(f.side)), number(f.address),
      number(f.bytes), number(f.count) + " times", f.object.name, text_of(f.made), f.where);
  for (const Finding::Met& m : f.met)
    add(number(m.access), number(m.address), number(m.bytes), text_of(m.earlier), text_of(m.later));
  return out + "\n";
}

// What one comes to who watches a launch.
struct End {
  std::string found, fault;
  std::vector<std::vector<std::byte>> left;
  uint64_t lanes = 0;
  Checker::Cost cost;
  run::HostThreads host;

  bool as(const End& o) const {
    return found == o.found && fault == o.fault && left == o.left && lanes == o.lanes;
  }
};

// threads: 0 where all is told in order.
inline End ended(launch::Launch launch, bool once, unsigned threads) {
  End out;
  const findings::SharedProgram program = launch.module->program(launch.entry);
  findings::Readings readings;
  findings::Watch watch(once);
  watch.keep(1000);
  run::Options options;
  options.threads = std::max(threads, 1U);
  options.step_limit = 1 << 20;
  options.observers.push_back(watch.observer(readings.of(program).registers.lines(), threads != 0));
  watch.begin(*program, launch.shape);
  watch.follow(readings.of(program));
  try {
    const launch::Ran ran = launch::simulate(launch, options, false);
    ran.keep(launch);
    out.host = ran.result.host;
    out.lanes = ran.result.lane_instructions;
    for (const launch::Buffer& b : launch.buffers) out.left.push_back(b.bytes);
  } catch (const machine::Fault& fault) {
    out.fault = fault.what();
  }
  for (const findings::Found& f : watch.findings()) out.found += text_of(f.finding);
  out.cost = watch.cost();
  return out;
}

}  // namespace bitwell::hazard
