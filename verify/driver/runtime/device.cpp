// The one device that there is, errors, and what else changes nothing.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

constexpr int kVersion = 13000;

struct ErrorRow {
  cudaError_t error;
  const char *name, *text;
};
#define ROW(name, text) \
  ErrorRow { name, #name, text }
constexpr std::array kErrors{
    ROW(cudaSuccess, "no error"),
    ROW(cudaErrorInvalidValue, "invalid argument"),
    ROW(cudaErrorMemoryAllocation, "out of memory"),
    ROW(cudaErrorInitializationError, "initialization error"),
    ROW(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ROW(cudaErrorInvalidSymbol, "invalid device symbol"),
    ROW(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ROW(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ROW(cudaErrorInvalidDevice, "invalid device ordinal"),
    ROW(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ROW(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ROW(cudaErrorSymbolNotFound, "named symbol not found"),
    ROW(cudaErrorNotReady, "device not ready"),
    ROW(cudaErrorLaunchFailure, "unspecified launch failure"),
    ROW(cudaErrorAssert, "device-side assert triggered"),
    ROW(cudaErrorNotSupported, "operation not supported by bitwell"),
    ROW(cudaErrorUnknown, "unknown error"),
};
#undef ROW

const ErrorRow* row_of(cudaError_t error) {
  const auto* const row =
      std::find_if(kErrors.begin(), kErrors.end(), [&](const ErrorRow& r) { return r.error == error; });
  return row == kErrors.end() ? nullptr : row;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorRow* const row = row_of(error);
  return row == nullptr ? "unrecognized error code" : row->name;
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorRow* const row = row_of(error);
  return row == nullptr ? "unrecognized error code" : row->text;
}
cudaError_t cudaGetLastError() {
  Session& s = session();
  const std::lock_guard lock(s.one_at_a_time);
  const int last = s.sticky_error != 0 ? s.sticky_error : s.last_error;
  s.last_error = 0;
  return static_cast<cudaError_t>(last);
}
cudaError_t cudaPeekAtLastError() {
  Session& s = session();
  const std::lock_guard lock(s.one_at_a_time);
  return static_cast<cudaError_t>(s.sticky_error != 0 ? s.sticky_error : s.last_error);
}

cudaError_t cudaGetDeviceCount(int* out) {
  *out = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* out) {
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](Session&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned* out) {
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int, unsigned, unsigned) { return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* out) {
  *out = kVersion;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* out) {
  *out = kVersion;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr which, int) {
  return call("cudaDeviceGetAttribute", [&](Session& s) {
    const int value = attribute(s.device(), which);
    if (value < 0) return not_supported(s, "device attribute " + std::to_string(which));
    *out = value;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
  return call("cudaGetDeviceProperties", [&](Session& s) {
    const DeviceRow& d = s.device();
    const auto get = [&](cudaDeviceAttr which) { return attribute(d, which); };
    *out = {};
    std::snprintf(out->name, sizeof out->name, "%s (bitwell)", std::string(d.name).c_str());
    out->totalGlobalMem = d.arch().device.memory;
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
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* out, int, int) {
  *out = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int length, int) {
  std::snprintf(out, static_cast<size_t>(std::max(length, 0)), "0000:00:00.0");
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaSuccess; }
// Sizes that bitwell does not count: its own have room.
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t* out, cudaLimit which) {
  *out = which == cudaLimitMallocHeapSize ? size_t{8} << 20
         : which == cudaLimitStackSize    ? 1024
                                          : size_t{1} << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

// What the driver has under that name, in its newest version: libcuda's own is here too. Programs look up
// what they may never call.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  *out = dlsym(RTLD_DEFAULT, (std::string(name) + "_v2").c_str());
  if (*out == nullptr) *out = dlsym(RTLD_DEFAULT, name);
  if (found != nullptr)
    *found = *out == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return *out == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
}

}  // extern "C"
