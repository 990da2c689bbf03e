// Launches, and functions of the host's in streams.
#include <cuda.h>

#include "verify/driver/core/work.h"

using namespace bitwell::driver;

namespace {

Kernel& launched(State& s, CUfunction handle) {
  Kernel* const k = handle == nullptr ? nullptr : s.modules.by_key(handle, s.device());
  if (k == nullptr) throw Refused(CUDA_ERROR_INVALID_HANDLE, "this is no kernel of a module that is loaded");
  const void* const owner = k->module->owner;
  if (owner != nullptr && owner != s.current())
    throw Refused(CUDA_ERROR_INVALID_CONTEXT, "kernel " + k->name + " is of a module of another context");
  return *k;
}

// The parameters as one piece, which `extra` leads to. Refused for what else it may say.
std::span<const std::byte> buffer_of(void** extra) {
  const std::byte* bytes = nullptr;
  const size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      bytes = static_cast<const std::byte*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const size_t*>(extra[1]);
    else
      throw Refused(CUDA_ERROR_INVALID_VALUE, "extra has a key that CUDA has not");
  }
  if (bytes == nullptr || size == nullptr)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "extra lacks the buffer or its size");
  return {bytes, *size};
}

void give_parameters(State& s, Wanted& w, void** parameters, void** extra) {
  if (parameters != nullptr && extra != nullptr)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "kernelParams and extra are both given");
  w.arguments = extra != nullptr ? s.launches.arguments(*w.kernel, buffer_of(extra))
                                 : s.launches.arguments(*w.kernel, parameters);
}

CUresult start(const char* name, CUfunction f, const unsigned* grid, const unsigned* block, unsigned shared,
               CUstream stream, void** parameters, void** extra, bool cooperative) {
  return driver_call(name, [&](State& s) {
    Wanted w;
    w.kernel = &launched(s, f);
    w.shape = shape_of(*w.kernel, grid, block, shared);
    w.shape.cooperative = cooperative;
    w.stream = stream;
    give_parameters(s, w, parameters, extra);
    launch(s, std::move(w));
  });
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return start("cuLaunchKernel", f, grid, block, shared, stream, parameters, extra, false);
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** parameters) {
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return start("cuLaunchCooperativeKernel", f, grid, block, shared, stream, parameters, nullptr, true);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  return driver_call("cuLaunchKernelEx", [&](State& s) {
    present(config);
    Wanted w;
    w.kernel = &launched(s, f);
    const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    w.shape = shape_of(*w.kernel, grid, block, config->sharedMemBytes);
    w.stream = config->hStream;
    if (config->numAttrs != 0) present(config->attrs);
    for (unsigned i = 0; i < config->numAttrs; ++i) take_attribute(s, config->attrs[i], w);
    give_parameters(s, w, parameters, extra);
    launch(s, std::move(w));
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return driver_call("cuLaunchHostFunc", [&](State& s) { call_host(s, function, data, stream); });
}

}  // extern "C"
