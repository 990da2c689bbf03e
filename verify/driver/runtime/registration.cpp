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

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* image) {
  Session& s = session();
  const std::lock_guard lock(s.one_at_a_time);
  return reinterpret_cast<void**>(&s.modules.add(read_fat_binary(image)));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}  // at the program's end: launches from destructors still find it
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  Session& s = session();
  const std::lock_guard lock(s.one_at_a_time);
  s.modules.add_kernel(*module_of(handle), name, host);
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size, int constant,
                       int) {
  Session& s = session();
  const std::lock_guard lock(s.one_at_a_time);
  Symbol symbol;
  symbol.name = name;
  symbol.bytes = size;
  symbol.constant = constant != 0;
  s.modules.add_symbol(*module_of(handle), std::move(symbol), host);
}
void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, size_t, int, int) {
  session().missing(std::string("__managed__ variable ") + name);
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

cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* host) {
  return call("__cudaGetKernel", [&](Session& s) {
    *out = reinterpret_cast<cudaKernel_t>(s.modules.kernel(host));
    return *out == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* host) {
  return call("cudaGetFuncBySymbol", [&](Session& s) {
    *out = reinterpret_cast<cudaFunction_t>(s.modules.kernel(host));
    return *out == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* out, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return call("cudaLibraryLoadData", [&](Session& s) {
    *out = reinterpret_cast<cudaLibrary_t>(&s.modules.add(read_fat_binary(code)));
    return cudaSuccess;
  });
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call("cudaLibraryUnload", [&](Session& s) {
    s.modules.remove(reinterpret_cast<Module*>(library));
    return cudaSuccess;
  });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* out, cudaLibrary_t library, const char* name) {
  return call("cudaLibraryGetKernel", [&](Session& s) {
    Module& module = *reinterpret_cast<Module*>(library);
    module.head(name, s.device().sm);
    *out = reinterpret_cast<cudaKernel_t>(s.modules.add_kernel(module, name, nullptr));
    return cudaSuccess;
  });
}

}  // extern "C"
