// A call as its instruction gives it.
#pragma once
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::isa {

// What a call copies between the two activations' local memories.
struct CallSite : Payload {
  enum class Callee { function, indirect, vprintf, assertfail, malloc, free } kind = Callee::function;
  int function = -1;
  std::vector<Parameter> arguments;  // offsets in the caller
  std::vector<Parameter> results;
};

}  // namespace bitwell::isa
