// The functions that nvcc's code calls before main, and libraries that a program loads itself.
#include <cstring>

#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
thread_local Configuration configuration;

Module* module_of(void* handle) { return static_cast<Module*>(handle); }
CUlibrary driver(cudaLibrary_t library) { return reinterpret_cast<CUlibrary>(library); }
CUlibrary* driver(cudaLibrary_t* library) { return reinterpret_cast<CUlibrary*>(library); }

}  // namespace

extern "C" {

// In a process that was forked nothing is registered: no call gets to it.
void** __cudaRegisterFatBinary(void* image) {
  State& s = state();
  if (s.forked) return reinterpret_cast<void**>(image);
  const std::lock_guard lock(s.mutex);
  return reinterpret_cast<void**>(&s.modules.add_registered(image));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}  // at the program's end: launches from destructors still find it
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  State& s = state();
  if (s.forked) return;
  const std::lock_guard lock(s.mutex);
  s.modules.add_key(host, *module_of(handle), name);
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size, int, int) {
  State& s = state();
  if (s.forked) return;
  const std::lock_guard lock(s.mutex);
  s.modules.add_symbol(host, {module_of(handle), name, size});
}
void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, size_t, int, int) {
  State& s = state();
  if (s.forked) return;
  const std::lock_guard lock(s.mutex);
  s.cannot_run(std::string("__managed__ variable ") + name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  std::memcpy(stream, &configuration.stream, sizeof configuration.stream);
  return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t* out, const void* host) {
  return call("cudaGetKernel",
              [&](State& s) { present(out) = reinterpret_cast<cudaKernel_t>(&called(s, host)); });
}
// Asked once, by nvcc's code of kernel<<<>>>(), which goes on with the handle whatever comes of it: one that
// cannot be run has the program's own, so that each launch of it is refused and counted.
cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* host) {
  const auto find = [&](State& s) {
    try {
      present(out) = reinterpret_cast<cudaKernel_t>(&called(s, host));
    } catch (const NoCode&) {
      *out = static_cast<cudaKernel_t>(const_cast<void*>(host));
    }
  };
  return call("cudaLaunchKernel", find, false);
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* host) {
  return call("cudaGetFuncBySymbol",
              [&](State& s) { present(out) = reinterpret_cast<cudaFunction_t>(&called(s, host)); });
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* out, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return forward("cudaLibraryLoadData", [&] {
    return cuLibraryLoadData(driver(out), code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* out, const char* path, cudaJitOption*, void**, unsigned,
                                    cudaLibraryOption*, void**, unsigned) {
  return forward("cudaLibraryLoadFromFile", [&] {
    return cuLibraryLoadFromFile(driver(out), path, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return forward("cudaLibraryUnload", [&] { return cuLibraryUnload(driver(library)); });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* out, cudaLibrary_t library, const char* name) {
  return forward("cudaLibraryGetKernel",
                 [&] { return cuLibraryGetKernel(reinterpret_cast<CUkernel*>(out), driver(library), name); });
}
cudaError_t cudaLibraryGetKernelCount(unsigned* out, cudaLibrary_t library) {
  return forward("cudaLibraryGetKernelCount", [&] { return cuLibraryGetKernelCount(out, driver(library)); });
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* out, unsigned count, cudaLibrary_t library) {
  return forward("cudaLibraryEnumerateKernels", [&] {
    return cuLibraryEnumerateKernels(reinterpret_cast<CUkernel*>(out), count, driver(library));
  });
}
cudaError_t cudaLibraryGetGlobal(void** out, size_t* bytes, cudaLibrary_t library, const char* name) {
  return forward("cudaLibraryGetGlobal", [&] {
    return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(out), bytes, driver(library), name);
  });
}

}  // extern "C"
