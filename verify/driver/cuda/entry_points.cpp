// Errors by name, and functions by name.
#include "verify/driver/names/entry_points.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "verify/driver/core/state.h"

using namespace bitwell::driver;

namespace {

struct ErrorRow {
  CUresult error;
  const char *name, *text;
};
#define ROW(name, text) \
  ErrorRow { name, #name, text }
constexpr std::array kErrors{
    ROW(CUDA_SUCCESS, "no error"),
    ROW(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ROW(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ROW(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ROW(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    ROW(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ROW(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ROW(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ROW(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ROW(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    ROW(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    ROW(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    ROW(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    ROW(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    ROW(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    ROW(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ROW(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    ROW(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ROW(CUDA_ERROR_NOT_READY, "device not ready"),
    ROW(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ROW(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    ROW(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ROW(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    ROW(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
        "part or all of the requested memory range is already mapped"),
    ROW(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    ROW(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    ROW(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ROW(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    ROW(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        "operation would make the legacy stream depend on a capturing blocking stream"),
    ROW(CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream"),
    ROW(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
        "the graph update was not performed because it included changes which violated constraints"),
    ROW(CUDA_ERROR_INVALID_CLUSTER_SIZE, "misconfiguration of cluster dimensions"),
    ROW(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef ROW

const ErrorRow* row_of(CUresult error) {
  const auto* const row =
      std::find_if(kErrors.begin(), kErrors.end(), [&](const ErrorRow& r) { return r.error == error; });
  return row == kErrors.end() ? nullptr : row;
}

}  // namespace

namespace bitwell::driver {

void* entry_point(const char* name, int version) {
  // The newest of its versions that there was then.
  const EntryPoint* best = nullptr;
  for (const EntryPoint& e : entry_points())
    if (std::string_view(name) == e.name && e.since <= version) best = &e;
  if (best == nullptr) return nullptr;
  // Of this library: a program may have functions of its own under such names.
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&cuInit), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self == nullptr ? RTLD_DEFAULT : self, best->symbol);
}

}  // namespace bitwell::driver

extern "C" {

CUresult cuGetErrorString(CUresult error, const char** out) {
  const ErrorRow* const row = row_of(error);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = row == nullptr ? nullptr : row->text;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** out) {
  const ErrorRow* const row = row_of(error);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = row == nullptr ? nullptr : row->name;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* found) {
  if (name == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = entry_point(name, version);
  const bool later = *out == nullptr && entry_point(name, 1 << 30) != nullptr;
  if (found != nullptr)
    *found = *out != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
             : later         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *out == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
// No table is there. A program that cannot do without has NVIDIA's runtime linked in or loaded, which wants
// more of a driver than CUDA documents.
CUresult cuGetExportTable(const void** out, const CUuuid* id) {
  if (out == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  state().missing(
      "NVIDIA's own CUDA runtime: link the program with nvcc -cudart shared, so that it takes bitwell's",
      kUnsupported);
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
