// The calls of the driver that are looked at: what loads code, allocates and launches. All go on to the
// machine's own.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "verify/driver/names/by_thread.h"
#include "verify/driver/record/keeper.h"
#include "verify/driver/record/real.h"

using namespace bitwell;
using driver::GpuLaunch;
using driver::keeper;

namespace {

CUresult allocated(CUresult result, const CUdeviceptr* at, size_t bytes, const char* kind) {
  if (result == CUDA_SUCCESS) keeper().add(*at, bytes, false, kind);
  return result;
}
CUresult mapped(CUresult result, void* const* at, size_t bytes) {
  if (result == CUDA_SUCCESS) keeper().add(reinterpret_cast<uint64_t>(*at), bytes, true, "host");
  return result;
}
// Before the driver frees it, for another thread may be given the address right behind that.
CUdeviceptr freed(CUdeviceptr at) {
  keeper().remove(at);
  return at;
}

template <class Handle>
CUresult loaded(CUresult result, const Handle* handle, const void* image, bool library) {
  if (result != CUDA_SUCCESS) return result;
  const std::lock_guard lock(keeper().mutex());
  keeper().code().add(*handle, image, library);
  return result;
}
template <class Handle>
CUresult loaded_file(CUresult result, const Handle* handle, const char* path, bool library) {
  if (result != CUDA_SUCCESS) return result;
  const std::lock_guard lock(keeper().mutex());
  keeper().code().add_file(*handle, path, library);
  return result;
}
void dropped(const void* handle) {
  const std::lock_guard lock(keeper().mutex());
  keeper().code().drop(handle);
}
template <class Handle>
CUresult named(CUresult result, const Handle* kernel, const void* module, const char* name) {
  if (result != CUDA_SUCCESS) return result;
  const std::lock_guard lock(keeper().mutex());
  keeper().code().name(*kernel, module, name);
  return result;
}

// `launch` puts it into a stream.
template <class F>
CUresult launched(const GpuLaunch& asked, F launch) {
  std::optional<driver::Keeper::Begun> begun = keeper().begin(asked, launch);
  const CUresult result = launch(asked.stream);
  if (begun) keeper().end(*begun, result);
  return result;
}

GpuLaunch asked_of(CUfunction kernel, const std::array<unsigned, 3>& grid,
                   const std::array<unsigned, 3>& block, unsigned shared, CUstream stream, void** parameters,
                   void** extra) {
  GpuLaunch out;
  out.kernel = kernel;
  out.shape.grid = grid;
  out.shape.block = block;
  out.shape.dynamic_shared = shared;
  out.stream = stream;
  out.parameters = parameters;
  out.extra = extra;
  return out;
}
GpuLaunch asked_of(const CUlaunchConfig& config, CUfunction kernel, void** parameters, void** extra) {
  GpuLaunch out = asked_of(kernel, {config.gridDimX, config.gridDimY, config.gridDimZ},
                           {config.blockDimX, config.blockDimY, config.blockDimZ}, config.sharedMemBytes,
                           config.hStream, parameters, extra);
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    const CUlaunchAttribute& a = config.attrs[i];
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) out.shape.cooperative = a.value.cooperative != 0;
    if (a.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& c = a.value.clusterDim;
    constexpr uint64_t portable = 8;
    out.shape.cluster = {c.x, c.y, c.z};
    out.shape.explicit_cluster = true;
    out.shape.non_portable_cluster = uint64_t{c.x} * c.y * c.z > portable;
  }
  return out;
}

constexpr const char* kGraphs = "launches of graphs are not kept: they are captured, and begin later";

struct Row {
  std::string_view name;
  int since;
  const char* symbol;
};
constexpr Row kRows[] = {
#include "verify/driver/names/entry_points.inc"
};

}  // namespace

extern "C" {

// Code.
CUresult cuModuleLoad(CUmodule* out, const char* path) {
  return loaded_file(REAL(cuModuleLoad)(out, path), out, path, false);
}
CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return loaded(REAL(cuModuleLoadData)(out, image), out, image, false);
}
CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned n, CUjit_option* options,
                            void** values) {
  return loaded(REAL(cuModuleLoadDataEx)(out, image, n, options, values), out, image, false);
}
CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return loaded(REAL(cuModuleLoadFatBinary)(out, image), out, image, false);
}
CUresult cuModuleUnload(CUmodule module) {
  dropped(module);
  return REAL(cuModuleUnload)(module);
}
CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return named(REAL(cuModuleGetFunction)(out, module, name), out, module, name);
}
CUresult cuLibraryLoadData(CUlibrary* out, const void* image, CUjit_option* jit, void** jit_values,
                           unsigned jits, CUlibraryOption* options, void** values, unsigned n) {
  return loaded(REAL(cuLibraryLoadData)(out, image, jit, jit_values, jits, options, values, n), out, image,
                true);
}
CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option* jit, void** jit_values,
                               unsigned jits, CUlibraryOption* options, void** values, unsigned n) {
  return loaded_file(REAL(cuLibraryLoadFromFile)(out, path, jit, jit_values, jits, options, values, n), out,
                     path, true);
}
CUresult cuLibraryUnload(CUlibrary library) {
  dropped(library);
  return REAL(cuLibraryUnload)(library);
}
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return named(REAL(cuLibraryGetKernel)(out, library, name), out, library, name);
}

// Memory.
CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) {
  return allocated(REAL(cuMemAlloc)(out, bytes), out, bytes, "device");
}
CUresult cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  const CUresult result = REAL(cuMemAllocPitch)(out, pitch, width, height, element);
  return result == CUDA_SUCCESS ? allocated(result, out, *pitch * height, "device") : result;
}
// The GPU may have its bytes; a copy of the driver's brings them.
CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  return allocated(REAL(cuMemAllocManaged)(out, bytes, flags), out, bytes, "managed");
}
CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return allocated(REAL(cuMemAllocAsync)(out, bytes, stream), out, bytes, "device");
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocated(REAL(cuMemAllocFromPoolAsync)(out, bytes, pool, stream), out, bytes, "device");
}
CUresult cuMemFree(CUdeviceptr at) { return REAL(cuMemFree)(freed(at)); }
CUresult cuMemFreeAsync(CUdeviceptr at, CUstream stream) { return REAL(cuMemFreeAsync)(freed(at), stream); }
CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return allocated(REAL(cuMemMap)(at, bytes, offset, handle, flags), &at, bytes, "mapped");
}
CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
  keeper().remove_range(at, bytes);
  return REAL(cuMemUnmap)(at, bytes);
}
CUresult cuMemAllocHost(void** out, size_t bytes) {
  return mapped(REAL(cuMemAllocHost)(out, bytes), out, bytes);
}
CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return mapped(REAL(cuMemHostAlloc)(out, bytes, flags), out, bytes);
}
CUresult cuMemFreeHost(void* at) {
  keeper().remove(reinterpret_cast<uint64_t>(at));
  return REAL(cuMemFreeHost)(at);
}
CUresult cuMemHostRegister(void* at, size_t bytes, unsigned flags) {
  return mapped(REAL(cuMemHostRegister)(at, bytes, flags), &at, bytes);
}
CUresult cuMemHostUnregister(void* at) {
  keeper().remove(reinterpret_cast<uint64_t>(at));
  return REAL(cuMemHostUnregister)(at);
}
CUresult cuCtxDestroy(CUcontext context) {
  keeper().remove_of(context);
  return REAL(cuCtxDestroy)(context);
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  CUcontext context = nullptr;
  if (REAL(cuDevicePrimaryCtxRetain)(&context, device) == CUDA_SUCCESS) {
    keeper().remove_of(context);
    REAL(cuDevicePrimaryCtxRelease)(device);
  }
  return REAL(cuDevicePrimaryCtxReset)(device);
}

// Launches.
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launched(asked_of(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra),
                  [&](CUstream to) {
                    return REAL(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, to, parameters, extra);
                  });
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** parameters) {
  GpuLaunch asked = asked_of(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr);
  asked.shape.cooperative = true;
  return launched(asked, [&](CUstream to) {
    return REAL(cuLaunchCooperativeKernel)(f, gx, gy, gz, bx, by, bz, shared, to, parameters);
  });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  if (config == nullptr) return REAL(cuLaunchKernelEx)(config, f, parameters, extra);
  return launched(asked_of(*config, f, parameters, extra), [&](CUstream to) {
    CUlaunchConfig there = *config;
    there.hStream = to;
    return REAL(cuLaunchKernelEx)(&there, f, parameters, extra);
  });
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  keeper().pass_over(kGraphs);
  return REAL(cuGraphLaunch)(graph, stream);
}

}  // extern "C"

namespace {

// Those above by their symbols, and as what the names with _ptsz do.
struct Ours {
  std::string_view symbol;
  void* function;
  void* by_thread = nullptr;
};
#define OURS(f) \
  { BITWELL_NAME(f), reinterpret_cast<void*>(&f) }
#define OURS_OF_STREAMS(f) \
  { BITWELL_NAME(f), reinterpret_cast<void*>(&f), reinterpret_cast<void*>(&driver::ByThread<&f>::call) }

const Ours* ours(std::string_view symbol) {
  static const Ours all[] = {OURS(cuModuleLoad),
                             OURS(cuModuleLoadData),
                             OURS(cuModuleLoadDataEx),
                             OURS(cuModuleLoadFatBinary),
                             OURS(cuModuleUnload),
                             OURS(cuModuleGetFunction),
                             OURS(cuLibraryLoadData),
                             OURS(cuLibraryLoadFromFile),
                             OURS(cuLibraryUnload),
                             OURS(cuLibraryGetKernel),
                             OURS(cuMemAlloc),
                             OURS(cuMemAllocPitch),
                             OURS(cuMemAllocManaged),
                             OURS_OF_STREAMS(cuMemAllocAsync),
                             OURS_OF_STREAMS(cuMemAllocFromPoolAsync),
                             OURS(cuMemFree),
                             OURS_OF_STREAMS(cuMemFreeAsync),
                             OURS(cuMemMap),
                             OURS(cuMemUnmap),
                             OURS(cuMemAllocHost),
                             OURS(cuMemHostAlloc),
                             OURS(cuMemFreeHost),
                             OURS(cuMemHostRegister),
                             OURS(cuMemHostUnregister),
                             OURS(cuCtxDestroy),
                             OURS(cuDevicePrimaryCtxReset),
                             OURS_OF_STREAMS(cuLaunchKernel),
                             OURS_OF_STREAMS(cuLaunchCooperativeKernel),
                             OURS_OF_STREAMS(cuLaunchKernelEx),
                             OURS_OF_STREAMS(cuGraphLaunch),
                             OURS(cuGetProcAddress)};
  const auto* const at =
      std::find_if(std::begin(all), std::end(all), [&](const Ours& o) { return o.symbol == symbol; });
  return at == std::end(all) ? nullptr : at;
}

// The function that a program gets for one of the driver's: ours where we look at it. `wanted`: of which
// CUDA.
void* instead(std::string_view name, int wanted, bool by_thread, void* real) {
  const Row* best = nullptr;
  for (const Row& row : kRows)
    if (row.name == name && row.since <= wanted) best = &row;
  if (best == nullptr) return real;
  const Ours* const found = ours(best->symbol);
  if (found == nullptr) return real;
  return by_thread && found->by_thread != nullptr ? found->by_thread : found->function;
}

}  // namespace

namespace bitwell::driver {

void* looked_at_by_thread(std::string_view symbol) {
  if (!symbol.ends_with("_ptsz")) return nullptr;
  const Ours* const found = ours(symbol.substr(0, symbol.size() - 5));
  return found == nullptr ? nullptr : found->by_thread;
}

}  // namespace bitwell::driver

extern "C" {

CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* found) {
  const CUresult result = REAL(cuGetProcAddress)(name, out, version, flags, found);
  if (result == CUDA_SUCCESS && out != nullptr && *out != nullptr)
    *out = instead(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, *out);
  return result;
}
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  const CUresult result = REAL(cuGetProcAddress)(name, out, version, flags);
  if (result == CUDA_SUCCESS && out != nullptr && *out != nullptr)
    *out = instead(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, *out);
  return result;
}

}  // extern "C"
