// What every function of the runtime does alike.
#pragma once
#include <cuda_runtime_api.h>

#include <exception>
#include <mutex>
#include <string>

#include "model/machine/failure.h"
#include "verify/driver/session.h"

namespace bitwell::driver {

// `f`'s error code, kept as the last; that of a launch that failed before where there was one, as a device's
// context does it. What `f` throws is said.
template <class F>
cudaError_t call(const char* name, F f) noexcept {
  Session& s = session();
  const std::lock_guard lock(s.one_at_a_time);
  if (s.sticky_error != 0) return static_cast<cudaError_t>(s.sticky_error);
  cudaError_t error = cudaSuccess;
  try {
    error = f(s);
  } catch (const machine::InputError& e) {
    say(std::string(name) + ": " + e.what());
    error = cudaErrorInvalidValue;
  } catch (const std::exception& e) {
    say(std::string(name) + ": " + e.what());
    error = cudaErrorUnknown;
  }
  if (error != cudaSuccess && error != cudaErrorNotReady) s.last_error = error;
  return error;
}

// A thing that the runtime has and bitwell has not.
inline cudaError_t not_supported(Session& s, const std::string& what) {
  s.missing(what);
  return cudaErrorNotSupported;
}

}  // namespace bitwell::driver
