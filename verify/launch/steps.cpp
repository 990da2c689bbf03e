#include "verify/launch/steps.h"

#include <deque>
#include <map>

#include "verify/launch/names.h"

namespace bitwell::verify {
namespace {

using Arguments = std::vector<std::vector<std::byte>>;

// The modules of a launch and its steps, each at a place of its own.
class Modules {
 public:
  Modules(const std::string& first, machine::Region& constants, machine::Memory& memory) : memory_(memory) {
    places_[first] = {};
    constants_[first] = &constants;
  }
  // The entry of a step's launch, its module in memory.
  isa::Program program(const Step& s, const Arguments& arguments) {
    const bool fresh = places_.try_emplace(s.ptx, memory_.next_module()).second;
    isa::Program program = load_program(s.ptx, s.entry, isa::Approximate::captured, places_[s.ptx]);
    isa::check_launch(program, s.shape, arguments);
    if (fresh) constants_[s.ptx] = &own_.emplace(s.ptx, isa::place_variables(program, memory_)).first->second;
    return program;
  }
  machine::Region& constants(const Step& s) { return *constants_[s.ptx]; }

 private:
  machine::Memory& memory_;
  std::map<std::string, machine::ModulePlace> places_;  // by path
  std::map<std::string, machine::Region*> constants_;
  std::map<std::string, machine::Region> own_;
};

void copy(const Step::Copy& c, const Launch& launch, const Placed& placed, machine::Memory& memory) {
  std::vector<std::byte> bytes(c.bytes);
  const uint64_t from = placed.addresses()[c.from] + c.from_offset;
  const machine::Region* region = memory.find(from, c.bytes);
  if (region == nullptr || !region->is_defined(from - region->base(), c.bytes))
    throw machine::Fault("a copy of " + std::to_string(c.bytes) + " bytes from '" +
                         launch.buffers[c.from].name + "' + " + std::to_string(c.from_offset) +
                         ", of which some were never written");
  memory.read(from, bytes);
  memory.write(placed.addresses()[c.to] + c.to_offset, bytes);
}

void add(const std::vector<isa::RunResult>& from, isa::RunResult& result) {
  for (const isa::RunResult& one : from) {
    result.lane_instructions += one.lane_instructions;
    result.warp_instructions += one.warp_instructions;
    result.notes.insert(result.notes.end(), one.notes.begin(), one.notes.end());
  }
}

}  // namespace

isa::RunResult run_steps(const isa::Program& program, const Launch& launch, const Placed& placed,
                         machine::Memory& memory, machine::Region& constants, const isa::Options& options) {
  Modules modules(launch.ptx, constants, memory);
  const std::vector<Step>& steps = launch.then;
  isa::RunResult result;
  // Those in flight together: what they refer to.
  std::deque<isa::Program> programs;
  std::deque<Arguments> arguments{placed.arguments(launch.arguments)};
  std::vector<isa::ChainedLaunch> chain{{program, constants, launch.shape, arguments.back()}};
  const auto chained = [&](const Step& s) {
    arguments.push_back(placed.arguments(s.arguments));
    programs.push_back(modules.program(s, arguments.back()));
    chain.push_back({programs.back(), modules.constants(s), s.shape, arguments.back()});
  };
  for (size_t i = 0;; ++i) {
    for (; i < steps.size() && steps[i].programmatic; ++i) chained(steps[i]);
    if (!chain.empty()) {
      std::vector<isa::RunResult> ran = isa::run_chain(chain, memory, options);
      if (&chain.front().program == &program) result.footprint = ran.front().footprint;
      add(ran, result);
      chain.clear();
    }
    if (i == steps.size()) return result;
    if (steps[i].copy)
      copy(*steps[i].copy, launch, placed, memory);
    else if (const auto& fill = steps[i].fill; fill)
      memory.write(placed.addresses()[fill->buffer] + fill->offset,
                   std::vector<std::byte>(fill->bytes, fill->value));
    else
      chained(steps[i]);
  }
}

}  // namespace bitwell::verify
