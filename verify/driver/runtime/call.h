// What every function of the runtime does alike: it initialises, and keeps the last error.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "verify/driver/core/work.h"

namespace bitwell::driver {

// The primary context, made current where the thread has none. Refused where the context is lost, and where
// the call `sees` that a launch before it could not be run.
void begin(State& s, bool sees = true);
// The thread's last error becomes this one, unless it is none.
cudaError_t keep(CUresult result, bool latch = true);

// `f(State&)` under the runtime's name.
template <class F>
cudaError_t call(const char* name, F f, bool sees = true) noexcept {
  return keep(guarded(name, [&](State& s) {
    begin(s, sees);
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
inline CUgraph driver(cudaGraph_t graph) { return reinterpret_cast<CUgraph>(graph); }
inline CUgraphExec driver(cudaGraphExec_t exec) { return reinterpret_cast<CUgraphExec>(exec); }
inline CUgraphNode driver(cudaGraphNode_t node) { return reinterpret_cast<CUgraphNode>(node); }
inline CUgraph* driver(cudaGraph_t* graph) { return reinterpret_cast<CUgraph*>(graph); }
inline CUgraphExec* driver(cudaGraphExec_t* exec) { return reinterpret_cast<CUgraphExec*>(exec); }
inline CUgraphNode* driver(cudaGraphNode_t* node) { return reinterpret_cast<CUgraphNode*>(node); }
inline const CUgraphNode* driver(const cudaGraphNode_t* node) {
  return reinterpret_cast<const CUgraphNode*>(node);
}
inline CUdeviceptr driver(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// The kernel of a function of the program's, or of a handle. Refused as the runtime does where it is none.
inline Kernel& called(State& s, const void* key) {
  return kernel_of(s, key, static_cast<CUresult>(cudaErrorInvalidDeviceFunction));
}

}  // namespace bitwell::driver
