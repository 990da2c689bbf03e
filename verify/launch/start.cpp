#include "verify/launch/start.h"

#include "model/machine/memory/heap.h"
#include "model/machine/where.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/memory_limit.h"
#include "verify/launch/placed.h"
#include "verify/launch/variables.h"

namespace bitwell::launch {

std::string never_freed(machine::Memory& memory) {
  const machine::Heap::Left left = memory.heap().left();
  if (left.objects == 0) return "";
  return std::to_string(left.objects) + (left.objects == 1 ? " object" : " objects") + " that malloc gave, " +
         std::to_string(left.bytes) + " bytes, never freed; the first at " + machine::where(left.first);
}

namespace {

std::shared_ptr<const isa::Module> module_of(const Launch& launch) {
  return launch.module != nullptr ? launch.module : load_module(launch.ptx, launch.entry);
}

// A launch in memory, before it runs.
struct Ready {
  std::unique_ptr<isa::Context> context;
  std::unique_ptr<Placed> placed;
  EntryOf first;
  std::shared_ptr<const isa::Program> program;
};

Ready ready(const Launch& launch) {
  const std::shared_ptr<const isa::Module> module = module_of(launch);
  std::string entry = entry_of(*module, launch.entry);
  Ready out;
  out.program = module->program(entry, launch.approximate);
  check_memory(*out.program, launch);
  out.context = std::make_unique<isa::Context>(isa::ContextOptions{launch.heap});
  out.placed = std::make_unique<Placed>(out.context->memory(), launch);
  // Before more is placed.
  run::check_launch(*out.program, launch.shape, out.placed->arguments(launch.arguments));
  out.first = {out.context->load(module, launch.approximate), std::move(entry)};
  Variables(*out.context, out.first.module).write(launch);
  return out;
}

Ran run_from(std::unique_ptr<isa::Context> context, std::unique_ptr<Placed> placed, const EntryOf& first,
             const Launch& launch, Modules& files, const run::Options& options, bool all_written,
             const Beginning& beginning) {
  isa::Context& in = *context;
  Ran ran(std::move(context), std::move(placed), first.module);
  ran.result = run_steps(first, launch, ran.placed(), in, files, options, beginning);
  if (all_written && options.checked) ran.placed().require_written(launch);
  Variables(in, first.module).note_unwritten(launch, ran.result.notes);
  if (const std::string left = never_freed(in.memory()); !left.empty())
    ran.result.notes.emplace_back().text = left;
  return ran;
}

}  // namespace

Start::Start(const Launch& launch) : launch_(launch) {
  Ready begin = ready(launch);
  program_ = std::move(begin.program);
  first_ = std::move(begin.first);
  addresses_ = begin.placed->addresses();
  snapshot_.emplace(begin.context->snapshot());
}

Start::Start(const Launch& launch, isa::Context::Snapshot context, EntryOf first,
             std::shared_ptr<const isa::Program> program, std::vector<uint64_t> addresses)
    : launch_(launch),
      program_(std::move(program)),
      first_(std::move(first)),
      addresses_(std::move(addresses)),
      snapshot_(std::move(context)) {}

Ran Start::run(const run::Options& options, bool all_written, const Beginning& beginning) const {
  auto context = std::make_unique<isa::Context>(*snapshot_);
  auto placed = std::make_unique<Placed>(context->memory(), addresses_);
  return run_from(std::move(context), std::move(placed), first_, launch_, files_, options, all_written,
                  beginning);
}

Ran simulate(const Launch& launch, const run::Options& options, bool all_written,
             const Beginning& beginning) {
  Ready begin = ready(launch);
  Modules files;
  return run_from(std::move(begin.context), std::move(begin.placed), begin.first, launch, files, options,
                  all_written, beginning);
}

}  // namespace bitwell::launch
