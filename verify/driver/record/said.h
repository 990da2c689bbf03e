// What the machine's driver says of a call of ours.
#pragma once
#include <cuda.h>

#include <string>

#include "model/machine/failure.h"
#include "verify/driver/record/real.h"

namespace bitwell::driver {

inline std::string name_of(CUresult error) {
  const char* name = nullptr;
  return REAL(cuGetErrorName)(error, &name) == CUDA_SUCCESS && name != nullptr ? name : std::to_string(error);
}

// InputError naming `what` where it was no success.
inline void need(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw machine::InputError(std::string(what) + ": " + name_of(result));
}

}  // namespace bitwell::driver
