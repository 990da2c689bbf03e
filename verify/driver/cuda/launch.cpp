// Launches, and functions of the host's in streams.
#include <cuda.h>

#include "verify/driver/core/work.h"

using namespace bitwell::driver;

namespace {

Kernel& launched(State& s, CUfunction handle) {
  Kernel& kernel = kernel_of(s, handle);
  const void* const owner = kernel.module->owner;
  if (owner != nullptr && owner != s.current())
    throw Refused(CUDA_ERROR_INVALID_CONTEXT, "kernel " + kernel.name + " is of a module of another context");
  return kernel;
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
