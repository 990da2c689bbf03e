// Modules, libraries, their kernels and variables; occupancy.
#include <cuda.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "verify/driver/core/work.h"
#include "verify/image/image.h"

using namespace bitwell::driver;

namespace {

std::string contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Refused(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot read '") + path + "'");
  return {std::istreambuf_iterator<char>(in), {}};
}

Module& load(State& s, std::span<const std::byte> image, bool library) {
  return s.modules.load(image, s.device(), library, library ? nullptr : s.current());
}
template <class Handle>
CUresult load_data(const char* name, Handle* out, const void* image, bool library) {
  return driver_call(name, [&](State& s) {
    present(out);
    present(image == nullptr ? nullptr : &image);
    *out = reinterpret_cast<Handle>(&load(s, bitwell::image::readable(image), library));
  });
}
template <class Handle>
CUresult load_file(const char* name, Handle* out, const char* path, bool library) {
  return driver_call(name, [&](State& s) {
    present(out);
    const std::string text = contents(&present(path));
    *out = reinterpret_cast<Handle>(&load(s, std::as_bytes(std::span(text)), library));
  });
}

template <class Handle>
CUresult get_kernel(const char* call, Handle* out, const void* module, const char* name) {
  return driver_call(call, [&](State& s) {
    present(out);
    *out = reinterpret_cast<Handle>(&s.modules.kernel(s.modules.find(module), &present(name), s.device()));
  });
}
CUresult get_variable(const char* call, CUdeviceptr* out, size_t* bytes, const void* module,
                      const char* name) {
  return driver_call(call, [&](State& s) {
    const bitwell::isa::Allocation at =
        s.modules.variable(s.modules.find(module), &present(name), s.device());
    if (out != nullptr) *out = at.address;
    if (bytes != nullptr) *bytes = at.bytes;
  });
}
template <class Handle>
CUresult enumerate(const char* call, Handle* out, unsigned count, const void* module) {
  return driver_call(call, [&](State& s) {
    Module& m = s.modules.find(module);
    const std::vector<std::string> names = s.modules.entries(m, s.device());
    for (unsigned i = 0; i < count && i < names.size(); ++i)
      (&present(out))[i] = reinterpret_cast<Handle>(&s.modules.kernel(m, names[i], s.device()));
  });
}
CUresult count_kernels(const char* call, unsigned* out, const void* module) {
  return driver_call(call, [&](State& s) {
    present(out) = static_cast<unsigned>(s.modules.entries(s.modules.find(module), s.device()).size());
  });
}
CUresult unload(const char* call, const void* module) {
  return driver_call(call, [&](State& s) { s.modules.unload(s.modules.find(module)); });
}

CUresult parameter(const char* call, const void* kernel, size_t index, size_t* offset, size_t* size) {
  return driver_call(call, [&](State& s) {
    const bitwell::isa::Program& program = s.modules.program(kernel_of(s, kernel));
    const auto& all = program.functions[static_cast<size_t>(program.entry)].params;
    if (index >= all.size()) throw Refused(CUDA_ERROR_INVALID_VALUE);
    present(offset) = all[index].offset;
    if (size != nullptr) *size = all[index].size;
  });
}

}  // namespace

extern "C" {

CUresult cuModuleLoad(CUmodule* out, const char* path) { return load_file("cuModuleLoad", out, path, false); }
CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return load_data("cuModuleLoadData", out, image, false);
}
CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return load_data("cuModuleLoadFatBinary", out, image, false);
}
// Options are for a compiler to machine code.
CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
  return load_data("cuModuleLoadDataEx", out, image, false);
}
CUresult cuModuleUnload(CUmodule module) { return unload("cuModuleUnload", module); }
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* out) {
  return driver_call<Need::init>("cuModuleGetLoadingMode",
                                 [&](State&) { present(out) = CU_MODULE_LAZY_LOADING; });
}
CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return get_kernel("cuModuleGetFunction", out, module, name);
}
CUresult cuModuleGetFunctionCount(unsigned* out, CUmodule module) {
  return count_kernels("cuModuleGetFunctionCount", out, module);
}
CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned count, CUmodule module) {
  return enumerate("cuModuleEnumerateFunctions", out, count, module);
}
CUresult cuModuleGetGlobal(CUdeviceptr* out, size_t* bytes, CUmodule module, const char* name) {
  return get_variable("cuModuleGetGlobal", out, bytes, module, name);
}

CUresult cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return load_data("cuLibraryLoadData", out, code, true);
}
CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  return load_file("cuLibraryLoadFromFile", out, path, true);
}
CUresult cuLibraryUnload(CUlibrary library) { return unload("cuLibraryUnload", library); }
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return get_kernel("cuLibraryGetKernel", out, library, name);
}
CUresult cuLibraryGetKernelCount(unsigned* out, CUlibrary library) {
  return count_kernels("cuLibraryGetKernelCount", out, library);
}
CUresult cuLibraryEnumerateKernels(CUkernel* out, unsigned count, CUlibrary library) {
  return enumerate("cuLibraryEnumerateKernels", out, count, library);
}
CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  return driver_call("cuLibraryGetModule", [&](State& s) {
    s.modules.find(library);
    present(out) = reinterpret_cast<CUmodule>(library);
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* out, size_t* bytes, CUlibrary library, const char* name) {
  return get_variable("cuLibraryGetGlobal", out, bytes, library, name);
}
CUresult cuLibraryGetManaged(CUdeviceptr* out, size_t* bytes, CUlibrary library, const char* name) {
  return get_variable("cuLibraryGetManaged", out, bytes, library, name);
}

CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  return driver_call("cuKernelGetFunction",
                     [&](State& s) { present(out) = reinterpret_cast<CUfunction>(&kernel_of(s, kernel)); });
}
CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel kernel) {
  return driver_call("cuKernelGetLibrary", [&](State& s) {
    present(out) = reinterpret_cast<CUlibrary>(kernel_of(s, kernel).module);
  });
}
CUresult cuKernelGetName(const char** out, CUkernel kernel) {
  return driver_call("cuKernelGetName", [&](State& s) { present(out) = kernel_of(s, kernel).name.c_str(); });
}
CUresult cuKernelGetAttribute(int* out, CUfunction_attribute which, CUkernel kernel, CUdevice) {
  return driver_call("cuKernelGetAttribute",
                     [&](State& s) { present(out) = get_attribute(s, kernel_of(s, kernel), which); });
}
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice) {
  return driver_call("cuKernelSetAttribute",
                     [&](State& s) { set_attribute(s, kernel_of(s, kernel), which, value); });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return driver_call("cuKernelSetCacheConfig", [&](State& s) { kernel_of(s, kernel); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return parameter("cuKernelGetParamInfo", kernel, index, offset, size);
}
CUresult cuFuncGetParamInfo(CUfunction kernel, size_t index, size_t* offset, size_t* size) {
  return parameter("cuFuncGetParamInfo", kernel, index, offset, size);
}
CUresult cuFuncGetAttribute(int* out, CUfunction_attribute which, CUfunction kernel) {
  return driver_call("cuFuncGetAttribute",
                     [&](State& s) { present(out) = get_attribute(s, kernel_of(s, kernel), which); });
}
CUresult cuFuncSetAttribute(CUfunction kernel, CUfunction_attribute which, int value) {
  return driver_call("cuFuncSetAttribute",
                     [&](State& s) { set_attribute(s, kernel_of(s, kernel), which, value); });
}
CUresult cuFuncSetCacheConfig(CUfunction kernel, CUfunc_cache) {
  return driver_call("cuFuncSetCacheConfig", [&](State& s) { kernel_of(s, kernel); });
}
CUresult cuFuncGetModule(CUmodule* out, CUfunction kernel) {
  return driver_call("cuFuncGetModule", [&](State& s) {
    present(out) = reinterpret_cast<CUmodule>(kernel_of(s, kernel).module);
  });
}
CUresult cuFuncGetName(const char** out, CUfunction kernel) {
  return driver_call("cuFuncGetName", [&](State& s) { present(out) = kernel_of(s, kernel).name.c_str(); });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* out, CUfunction kernel) {
  return driver_call("cuFuncIsLoaded", [&](State& s) {
    kernel_of(s, kernel);
    present(out) = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}
CUresult cuFuncLoad(CUfunction kernel) {
  return driver_call("cuFuncLoad", [&](State& s) { s.modules.program(kernel_of(s, kernel)); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, CUfunction kernel, int threads,
                                                     size_t shared) {
  return driver_call("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&](State& s) {
    present(out) = active_blocks(s, kernel_of(s, kernel), threads, shared);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, CUfunction kernel, int threads,
                                                              size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(out, kernel, threads, shared);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction kernel,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int most,
                                                   unsigned) {
  return driver_call("cuOccupancyMaxPotentialBlockSize", [&](State& s) {
    Kernel& k = kernel_of(s, kernel);
    const int limit = static_cast<int>(most_threads(s, k));
    int best = 0;
    for (int threads = std::min(most <= 0 ? limit : most, limit) / 32 * 32; threads > 0; threads -= 32) {
      const int here = active_blocks(s, k, threads, shared_of == nullptr ? shared : shared_of(threads));
      if (here * threads <= best) continue;
      best = here * threads;
      present(block) = threads;
      present(grid) = here * static_cast<int>(s.device().size.sms);
    }
  });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction kernel,
                                          CUoccupancyB2DSize shared_of, size_t shared, int most) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared_of, shared, most, 0);
}
CUresult cuOccupancyMaxPotentialClusterSize(int* out, CUfunction kernel, const CUlaunchConfig*) {
  return driver_call("cuOccupancyMaxPotentialClusterSize", [&](State& s) {
    present(out) = static_cast<int>(most_in_cluster(s, kernel_of(s, kernel)));
  });
}
CUresult cuOccupancyMaxActiveClusters(int* out, CUfunction kernel, const CUlaunchConfig* config) {
  return driver_call("cuOccupancyMaxActiveClusters", [&](State& s) {
    present(config);
    Wanted w;
    w.kernel = &kernel_of(s, kernel);
    const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    w.shape = shape_of(*w.kernel, grid, block, config->sharedMemBytes);
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        take_attribute(s, config->attrs[i], w);
    present(out) = active_clusters(s, w);
  });
}

}  // extern "C"
