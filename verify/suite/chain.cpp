#include "verify/suite/chain.h"

#include <map>

#include "verify/launch/entry_text.h"
#include "verify/launch/memory_limit.h"
#include "verify/launch/placed.h"

namespace bitwell::suite {

run::RunResult simulate(Chain& chain, const launch::ModuleOf& modules, const run::Options& options,
                        bool all_written, const Begins& begins) {
  isa::Context context;
  std::map<std::shared_ptr<const isa::Module>, isa::ModuleHandle> handles;
  std::vector<launch::Placed> placed;
  run::RunResult all;
  for (size_t i = 0; i < chain.launches.size(); ++i) {
    launch::Launch& l = chain.launches[i];
    std::map<size_t, uint64_t> there;
    for (const Chain::Link& link : chain.links)
      if (link.to == i) there[link.to_buffer] = placed[link.from].addresses()[link.from_buffer];
    const std::shared_ptr<const isa::Module> module = modules(l);
    const std::string entry = launch::entry_of(*module, l.entry);
    auto handle = handles.find(module);
    if (handle == handles.end()) handle = handles.emplace(module, context.load(module, l.approximate)).first;
    const std::shared_ptr<const isa::Program> program = context.program(handle->second, entry);
    if (begins) begins(l, module, program);
    launch::check_memory(*program, l);
    placed.emplace_back(context.memory(), l, there);
    run::RunResult one = context.launch(handle->second, entry, l.shape,
                                        launch::as_given(placed[i].arguments(l.arguments)), options);
    if (all_written && options.checked) placed[i].require_written(l);
    placed[i].read_back(l);
    all.lane_instructions += one.lane_instructions;
    all.warp_instructions += one.warp_instructions;
    all.footprint = std::move(one.footprint);
  }
  return all;
}

}  // namespace bitwell::suite
