// Where a launch begins: it is placed in memory once, and run from there as often as somebody wants.
#pragma once
#include "verify/launch/modules.h"
#include "verify/launch/steps.h"

namespace bitwell::launch {

class Start {
 public:
  // Refers to the launch, whose buffers' bytes are asked for here alone. Throws what simulate does before
  // anything runs.
  explicit Start(const Launch& launch);

  // Of a process that lives: its context as it is now, where a module's entry is to be launched, and the
  // launch's buffers stand at these addresses.
  Start(const Launch& launch, isa::Context::Snapshot context, EntryOf first,
        std::shared_ptr<const isa::Program> program, std::vector<uint64_t> addresses);

  const Launch& launch() const { return launch_; }
  const isa::Program& program() const { return *program_; }
  // As simulate of a launch. Each run has memory of its own for what it writes, and shares all else with the
  // others. Any number of threads may call it.
  Ran run(const run::Options& options, bool all_written, const Beginning& beginning = nullptr) const;

 private:
  const Launch& launch_;
  std::shared_ptr<const isa::Program> program_;
  EntryOf first_;
  std::vector<uint64_t> addresses_;  // by buffer
  std::optional<isa::Context::Snapshot> snapshot_;
  mutable Modules files_;  // of what follows the launch
};

// "64 objects that malloc gave, 1024 bytes, never freed; the first at PTX line 12...": what device code has
// left there; empty where it has freed all.
std::string never_freed(machine::Memory& memory);

}  // namespace bitwell::launch
