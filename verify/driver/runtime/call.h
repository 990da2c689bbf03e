// What every function of the runtime does alike: it initialises, and keeps the last error.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "verify/driver/core/state.h"

namespace bitwell::driver {

// The primary context, made current where the thread has none. Refused where the context is lost.
void begin(State& s);
// The thread's last error becomes this one, unless it is none.
cudaError_t keep(CUresult result, bool latch = true);

// `f(State&)` under the runtime's name.
template <class F>
cudaError_t call(const char* name, F f) noexcept {
  return keep(guarded(name, [&](State& s) {
    begin(s);
    f(s);
  }));
}
// A function of the driver's that does the same, under the runtime's name.
template <class F>
cudaError_t forward(const char* name, F f) noexcept {
  const Named as(name);
  const CUresult ready = guarded(name, [](State& s) { begin(s); });
  return keep(ready != CUDA_SUCCESS ? ready : f());
}

inline CUstream driver(cudaStream_t stream) { return reinterpret_cast<CUstream>(stream); }
inline CUevent driver(cudaEvent_t event) { return reinterpret_cast<CUevent>(event); }
inline CUdeviceptr driver(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// `f()`, which needs the program's code: where that is not for the device, it is said once.
template <class F>
auto with_code(State& s, F f) {
  try {
    return f();
  } catch (const Refused& e) {
    if (e.code != CUDA_ERROR_NO_BINARY_FOR_GPU && e.code != CUDA_ERROR_INVALID_PTX) throw;
    s.missing(e.what());
    throw Refused(e.code);
  }
}

// The kernel of a function of the program's, or of a handle. Refused where it is none.
Kernel& kernel_of(State& s, const void* key);

}  // namespace bitwell::driver
