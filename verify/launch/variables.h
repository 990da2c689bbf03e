// A module's __device__ and __constant__ variables, as a launch gives and reads them.
#pragma once
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::verify {

// Makes the names of a launch's entry and variables the module's own.
void use_full_names(const isa::Program& program, Launch& launch);

class Variables {
 public:
  // Of a program whose variables are placed; refers to all three.
  Variables(const isa::Program& program, machine::Memory& memory, machine::Region& constants)
      : program_(program), memory_(memory), constants_(constants) {}

  // InputError for a variable that is not there or that the launch names twice, or for more bytes than it
  // has.
  void write(const Launch& launch) const;
  // Those of outputs.
  void read_back(Launch& launch) const;
  // A note for each __constant__ without a first value that the launch gives none either: it is 0.
  void note_unwritten(const Launch& launch, std::vector<isa::Note>& notes) const;

 private:
  const isa::GlobalVariable& named(const Variable& variable) const;
  const isa::Program& program_;
  machine::Memory& memory_;
  machine::Region& constants_;
};

}  // namespace bitwell::verify
