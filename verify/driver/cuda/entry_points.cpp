// Errors by name, and functions by name.
#include "verify/driver/names/entry_points.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "verify/driver/core/state.h"
#include "verify/driver/names/errors.h"

using namespace bitwell::driver;

namespace {

// Its row, where the driver has the error.
const ErrorRow* row_of(CUresult error) {
  const ErrorRow* const row = error_row(error);
  return row == nullptr || row->driver == nullptr ? nullptr : row;
}

CUresult look_up(const char* name, void** out, int version, bool by_thread,
                 CUdriverProcAddressQueryResult* found) {
  if (name == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = entry_point(name, version, by_thread);
  const bool later = *out == nullptr && entry_point(name, 1 << 30, by_thread) != nullptr;
  if (found != nullptr)
    *found = *out != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
             : later         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *out == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // namespace

namespace bitwell::driver {

void* entry_point(const char* name, int version, bool by_thread) {
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
  void* const library = self == nullptr ? RTLD_DEFAULT : self;
  if (by_thread)
    for (const char* const behind : {"_ptsz", "_ptds"})
      if (void* const out = dlsym(library, (std::string(best->symbol) + behind).c_str()); out != nullptr)
        return out;
  return dlsym(library, best->symbol);
}

}  // namespace bitwell::driver

extern "C" {

CUresult cuGetErrorString(CUresult error, const char** out) {
  const ErrorRow* const row = row_of(error);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = row == nullptr ? nullptr : row->words;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** out) {
  const ErrorRow* const row = row_of(error);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = row == nullptr ? nullptr : row->driver;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* found) {
  return look_up(name, out, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, found);
}
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
// No table is there. Who asks is NVIDIA's runtime, linked in or loaded, which wants more of a driver than
// CUDA documents. A program that launches by the driver's calls can do without: cuda-python has a runtime
// linked in too.
CUresult cuGetExportTable(const void** out, const CUuuid* id) {
  if (out == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Dl_info asks{};  // the program, or a library that has it linked in
  std::string where;
  if (dladdr(__builtin_return_address(0), &asks) != 0 && asks.dli_fname != nullptr) {
    const std::string_view path = asks.dli_fname;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (file.starts_with("libnvrtc")) return CUDA_ERROR_NOT_FOUND;  // it compiles, and launches nothing
    where = ", in " + std::string(file);
  }
  s.missing(
      "NVIDIA's own CUDA runtime" + where +
      "; bitwell's takes its place where that is CUDA 13's and the symbol table is there (not stripped), or "
      "link with nvcc -cudart shared");
  static bool told = false;
  if (!std::exchange(told, true)) s.tell(R"({"runtime": true})");
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
