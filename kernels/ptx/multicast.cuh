// 9.7.9.27.5 "cp.async.bulk.tensor" of rank 4 into every CTA of the cluster whose bit is set in `ctas`, at the same place in
// each. Bytes count on the barrier at `barrier`'s place in each.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace ptx {

__device__ inline void cp_async_bulk_tensor_4d_multicast(uint32_t to, const CUtensorMap& map, int x, int y, int z, int w,
                                                         uint32_t barrier, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%2, %3, %4, %5}], [%6], %7;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier), "h"(ctas)
      : "memory");
}
#if __CUDA_ARCH__ >= 1000
// The same, counted in every pair of CTAs by the barrier of that one which has the rank's parity of `barrier`.
__device__ inline void cp_async_bulk_tensor_4d_multicast_pair(uint32_t to, const CUtensorMap& map, int x, int y, int z,
                                                              int w, uint32_t barrier, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier), "h"(ctas)
      : "memory");
}
#endif

}  // namespace ptx
