#include "verify/suite/suite.h"

#include <chrono>
#include <cstring>

#include "verify/schedules/schedules.h"
#include "verify/suite/same.h"

namespace bitwell::suite {
namespace {

std::string hex(std::span<const std::byte> bytes, size_t i, size_t size) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + i * size, size);
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * size),
                static_cast<unsigned long long>(v));
  return text;
}

// The launch that ends the part of the chain that ran, as it was before it ran.
launch::Launch before(const SuiteCase& c, const Chain& ran, size_t at) {
  launch::Launch out = c.chain.launches[at];
  for (const Chain::Link& l : c.chain.links)
    if (l.to == at) out.buffers[l.to_buffer].bytes = ran.launches[l.from].buffers[l.from_buffer].bytes;
  return out;
}

}  // namespace

SuiteCase suite_case(const PlannedCase& planned, const DrawnCase& drawn, const Build& build) {
  return {planned.name, drawn.chain(build), drawn.result, drawn.element, drawn.expected(), planned.schedules};
}

Tried try_case(const SuiteCase& c, const run::Schedule& schedule, const launch::ModuleOf& modules,
               run::Options options, const Begins& begins) {
  Tried out;
  Chain chain = c.chain;
  options.schedule = schedule;
  options.strict = true;  // bitwell's own kernels live by what the manual promises
  size_t at = 0;
  const std::string who =
      c.name + (launch::replay_options(schedule).empty() ? "" : ", schedule " + launch::describe(schedule)) +
      ": ";
  try {
    double compiling = 0, asked = 0;
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    const double start = now();
    const auto module_of = [&](const launch::Launch& l) {
      at = static_cast<size_t>(&l - chain.launches.data());
      asked = now();
      return modules(l);
    };
    const auto compiled = [&](const launch::Launch& l, const auto& module, const auto& program) {
      if (begins) begins(l, module, program);
      compiling += now() - asked;
    };
    run::RunResult ran = simulate(chain, module_of, options, true, compiled);
    out.footprint = std::move(ran.footprint);
    out.lane_instructions = ran.lane_instructions;
    out.warp_instructions = ran.warp_instructions;
    out.seconds = now() - start - compiling;
  } catch (const machine::Fault& f) {
    out.failure = {who + f.what(), true, 1, schedule, before(c, chain, at)};
    return out;
  }
  out.result = std::move(chain.launches.back().buffers[c.result].bytes);
  if (same_bits(out.result, c.expected)) return out;
  std::string first;
  uint64_t wrong = 0;
  for (size_t i = 0; i < c.expected.size() / c.element; ++i) {
    if (std::memcmp(&out.result[i * c.element], &c.expected[i * c.element], c.element) == 0) continue;
    if (wrong++ == 0)
      first = "output " + std::to_string(i) + " => " + hex(out.result, i, c.element) + " expected " +
              hex(c.expected, i, c.element);
  }
  out.failure = {who + first, false, wrong, schedule, before(c, chain, at)};
  return out;
}

}  // namespace bitwell::suite
