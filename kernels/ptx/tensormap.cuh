// Tensor maps that a kernel makes of another: fields of one in shared memory are replaced, then it is published in global memory.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace ptx {
#if __CUDA_ARCH_FEAT_SM90_ALL || __CUDA_ARCH__ >= 1000

// 9.7.9.28 "tensormap.replace"; `map`: 128 bytes of shared memory
__device__ inline void tensormap_replace_global_address(uint32_t map, const void* to) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(map),
               "l"(__cvta_generic_to_global(to))
               : "memory");
}
// Elements of dimension `dimension`, 0 the innermost.
template <int dimension>
__device__ inline void tensormap_replace_global_dim(uint32_t map, uint32_t elements) {
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(map), "n"(dimension), "r"(elements)
               : "memory");
}
// Bytes from one element to the next of dimension `dimension`, from 1 on.
template <int dimension>
__device__ inline void tensormap_replace_global_stride(uint32_t map, uint64_t bytes) {
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" ::"r"(map), "n"(dimension - 1),
               "l"(bytes)
               : "memory");
}

// 9.7.13.16 "tensormap.cp_fenceproxy": by a whole warp, a map from shared to global memory, for the GPU's tensor copies to see
// that acquire it
__device__ inline void tensormap_cp_fenceproxy(CUtensorMap* to, uint32_t map) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(map)
               : "memory");
}
// 9.7.13.4 "fence.proxy.tensormap": before the map is used
__device__ inline void fence_proxy_tensormap_acquire(const CUtensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

#endif
}  // namespace ptx
