// Initialisation, the one device that there is, contexts.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "verify/driver/core/state.h"

using namespace bitwell::driver;

namespace {

void need_device(CUdevice device) {
  if (device != 0)
    throw Refused(CUDA_ERROR_INVALID_DEVICE,
                  "there is one device, 0; " + std::to_string(device) + " is asked for");
}

CUcontext handle(CudaContext* context) { return reinterpret_cast<CUcontext>(context); }

constexpr unsigned kContextFlags = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                                   CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS;

void need_flags(unsigned flags) {
  if ((flags & ~kContextFlags) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
}

constexpr size_t kMostLocal = size_t{512} << 10;  // bytes of a thread's local memory

size_t limit_of(CUlimit which) {
  switch (which) {
    case CU_LIMIT_STACK_SIZE: return 1024;
    case CU_LIMIT_PRINTF_FIFO_SIZE: return size_t{1} << 20;
    case CU_LIMIT_MALLOC_HEAP_SIZE: return size_t{8} << 20;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return 2048;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: return 2;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return 64;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return 0;
    default: throw Refused(CUDA_ERROR_INVALID_VALUE);  // as an H100's driver has it
  }
}

}  // namespace

extern "C" {

// For NVML in this process: the architecture of the device that CUDA shows or will show, for which nothing is
// initialised.
int cu_bitwell_device() {
  State& s = state();
  if (s.forked) return 0;
  const std::lock_guard lock(s.mutex);
  try {
    return s.device().sm;
  } catch (const std::exception&) {
    return 0;
  }
}

CUresult cuInit(unsigned flags) {
  return guarded("cuInit", [&](State& s) {
    if (flags != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.initialised = true;
  });
}
CUresult cuDriverGetVersion(int* out) {
  return driver_call<Need::nothing>("cuDriverGetVersion", [&](State&) { present(out) = CUDA_VERSION; });
}
CUresult cuDeviceGetCount(int* out) {
  return driver_call<Need::init>("cuDeviceGetCount", [&](State&) { present(out) = 1; });
}
CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  return driver_call<Need::init>("cuDeviceGet", [&](State&) {
    need_device(ordinal);
    present(out) = 0;
  });
}
CUresult cuDeviceGetAttribute(int* out, CUdevice_attribute which, CUdevice device) {
  return driver_call<Need::init>("cuDeviceGetAttribute", [&](State& s) {
    need_device(device);
    if (which <= 0 || which >= CU_DEVICE_ATTRIBUTE_MAX) throw Refused(CUDA_ERROR_INVALID_VALUE);
    // One that bitwell has no value for is a feature that it has not.
    present(out) = std::max(attribute(s.device(), static_cast<int>(which)), 0);
  });
}
CUresult cuDeviceGetName(char* out, int length, CUdevice device) {
  return driver_call<Need::init>("cuDeviceGetName", [&](State& s) {
    need_device(device);
    if (length < 1) throw Refused(CUDA_ERROR_INVALID_VALUE);
    std::snprintf(&present(out), static_cast<size_t>(length), "%s (bitwell)",
                  std::string(s.device().name).c_str());
  });
}
CUresult cuDeviceGetUuid(CUuuid* out, CUdevice device) {
  return driver_call<Need::init>("cuDeviceGetUuid", [&](State& s) {
    need_device(device);
    std::memcpy(present(out).bytes, uuid(s.device()).data(), sizeof out->bytes);
  });
}
CUresult cuDeviceTotalMem(size_t* out, CUdevice device) {
  return driver_call<Need::init>("cuDeviceTotalMem", [&](State& s) {
    need_device(device);
    present(out) = s.most_memory();
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return driver_call<Need::init>("cuDeviceComputeCapability", [&](State& s) {
    need_device(device);
    present(major) = s.device().sm / 10;
    present(minor) = s.device().sm % 10;
  });
}
CUresult cuDeviceGetPCIBusId(char* out, int length, CUdevice device) {
  return driver_call<Need::init>("cuDeviceGetPCIBusId", [&](State&) {
    need_device(device);
    if (length < 13) throw Refused(CUDA_ERROR_INVALID_VALUE);
    std::snprintf(&present(out), static_cast<size_t>(length), "0000:00:00.0");
  });
}
CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* id) {
  return driver_call<Need::init>("cuDeviceGetByPCIBusId", [&](State&) {
    if (std::strcmp(&present(id), "0000:00:00.0") != 0) throw Refused(CUDA_ERROR_INVALID_DEVICE);
    present(out) = 0;
  });
}
CUresult cuDeviceCanAccessPeer(int* out, CUdevice device, CUdevice peer) {
  return driver_call<Need::init>("cuDeviceCanAccessPeer", [&](State&) {
    need_device(device);
    need_device(peer);
    present(out) = 0;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  return driver_call<Need::init>("cuDevicePrimaryCtxRetain", [&](State& s) {
    need_device(device);
    present(out) = handle(&s.primary);
    ++s.primary.retained;
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return driver_call<Need::init>("cuDevicePrimaryCtxRelease", [&](State& s) {
    need_device(device);
    if (s.primary.retained == 0) throw Refused(CUDA_ERROR_INVALID_CONTEXT);
    if (--s.primary.retained == 0) s.reset_primary();
  });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return driver_call<Need::init>("cuDevicePrimaryCtxReset", [&](State& s) {
    need_device(device);
    s.reset_primary();
  });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return driver_call<Need::init>("cuDevicePrimaryCtxSetFlags", [&](State& s) {
    need_device(device);
    need_flags(flags);
    s.primary.flags = flags;
  });
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return driver_call<Need::init>("cuDevicePrimaryCtxGetState", [&](State& s) {
    need_device(device);
    present(flags) = s.primary.flags;
    present(active) = s.primary.retained > 0 ? 1 : 0;
  });
}

CUresult cuCtxCreate(CUcontext* out, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
  return driver_call<Need::init>("cuCtxCreate", [&](State& s) {
    need_device(device);
    need_flags(flags);
    if (parameters != nullptr &&
        (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr)) {
      s.missing("parameters of cuCtxCreate");
      throw Refused(CUDA_ERROR_NOT_SUPPORTED);
    }
    CudaContext& made = s.make_context(flags);
    s.stack().push_back(&made);
    present(out) = handle(&made);
  });
}
#undef cuCtxCreate
CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
  return cuCtxCreate_v4(out, nullptr, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) {
  return driver_call<Need::init>("cuCtxDestroy", [&](State& s) { s.destroy_context(context); });
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return driver_call<Need::init>("cuCtxPushCurrent",
                                 [&](State& s) { s.stack().push_back(&s.context(context)); });
}
CUresult cuCtxPopCurrent(CUcontext* out) {
  return driver_call<Need::init>("cuCtxPopCurrent", [&](State& s) {
    if (s.stack().empty()) throw Refused(CUDA_ERROR_INVALID_CONTEXT);
    if (out != nullptr) *out = handle(s.stack().back());
    s.stack().pop_back();
  });
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_call<Need::init>("cuCtxSetCurrent", [&](State& s) {
    CudaContext* const next = context == nullptr ? nullptr : &s.context(context);
    if (!s.stack().empty()) s.stack().pop_back();
    if (next != nullptr) s.stack().push_back(next);
  });
}
CUresult cuCtxGetCurrent(CUcontext* out) {
  return driver_call<Need::init>("cuCtxGetCurrent", [&](State& s) { present(out) = handle(s.current()); });
}
CUresult cuCtxGetDevice(CUdevice* out) {
  return driver_call("cuCtxGetDevice", [&](State&) { present(out) = 0; });
}
CUresult cuCtxGetFlags(unsigned* out) {
  return driver_call("cuCtxGetFlags", [&](State& s) { present(out) = s.current()->flags; });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return driver_call("cuCtxSetFlags", [&](State& s) {
    need_flags(flags);
    s.current()->flags = flags;
  });
}
CUresult cuCtxGetId(CUcontext context, unsigned long long* out) {
  return driver_call<Need::init>("cuCtxGetId", [&](State& s) {
    CudaContext& c = context == nullptr ? s.need_current() : s.context(context);
    present(out) = reinterpret_cast<unsigned long long>(&c);
  });
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned* out) {
  return driver_call<Need::init>("cuCtxGetApiVersion", [&](State& s) {
    if (context != nullptr) s.context(context);
    present(out) = 3020;
  });
}
CUresult cuCtxSynchronize() {
  return driver_call("cuCtxSynchronize", [](State& s) { s.streams.not_while_any_is_captured(); });
}
// Of CUDA 13.1: of a context that need not be the current one.
CUresult cuCtxSynchronize_v2(CUcontext context) {
  return driver_call<Need::init>("cuCtxSynchronize", [&](State& s) {
    s.context(context);
    if (s.lost != CUDA_SUCCESS) throw Refused(s.lost);
  });
}
CUresult cuCtxGetDevice_v2(CUdevice* out, CUcontext context) {
  return driver_call<Need::init>("cuCtxGetDevice", [&](State& s) {
    s.context(context);
    present(out) = 0;
  });
}
// They are given back as they were set, and bound nothing: bitwell's own have room.
CUresult cuCtxSetLimit(CUlimit which, size_t value) {
  return driver_call("cuCtxSetLimit", [&](State& s) {
    limit_of(which);
    if (which == CU_LIMIT_STACK_SIZE && value > kMostLocal)
      throw Refused(
          CUDA_ERROR_INVALID_VALUE,
          std::to_string(value) + " bytes of a thread's stack, the device has " + std::to_string(kMostLocal));
    s.current()->limits[which] = value;
  });
}
CUresult cuCtxGetLimit(size_t* out, CUlimit which) {
  return driver_call("cuCtxGetLimit", [&](State& s) {
    const auto set = s.current()->limits.find(which);
    present(out) = set != s.current()->limits.end() ? set->second : limit_of(which);
  });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* out) {
  return driver_call("cuCtxGetCacheConfig", [&](State&) { present(out) = CU_FUNC_CACHE_PREFER_NONE; });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return driver_call("cuCtxSetCacheConfig", [](State&) {});
}
CUresult cuCtxResetPersistingL2Cache() {
  return driver_call("cuCtxResetPersistingL2Cache", [](State&) {});
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call("cuCtxGetStreamPriorityRange", [&](State&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return driver_call("cuCtxEnablePeerAccess",
                     [](State&) { throw Refused(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED); });
}
CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

}  // extern "C"
