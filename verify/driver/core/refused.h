// Why a call is refused: the error that CUDA has for it, and one line for the user.
#pragma once
#include <cuda.h>

#include <stdexcept>
#include <string>

namespace bitwell::driver {

// Without a reason nothing is said: the error tells enough.
struct Refused : std::runtime_error {
  explicit Refused(CUresult code_, const std::string& why = "") : std::runtime_error(why), code(code_) {}
  CUresult code;
};

// A mistake of the program's that is one whatever it makes of the error, and counts as an error: a launch
// that no device takes, a copy past the end of memory, a free of what is not allocated. With CUDA_SUCCESS it
// was done all the same.
struct Mistake : Refused {
  using Refused::Refused;
};

// The program's code, which bitwell cannot run and a device might: said once, and the command says so too.
struct NoCode : Refused {
  using Refused::Refused;
};

}  // namespace bitwell::driver
