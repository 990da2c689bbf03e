#include "verify/suite/chain.h"

#include <map>

#include "verify/launch/memory_limit.h"
#include "verify/launch/placed.h"

namespace bitwell::verify {

isa::RunResult simulate(Chain& chain, const Programs& programs, const isa::Options& options,
                        bool all_written) {
  machine::Memory memory;
  std::map<std::string, machine::Region> constants;  // by module
  std::vector<Placed> placed;
  isa::RunResult all;
  for (size_t i = 0; i < chain.launches.size(); ++i) {
    Launch& l = chain.launches[i];
    std::map<size_t, uint64_t> there;
    for (const Chain::Link& link : chain.links)
      if (link.to == i) there[link.to_buffer] = placed[link.from].addresses()[link.from_buffer];
    const isa::Program& program = programs(l);
    check_memory(program, l);
    placed.emplace_back(memory, l, there);
    auto module = constants.find(l.ptx);
    if (module == constants.end())
      module = constants.emplace(l.ptx, isa::place_variables(program, memory)).first;
    isa::RunResult one =
        isa::run(program, module->second, l.shape, placed[i].arguments(l.arguments), memory, options);
    placed[i].read_back(l, all_written && options.checked);
    all.lane_instructions += one.lane_instructions;
    all.warp_instructions += one.warp_instructions;
    all.footprint = std::move(one.footprint);
  }
  return all;
}

}  // namespace bitwell::verify
