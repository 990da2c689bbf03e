// What the race check reads in programs beside their events, once for each, for any number of threads.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/hazard/flow/by_lanes.h"
#include "model/hazard/flow/mma_registers.h"
#include "model/hazard/flow/objects.h"
#include "model/hazard/flow/ways.h"
#include "model/isa/compile/module.h"

namespace bitwell::findings {

using SharedModule = std::shared_ptr<const isa::Module>;
using SharedProgram = std::shared_ptr<const isa::Program>;

// Of a program: where the addresses of its instructions come from, the registers of its wgmma, and whether it
// reaches memory by lanes alone.
struct Reading {
  hazard::Objects objects;
  hazard::MmaRegisters registers;
  bool by_lanes = false;
};

class Readings {
 public:
  // Both are valid as long as this, which keeps the program too.
  const Reading& of(const SharedProgram& program);
  // Where what its instructions read can come to.
  const hazard::Ways& ways(const SharedProgram& program);

 private:
  std::mutex mutex_;
  std::map<SharedProgram, Reading> readings_;
  std::map<SharedProgram, hazard::Ways> ways_;
};

}  // namespace bitwell::findings
