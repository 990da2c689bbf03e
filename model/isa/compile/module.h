// A module that has been loaded: its variables have addresses and keep their values from launch to launch.
#pragma once
#include <map>
#include <string>

#include "model/isa/compile/compile.h"
#include "model/machine/memory.h"
#include "model/run/launch.h"

namespace bitwell::isa {

class Module {
 public:
  // Places and initialises the .global and .const variables in `memory`, which outlives the module. Throws
  // InputError or Unsupported for variables that cannot be laid out, and for initial values that are not
  // understood.
  Module(ptx::Module source, machine::Memory& memory, Approximate approximate = Approximate::h200);

  // Compiled when it is first asked for. Throws as compile does.
  const Program& program(const std::string& entry);
  // A .global or .const variable, or nullptr.
  const GlobalVariable* variable(const std::string& name) const;

  // Runs the entry on the memory that the module is in, as isa::run does.
  RunResult run(const std::string& entry, const Shape& shape,
                const std::vector<std::vector<std::byte>>& arguments, const Options& options = {});

 private:
  ptx::Module source_;
  machine::Memory& memory_;
  Approximate approximate_;
  machine::ModulePlace place_;
  Program variables_;  // its globals
  machine::Region constants_;
  std::map<std::string, Program> programs_;
};

}  // namespace bitwell::isa
