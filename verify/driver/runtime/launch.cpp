// Launches, and what a program may ask and set of a kernel before it.
#include <algorithm>

#include "model/machine/limits.h"
#include "verify/driver/core/not_run.h"
#include "verify/driver/core/work.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));

Wanted wanted(Kernel& kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  Wanted out;
  const unsigned grids[] = {grid.x, grid.y, grid.z}, blocks[] = {block.x, block.y, block.z};
  out.kernel = &kernel;
  out.shape = shape_of(kernel, grids, blocks, static_cast<unsigned>(std::min<size_t>(shared, 0xffffffff)));
  out.stream = stream;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > bitwell::machine::kMaxThreads || grid.x == 0 || grid.y == 0 || grid.z == 0)
    Launches::check_size(out, static_cast<CUresult>(cudaErrorInvalidConfiguration));
  return out;
}

// A kernel that is to be launched: counted as a launch where bitwell cannot run the program's code.
Kernel& launched(State& s, const void* function) {
  try {
    return called(s, function);
  } catch (const NoCode&) {
    s.launches.fail(s.modules.name_of(function), std::current_exception());
  }
}

cudaError_t start(const char* name, const void* function, dim3 grid, dim3 block, void** parameters,
                  size_t shared, cudaStream_t stream, bool cooperative) {
  const auto run = [&](State& s) {
    try {
      Wanted w = wanted(launched(s, function), grid, block, shared, stream);
      w.shape.cooperative = cooperative;
      w.arguments = s.launches.arguments(*w.kernel, parameters);
      launch(s, std::move(w));
    } catch (const NotRun& e) {
      s.unseen = e.code;
      throw;
    }
  };
  return call(name, run, false);
}

const CUlaunchAttribute& driver_attribute(const cudaLaunchAttribute& a) {
  return reinterpret_cast<const CUlaunchAttribute&>(a);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters, size_t shared,
                             cudaStream_t stream) {
  return start("cudaLaunchKernel", function, grid, block, parameters, shared, stream, false);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters, size_t shared,
                               cudaStream_t stream) {
  return start("cudaLaunchKernel", kernel, grid, block, parameters, shared, stream, false);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** parameters,
                                        size_t shared, cudaStream_t stream) {
  return start("cudaLaunchCooperativeKernel", function, grid, block, parameters, shared, stream, true);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** parameters) {
  return call("cudaLaunchKernelExC", [&](State& s) {
    present(config);
    Wanted w = wanted(launched(s, function), config->gridDim, config->blockDim, config->dynamicSmemBytes,
                      config->stream);
    for (unsigned i = 0; i < config->numAttrs; ++i) take_attribute(s, driver_attribute(config->attrs[i]), w);
    w.arguments = s.launches.arguments(*w.kernel, parameters);
    launch(s, std::move(w));
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  return call("cudaFuncSetAttribute", [&](State& s) {
    set_attribute(s, called(s, function), static_cast<CUfunction_attribute>(which), value);
  });
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute which, int value, int) {
  return cudaFuncSetAttribute(kernel, which, value);
}
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return call("cudaFuncSetCacheConfig", [&](State& s) { called(s, function); });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return call("cudaFuncGetAttributes", [&](State& s) {
    Kernel& k = called(s, function);
    const auto get = [&](CUfunction_attribute which) { return get_attribute(s, k, which); };
    present(out) = {};
    out->sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    out->localSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    out->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    out->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
    out->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    out->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    out->maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    out->preferredShmemCarveout = k.carveout;
    out->clusterDimMustBeSet = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
    out->requiredClusterWidth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    out->requiredClusterHeight = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
    out->requiredClusterDepth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
    out->nonPortableClusterSizeAllowed = k.non_portable_cluster ? 1 : 0;
  });
}
cudaError_t cudaFuncGetName(const char** out, const void* function) {
  return call("cudaFuncGetName", [&](State& s) { present(out) = called(s, function).name.c_str(); });
}
cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return forward("cudaFuncGetParamInfo", [&] {
    return cuFuncGetParamInfo(static_cast<CUfunction>(const_cast<void*>(function)), index, offset, size);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* function, int threads,
                                                          size_t shared) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              [&](State& s) { present(out) = active_blocks(s, called(s, function), threads, shared); });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* function,
                                                                   int threads, size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, shared);
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* out, const void* function, const cudaLaunchConfig_t*) {
  return call("cudaOccupancyMaxPotentialClusterSize",
              [&](State& s) { present(out) = static_cast<int>(most_in_cluster(s, called(s, function))); });
}
cudaError_t cudaOccupancyMaxActiveClusters(int* out, const void* function, const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", [&](State& s) {
    present(config);
    Wanted w =
        wanted(called(s, function), config->gridDim, config->blockDim, config->dynamicSmemBytes, nullptr);
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
        take_attribute(s, driver_attribute(config->attrs[i]), w);
    present(out) = active_clusters(s, w);
  });
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* out, const void* function, int blocks, int) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](State& s) {
    if (blocks < 1) throw Refused(CUDA_ERROR_INVALID_VALUE);
    const auto& arch = bitwell::machine::arch(s.device().sm);
    const uint64_t each = arch.sm_shared / static_cast<uint64_t>(blocks), kept = arch.sm_shared - arch.shared;
    const uint64_t fixed = s.modules.program(called(s, function)).shared_size + kept;
    present(out) = each > fixed ? each - fixed : 0;
  });
}

}  // extern "C"
