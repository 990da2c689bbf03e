// Every function of CUDA 13.0's runtime and driver that bitwell has not: a program that calls one is told
// which.
#include "verify/driver/session.h"

namespace {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED

int refuse(const char* name) {
  bitwell::driver::session().missing(name);
  return kNotSupported;
}

}  // namespace

// Arguments are left alone, whatever they are.
#define MISSING(name) \
  extern "C" int name() { return refuse(#name); }
#include "verify/driver/runtime/not_supported.inc"
