#include "verify/launch/steps.h"

#include <map>

#include "verify/launch/names.h"

namespace bitwell::verify {
namespace {

// The modules of a launch and its steps, each at a place of its own.
class Modules {
 public:
  Modules(const std::string& first, machine::Region& constants, machine::Memory& memory) : memory_(memory) {
    places_[first] = {};
    constants_[first] = &constants;
  }
  isa::RunResult run(const Step& s, const std::vector<std::vector<std::byte>>& arguments,
                     const isa::Options& options) {
    const bool fresh = places_.try_emplace(s.ptx, memory_.next_module()).second;
    const isa::Program program = load_program(s.ptx, s.entry, isa::Approximate::captured, places_[s.ptx]);
    isa::check_launch(program, s.shape, arguments);
    if (fresh) constants_[s.ptx] = &own_.emplace(s.ptx, isa::place_variables(program, memory_)).first->second;
    return isa::run(program, *constants_[s.ptx], s.shape, arguments, memory_, options);
  }

 private:
  machine::Memory& memory_;
  std::map<std::string, machine::ModulePlace> places_;  // by path
  std::map<std::string, machine::Region*> constants_;
  std::map<std::string, machine::Region> own_;
};

}  // namespace

void run_steps(const Launch& launch, const Placed& placed, machine::Memory& memory,
               machine::Region& constants, const isa::Options& options, isa::RunResult& result) {
  Modules modules(launch.ptx, constants, memory);
  for (const Step& s : launch.then) {
    if (s.copy) {
      const Step::Copy& c = *s.copy;
      std::vector<std::byte> bytes(c.bytes);
      const uint64_t from = placed.addresses()[c.from] + c.from_offset;
      const machine::Region* region = memory.find(from, c.bytes);
      if (region == nullptr || !region->is_defined(from - region->base(), c.bytes))
        throw machine::Fault("a copy of " + std::to_string(c.bytes) + " bytes from '" +
                             launch.buffers[c.from].name + "' + " + std::to_string(c.from_offset) +
                             ", of which some were never written");
      memory.read(from, bytes);
      memory.write(placed.addresses()[c.to] + c.to_offset, bytes);
    } else if (s.fill) {
      memory.write(placed.addresses()[s.fill->buffer] + s.fill->offset,
                   std::vector<std::byte>(s.fill->bytes, s.fill->value));
    } else {
      const isa::RunResult one = modules.run(s, placed.arguments(s.arguments), options);
      result.lane_instructions += one.lane_instructions;
      result.warp_instructions += one.warp_instructions;
      result.notes.insert(result.notes.end(), one.notes.begin(), one.notes.end());
    }
  }
}

}  // namespace bitwell::verify
