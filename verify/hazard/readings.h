// What the race check reads in programs beside their events, once for each, for any number of threads.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/hazard/flow/mma_registers.h"
#include "model/hazard/flow/objects.h"
#include "model/hazard/flow/ways.h"
#include "model/isa/compile/module.h"

namespace bitwell::verify {

using SharedModule = std::shared_ptr<const isa::Module>;
using SharedProgram = std::shared_ptr<const isa::Program>;

// Of a program: where the addresses of its instructions come from, and the registers of its wgmma.
struct Reading {
  hazard::Objects objects;
  hazard::MmaRegisters registers;
};

class Readings {
 public:
  // Of a program of the module; valid as long as this.
  const Reading& of(const SharedModule& module, const SharedProgram& program);
  // The lines that the registers of an entry ask for, by its whole name.
  const std::vector<int>& lines(const SharedModule& module, const std::string& entry);
  // Where what its instructions read can come to.
  const hazard::Ways& ways(const SharedModule& module, const std::string& entry);

 private:
  template <class T>
  using ByEntry = std::map<std::pair<SharedModule, std::string>, T>;
  std::mutex mutex_;
  std::map<SharedProgram, Reading> readings_;
  ByEntry<std::vector<int>> lines_;
  struct OfProgram {
    SharedProgram program;
    hazard::Ways ways;
    explicit OfProgram(SharedProgram p) : program(std::move(p)), ways(*program) {}
  };
  ByEntry<OfProgram> ways_;
};

}  // namespace bitwell::verify
