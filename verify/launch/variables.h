// A module's __device__ and __constant__ variables, as a launch gives and reads them.
#pragma once
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::launch {

// Makes the names of a launch's entry and variables the module's own.
void use_full_names(const isa::Program& program, Launch& launch);

class Variables {
 public:
  // Of a module of the context; refers to it.
  Variables(isa::Context& context, isa::ModuleHandle module) : context_(context), module_(module) {}

  // InputError for a variable that is not there or that the launch names twice, or for more bytes than it
  // has.
  void write(const Launch& launch) const;
  // All that one holds; those of outputs.
  std::vector<std::byte> read(const Variable& variable) const;
  void read_back(Launch& launch) const;
  // A note for each __constant__ without a first value that the launch gives none either: it is 0.
  void note_unwritten(const Launch& launch, std::vector<run::Note>& notes) const;

 private:
  const isa::GlobalVariable& named(const Variable& variable) const;
  isa::Context& context_;
  isa::ModuleHandle module_;
};

}  // namespace bitwell::launch
