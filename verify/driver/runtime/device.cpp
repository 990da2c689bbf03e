// The one device that there is, errors, and what else changes nothing.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "verify/driver/names/entry_points.h"
#include "verify/driver/names/errors.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

constexpr int kVersion = CUDART_VERSION;
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t done(const char* name) {
  return call(name, [](State&) {});
}

void need_device(int device) {
  if (device != 0) throw Refused(CUDA_ERROR_INVALID_DEVICE, "there is one device, 0");
}

cudaError_t look_up(const char* name, void** out, unsigned version, bool by_thread,
                    cudaDriverEntryPointQueryResult* found) {
  if (name == nullptr || out == nullptr) return keep(CUDA_ERROR_INVALID_VALUE);
  *out = entry_point(name, static_cast<int>(version), by_thread);
  if (found != nullptr)
    *found = *out != nullptr                                    ? cudaDriverEntryPointSuccess
             : entry_point(name, 1 << 30, by_thread) != nullptr ? cudaDriverEntryPointVersionNotSufficent
                                                                : cudaDriverEntryPointSymbolNotFound;
  return *out == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
}

}  // namespace

namespace bitwell::driver {

void begin(State& s, bool sees) {
  s.initialised = true;
  if (s.lost != CUDA_SUCCESS) throw Refused(s.lost);
  if (sees && s.unseen != CUDA_SUCCESS) throw Refused(std::exchange(s.unseen, CUDA_SUCCESS));
  if (s.current() != nullptr) return;
  if (s.primary.retained == 0) ++s.primary.retained;
  s.stack().push_back(&s.primary);
}

cudaError_t keep(CUresult result, bool latch) {
  const auto error = static_cast<cudaError_t>(result);
  if (error != cudaSuccess && latch) last_error = error;
  return error;
}

}  // namespace bitwell::driver

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorRow* const row = error_row(error);
  return row == nullptr || row->runtime == nullptr ? "unrecognized error code" : row->runtime;
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorRow* const row = error_row(error);
  return row == nullptr || row->runtime == nullptr ? "unrecognized error code" : row->words;
}
cudaError_t cudaPeekAtLastError() {
  State& s = state();
  if (s.forked) return last_error;
  const std::lock_guard lock(s.mutex);
  s.unseen = CUDA_SUCCESS;  // it is the last error
  return s.lost != CUDA_SUCCESS ? static_cast<cudaError_t>(s.lost) : last_error;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaGetDeviceCount(int* out) {
  return keep(guarded("cudaGetDeviceCount", [&](State&) { present(out) = 1; }));
}
cudaError_t cudaGetDevice(int* out) {
  if (out == nullptr) return keep(CUDA_ERROR_INVALID_VALUE);
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](State&) { need_device(device); });
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", [&](State&) { need_device(device); });
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return keep(guarded("cudaSetDeviceFlags", [&](State& s) {
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.primary.flags = flags;
  }));
}
cudaError_t cudaGetDeviceFlags(unsigned* out) {
  return call("cudaGetDeviceFlags", [&](State& s) { present(out) = s.current()->flags; });
}
cudaError_t cudaRuntimeGetVersion(int* out) {
  if (out == nullptr) return keep(CUDA_ERROR_INVALID_VALUE);
  *out = kVersion;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* out) { return keep(cuDriverGetVersion(out)); }
cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr which, int device) {
  return forward("cudaDeviceGetAttribute",
                 [&] { return cuDeviceGetAttribute(out, static_cast<CUdevice_attribute>(which), device); });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return call("cudaGetDeviceProperties", [&](State& s) {
    need_device(device);
    const DeviceRow& d = s.device();
    const auto get = [&](cudaDeviceAttr which) { return attribute(d, which); };
    present(out) = {};
    std::snprintf(out->name, sizeof out->name, "%s (bitwell)", std::string(d.name).c_str());
    std::memcpy(out->uuid.bytes, uuid(d).data(), sizeof out->uuid.bytes);
    out->totalGlobalMem = d.size.memory;
    out->sharedMemPerBlock = static_cast<size_t>(get(cudaDevAttrMaxSharedMemoryPerBlock));
    out->sharedMemPerBlockOptin = static_cast<size_t>(get(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    out->sharedMemPerMultiprocessor = static_cast<size_t>(get(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    out->reservedSharedMemPerBlock = static_cast<size_t>(get(cudaDevAttrReservedSharedMemoryPerBlock));
    out->regsPerBlock = out->regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerBlock);
    out->warpSize = 32;
    out->maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
    const std::array block{cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ};
    const std::array grid{cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ};
    for (size_t i = 0; i < 3; ++i) out->maxThreadsDim[i] = get(block[i]), out->maxGridSize[i] = get(grid[i]);
    out->totalConstMem = static_cast<size_t>(get(cudaDevAttrTotalConstantMemory));
    out->major = get(cudaDevAttrComputeCapabilityMajor);
    out->minor = get(cudaDevAttrComputeCapabilityMinor);
    out->textureAlignment = out->surfaceAlignment = 512;
    out->texturePitchAlignment = 32;
    out->memPitch = static_cast<size_t>(get(cudaDevAttrMaxPitch));
    out->multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
    out->maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
    out->maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
    out->l2CacheSize = get(cudaDevAttrL2CacheSize);
    out->memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
    out->asyncEngineCount = 3;
    out->canMapHostMemory = out->concurrentKernels = out->unifiedAddressing = out->managedMemory = 1;
    out->concurrentManagedAccess = out->cooperativeLaunch = out->streamPrioritiesSupported = 1;
    out->globalL1CacheSupported = out->localL1CacheSupported = out->memoryPoolsSupported = 1;
    out->clusterLaunch = get(cudaDevAttrClusterLaunch);
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* out, int device, int peer) {
  return forward("cudaDeviceCanAccessPeer", [&] { return cuDeviceCanAccessPeer(out, device, peer); });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return forward("cudaDeviceGetStreamPriorityRange",
                 [&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int length, int device) {
  return forward("cudaDeviceGetPCIBusId", [&] { return cuDeviceGetPCIBusId(out, length, device); });
}
cudaError_t cudaDeviceGetByPCIBusId(int* out, const char* id) {
  return forward("cudaDeviceGetByPCIBusId", [&] { return cuDeviceGetByPCIBusId(out, id); });
}
// All of the program's is gone, as on a device; it goes on with a context that is whole.
cudaError_t cudaDeviceReset() {
  return keep(guarded("cudaDeviceReset", [](State& s) { s.reset_primary(); }));
}
cudaError_t cudaDeviceSetLimit(cudaLimit which, size_t value) {
  return forward("cudaDeviceSetLimit", [&] { return cuCtxSetLimit(static_cast<CUlimit>(which), value); });
}
cudaError_t cudaDeviceGetLimit(size_t* out, cudaLimit which) {
  return forward("cudaDeviceGetLimit", [&] { return cuCtxGetLimit(out, static_cast<CUlimit>(which)); });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return done("cudaDeviceSetCacheConfig"); }
cudaError_t cudaCtxResetPersistingL2Cache() { return done("cudaCtxResetPersistingL2Cache"); }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

// Programs look up what they may never call.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* found) {
  return look_up(name, out, version, (flags & cudaEnablePerThreadDefaultStream) != 0, found);
}
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** out, unsigned version,
                                                  unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* found) {
  return look_up(name, out, version, (flags & cudaEnableLegacyStream) == 0, found);
}

}  // extern "C"
