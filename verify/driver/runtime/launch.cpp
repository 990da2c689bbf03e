// Launches, and what a program may ask and set of a kernel before it.
#include <algorithm>

#include "model/machine/limits.h"
#include "verify/driver/launcher.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;
using bitwell::machine::InputError;

namespace {

std::array<uint32_t, 3> triple(dim3 d) { return {d.x, d.y, d.z}; }

Kernel& kernel_of(Session& s, const void* key) {
  Kernel* const kernel = s.modules.kernel(key);
  if (kernel == nullptr) throw InputError("this function is no kernel of the program");
  return *kernel;
}

uint32_t most_in_cluster(Session& s, const Kernel& kernel) {
  return kernel.non_portable_cluster ? s.device().arch().device.cluster : bitwell::machine::kPortableCluster;
}

cudaError_t start(Session& s, const Wanted& wanted, void** parameters) {
  if (wanted.dynamic_shared > wanted.kernel->dynamic_shared)
    throw InputError("kernel " + wanted.kernel->name + " is to have " +
                     std::to_string(wanted.dynamic_shared) +
                     " bytes of dynamic shared memory, cudaFuncSetAttribute has allowed it " +
                     std::to_string(wanted.kernel->dynamic_shared));
  if (const auto cluster = wanted.cluster.value_or(std::array<uint32_t, 3>{1, 1, 1});
      cluster[0] * cluster[1] * cluster[2] > most_in_cluster(s, *wanted.kernel)) {
    say("kernel " + wanted.kernel->name + " is to have clusters of " +
        std::to_string(cluster[0] * cluster[1] * cluster[2]) + " CTAs, it may have " +
        std::to_string(most_in_cluster(s, *wanted.kernel)) +
        (wanted.kernel->non_portable_cluster ? ""
                                             : " without cudaFuncAttributeNonPortableClusterSizeAllowed"));
    return cudaErrorInvalidClusterSize;
  }
  switch (launch(s, wanted, parameters)) {
    case Ended::well: return cudaSuccess;
    // As a device has it: the launch itself is well, and the context is lost.
    case Ended::failed: s.sticky_error = cudaErrorLaunchFailure; return cudaSuccess;
    case Ended::asserted: s.sticky_error = cudaErrorAssert; return cudaSuccess;
    case Ended::refused: break;
  }
  s.sticky_error = cudaErrorNotSupported;
  return cudaErrorNotSupported;
}

// Attributes that change no result here: bitwell runs one launch after the other.
bool changes_nothing(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return true;
    default: return false;
  }
}

void take(Session& s, const cudaLaunchAttribute& a, Wanted& to) {
  if (a.id == cudaLaunchAttributeClusterDimension)
    to.cluster = {a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
  else if (a.id == cudaLaunchAttributeCooperative)
    to.cooperative = a.val.cooperative != 0;
  else if (!changes_nothing(a.id))
    s.missing("launch attribute " + std::to_string(a.id));
}

cudaError_t occupancy(Session& s, int* out, const void* function, int threads, size_t dynamic_shared) {
  kernel_of(s, function);
  *out = resident(s.device(), threads, dynamic_shared);
  return cudaSuccess;
}

cudaError_t set(Session& s, Kernel& kernel, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<uint64_t>(value) > s.device().arch().shared) return cudaErrorInvalidValue;
      kernel.dynamic_shared = static_cast<uint32_t>(value);
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      if (value != 0 && value != 1) return cudaErrorInvalidValue;
      kernel.non_portable_cluster = value != 0;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess;
    default: return not_supported(s, "function attribute " + std::to_string(attribute));
  }
}

uint32_t volume(dim3 d) { return d.x * d.y * d.z; }

dim3 cluster_of(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension)
      return {config.attrs[i].val.clusterDim.x, config.attrs[i].val.clusterDim.y,
              config.attrs[i].val.clusterDim.z};
  return {1, 1, 1};
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters,
                             size_t dynamic_shared, cudaStream_t) {
  return call("cudaLaunchKernel", [&](Session& s) {
    return start(s, {&kernel_of(s, function), triple(grid), triple(block), {}, dynamic_shared, false},
                 parameters);
  });
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters,
                               size_t dynamic_shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, parameters, dynamic_shared,
                          stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** parameters,
                                        size_t dynamic_shared, cudaStream_t) {
  return call("cudaLaunchCooperativeKernel", [&](Session& s) {
    return start(s, {&kernel_of(s, function), triple(grid), triple(block), {}, dynamic_shared, true},
                 parameters);
  });
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** parameters) {
  return call("cudaLaunchKernelExC", [&](Session& s) {
    Wanted wanted{&kernel_of(s, function),  triple(config->gridDim),
                  triple(config->blockDim), {},
                  config->dynamicSmemBytes, false};
    for (unsigned i = 0; i < config->numAttrs; ++i) take(s, config->attrs[i], wanted);
    return start(s, wanted, parameters);
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute",
              [&](Session& s) { return set(s, kernel_of(s, function), attribute, value); });
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                            int) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return call("cudaFuncGetAttributes", [&](Session& s) {
    Kernel& kernel = kernel_of(s, function);
    const Head& head = kernel.module->head(kernel.name, s.device().sm);
    *out = {};
    int threads = 1024;
    for (const char* name : {".maxntid", ".reqntid"})
      if (const auto d = head.directives.find(name); d != head.directives.end()) {
        threads = 1;
        for (const int64_t n : d->second) threads *= static_cast<int>(n);
      }
    out->maxThreadsPerBlock = threads;
    // What ptxas would take is not in PTX: what a kernel of so many threads may have.
    out->numRegs = std::min(255, 65536 / std::max(threads, 1) / 8 * 8);
    out->maxDynamicSharedSizeBytes = static_cast<int>(kernel.dynamic_shared);
    out->nonPortableClusterSizeAllowed = kernel.non_portable_cluster ? 1 : 0;
    out->ptxVersion = out->binaryVersion = s.device().sm;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncGetName(const char** out, const void* function) {
  return call("cudaFuncGetName", [&](Session& s) {
    *out = kernel_of(s, function).name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* function, int threads,
                                                          size_t shared) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              [&](Session& s) { return occupancy(s, out, function, threads, shared); });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* function,
                                                                   int threads, size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, shared);
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* out, const void* function, const cudaLaunchConfig_t*) {
  return call("cudaOccupancyMaxPotentialClusterSize", [&](Session& s) {
    *out = static_cast<int>(most_in_cluster(s, kernel_of(s, function)));
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveClusters(int* out, const void* function, const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", [&](Session& s) {
    int ctas = 0;
    if (volume(cluster_of(*config)) > most_in_cluster(s, kernel_of(s, function)))
      return cudaErrorInvalidClusterSize;
    occupancy(s, &ctas, function, static_cast<int>(volume(config->blockDim)), config->dynamicSmemBytes);
    *out = ctas * static_cast<int>(s.device().arch().device.sms / std::max(volume(cluster_of(*config)), 1u));
    return cudaSuccess;
  });
}

}  // extern "C"
