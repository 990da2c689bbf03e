#include "verify/launch/start.h"

#include <algorithm>

#include "model/machine/heap.h"
#include "model/machine/where.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/memory_limit.h"
#include "verify/launch/placed.h"
#include "verify/launch/variables.h"

namespace bitwell::verify {
namespace {

// What device code's malloc gave and nobody freed.
void note_left(machine::Memory& memory, std::vector<isa::Note>& notes) {
  const machine::Heap::Left left = memory.heap().left();
  if (left.objects == 0) return;
  notes.emplace_back().text = std::to_string(left.objects) + (left.objects == 1 ? " object" : " objects") +
                              " that malloc gave, " + std::to_string(left.bytes) +
                              " bytes, never freed; the first at " + machine::where(left.first);
}

std::shared_ptr<const isa::Module> module_of(const Launch& launch) {
  return launch.module != nullptr ? launch.module : load_module(launch.ptx, launch.entry);
}

// A module whose one entry is the program, which is the caller's; all else is as the launch has it.
std::shared_ptr<const isa::Module> standing_in(const isa::Program& program, const Launch& launch) {
  const std::shared_ptr<const isa::Program> ready(std::shared_ptr<const void>(), &program);
  const bool shared = std::any_of(launch.then.begin(), launch.then.end(), [&](const Step& s) {
    return s.module == nullptr && !s.ptx.empty() && s.ptx == launch.ptx;
  });
  return std::make_shared<const isa::Module>(
      ready, launch.module == nullptr && shared ? load_module(launch.ptx, launch.entry) : launch.module);
}

const std::string& name_of(const isa::Program& program) {
  return program.functions[static_cast<size_t>(program.entry)].name;
}

// A launch in memory, before it runs.
struct Ready {
  std::unique_ptr<Context> context;
  std::unique_ptr<Placed> placed;
  EntryOf first;
  std::shared_ptr<const isa::Program> program;
};

Ready ready(const Launch& launch, const std::shared_ptr<const isa::Module>& module, std::string entry) {
  Ready out;
  out.program = module->program(entry, launch.approximate);
  check_memory(*out.program, launch);
  out.context = std::make_unique<Context>(ContextOptions{launch.heap});
  out.placed = std::make_unique<Placed>(out.context->memory(), launch);
  // Before more is placed.
  isa::check_launch(*out.program, launch.shape, out.placed->arguments(launch.arguments));
  out.first = {out.context->load(module, launch.approximate), std::move(entry)};
  Variables(*out.context, out.first.module).write(launch);
  return out;
}

Ran run_from(std::unique_ptr<Context> context, std::unique_ptr<Placed> placed, const EntryOf& first,
             const Launch& launch, Modules& files, const isa::Options& options, bool all_written,
             const Beginning& beginning) {
  Context& in = *context;
  Ran ran(std::move(context), std::move(placed), first.module);
  ran.result = run_steps(first, launch, ran.placed(), in, files, options, beginning);
  if (all_written && options.checked) ran.placed().require_written(launch);
  Variables(in, first.module).note_unwritten(launch, ran.result.notes);
  note_left(in.memory(), ran.result.notes);
  return ran;
}

Ran simulate(const Launch& launch, const std::shared_ptr<const isa::Module>& module, std::string entry,
             const isa::Options& options, bool all_written, const Beginning& beginning) {
  Ready begin = ready(launch, module, std::move(entry));
  Modules files;
  return run_from(std::move(begin.context), std::move(begin.placed), begin.first, launch, files, options,
                  all_written, beginning);
}

}  // namespace

Start::Start(const Launch& launch, const std::shared_ptr<const isa::Module>& module, const std::string& entry)
    : launch_(launch) {
  Ready begin = ready(launch, module, entry);
  program_ = std::move(begin.program);
  first_ = std::move(begin.first);
  addresses_ = begin.placed->addresses();
  snapshot_.emplace(begin.context->snapshot());
}

Start::Start(const Launch& launch) : Start(launch, module_of(launch)) {}

Start::Start(const Launch& launch, const std::shared_ptr<const isa::Module>& module)
    : Start(launch, module, entry_of(*module, launch.entry)) {}

Start::Start(const isa::Program& program, const Launch& launch)
    : Start(launch, standing_in(program, launch), name_of(program)) {}

Start::Start(const Launch& launch, Context::Snapshot context, EntryOf first,
             std::shared_ptr<const isa::Program> program, std::vector<uint64_t> addresses)
    : launch_(launch),
      program_(std::move(program)),
      first_(std::move(first)),
      addresses_(std::move(addresses)),
      snapshot_(std::move(context)) {}

Ran Start::run(const isa::Options& options, bool all_written, const Beginning& beginning) const {
  auto context = std::make_unique<Context>(*snapshot_);
  auto placed = std::make_unique<Placed>(context->memory(), addresses_);
  return run_from(std::move(context), std::move(placed), first_, launch_, files_, options, all_written,
                  beginning);
}

Ran simulate(const Launch& launch, const isa::Options& options, bool all_written,
             const Beginning& beginning) {
  const std::shared_ptr<const isa::Module> module = module_of(launch);
  return simulate(launch, module, entry_of(*module, launch.entry), options, all_written, beginning);
}

isa::RunResult simulate(const isa::Program& program, Launch& launch, const isa::Options& options,
                        bool all_written) {
  Ran ran = simulate(launch, standing_in(program, launch), name_of(program), options, all_written, nullptr);
  ran.keep(launch);
  return std::move(ran.result);
}

}  // namespace bitwell::verify
